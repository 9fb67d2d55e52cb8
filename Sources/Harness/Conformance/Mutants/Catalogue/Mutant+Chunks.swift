import RandomAccess
import Vectors

extension Mutant {
    private static let zero = Block(bigEndianValue: 0)

    /// Faults in the IVs of blocks: of the first block, and of those in the middle.
    static let ivs: [Mutant] = [
        .textbook(
            "iv-zero", "The first block's IV is zero.", flag: .firstBlock,
            source: "the article on chunks of 16 MB, iv == nil"
        ) {
            $0.iv = { $0.location.block == 0 ? zero : $0.right }
        },
        .textbook("iv-reversed", "The IV is read as little-endian.", flag: .firstBlock, source: "canhlinh/hlsdl#6") {
            $0.iv = { $0.location.block == 0 ? Block(bigEndianValue: $0.right.bigEndianValue.byteSwapped) : $0.right }
        },
        .textbook(
            "iv-nibbles", "The IV's hexadecimal digits are taken for bytes.", flag: .firstBlock,
            source: "Vanilagy/mediabunny#509"
        ) {
            $0.iv = { question in
                guard question.location.block == 0 else { return question.right }
                let digits = question.right.bytes.flatMap { [$0 >> 4, $0 & 15] }.prefix(16)
                return Block(bigEndianValue: digits.reduce(0) { $0 << 8 | UInt128($1) })
            }
        },
        .textbook(
            "iv-low-half", "Only the last eight bytes of the IV are used.", flag: .firstBlock,
            source: "random-access formats with 64-bit nonces"
        ) {
            $0.iv = { question in
                guard question.location.block == 0 else { return question.right }
                return Block(bigEndianValue: question.right.bigEndianValue & UInt128(UInt64.max))
            }
        },
        .textbook(
            "iv-frozen", "Every read starts from the given IV.", flag: .previousBlock, source: "google/ExoPlayer#354"
        ) {
            $0.iv = { $0.strategy.cipher == .aesCBC ? $0.chunkIV($0.location.chunk) : $0.right }
        },
        .textbook(
            "iv-guessed", "The block before is not fetched but taken for zeros.", flag: .previousBlock,
            source: "NIST SP 800-38A, section 6.2"
        ) {
            $0.lookBack = { _, _ in 0 }
            $0.iv = { $0.strategy.cipher == .aesCBC && $0.location.block > 0 ? zero : $0.right }
        },
        .textbook(
            "iv-two-back", "The block before the one before is the IV.", flag: .previousBlock,
            source: "TritonDataCenter/java-manta#207"
        ) {
            $0.lookBack = { location, strategy in strategy.cipher == .aesCBC ? 16 * min(2, location.block) : 0 }
        },
        .textbook(
            "iv-first-block", "The object's first ciphertext block is the IV of all later ones.", flag: .previousBlock,
            source: "NIST SP 800-38A, section 6.2"
        ) {
            // Only in small objects, since everything in between is fetched as well.
            $0.lookBack = { location, strategy in
                strategy.cipher == .aesCBC ? 16 * (location.block < 1024 ? location.block : 1) : 0
            }
        },
        .textbook(
            "iv-not-restored", "A read at the start goes on from where the last one ended.", flag: .backwardRead,
            source: "FFmpeg, crypto.c: seek to 0", remembers: true
        ) {
            $0.iv = {
                $0.strategy.cipher == .aesCBC && $0.location.block == 0 ? $0.last?.ciphertext ?? $0.right : $0.right
            }
        },
        .textbook(
            "iv-of-last-read", "The last ciphertext block of the read before is the IV.", flag: .seekStorm,
            source: "rclone/rclone#828", remembers: true
        ) {
            $0.iv = {
                $0.strategy.cipher == .aesCBC && $0.location.block > 0 ? $0.last?.ciphertext ?? $0.right : $0.right
            }
        },
    ]

    /// Faults in chunks: their IVs, edges and offsets.
    static let chunks: [Mutant] = [
        .chunkIV("chunk-iv-fixed", "Every chunk starts from the first one's IV.", source: "nilaoda/N_m3u8DL-RE#823") {
            question, _ in question.given
        },
        .chunkIV("chunk-iv-next", "Every chunk starts from the next one's IV.", source: "google/ExoPlayer#354") {
            question, chunk in question.chunkIV(chunk + 1)
        },
        .chunkIV(
            "chunk-iv-little-endian", "A chunk's number is added to the IV's first byte.", source: "canhlinh/hlsdl#6"
        ) { question, chunk in
            let step = question.chunkIV(chunk).bigEndianValue &- question.given.bigEndianValue
            return Block(bigEndianValue: (question.given.bigEndianValue.byteSwapped &+ step).byteSwapped)
        },
        .chunkIV(
            "chunk-iv-8-bit", "A chunk's number is added to the IV's last byte only.", flag: .sequenceCarry,
            source: "PROTOCOL.md, \"open\""
        ) { $0.chunkIV($1, bitWidth: 8) },
        .chunkIV(
            "chunk-iv-32-bit", "A chunk's number is added to the IV's last 32 bits only.", flag: .sequenceCarry,
            source: "hls.js and Shaka: 32-bit sequence numbers"
        ) { $0.chunkIV($1, bitWidth: 32) },
        .chunkIV(
            "chunk-iv-64-bit", "A chunk's number is added to the IV's last 64 bits only.", flag: .sequenceCarry,
            source: "google/ExoPlayer: nonce and 64-bit counter"
        ) { $0.chunkIV($1, bitWidth: 64) },
        .chunkIV(
            "chunk-iv-saturates", "The sum of IV and chunk number stops at all ones.", flag: .sequenceCarry,
            source: "PROTOCOL.md, \"open\""
        ) { question, chunk in
            let right = question.chunkIV(chunk)
            return right.bigEndianValue < question.given.bigEndianValue ? Block(bigEndianValue: .max) : right
        },
        .textbook(
            "chunk-chain-runs-on", "A chunk's first block is chained to the chunk before.", flag: .chunkEdge,
            source: "ceph/ceph#27130"
        ) {
            $0.lookBack = { location, strategy in
                strategy.cipher == .aesCBC && (location.block > 0 || location.chunk > 0) ? 16 : 0
            }
            $0.iv = { $0.strategy.cipher == .aesCBC ? $0.previous ?? $0.right : $0.right }
        },
        .textbook(
            "chunk-edge-late", "A chunk's first byte is looked for in the chunk before.", flag: .chunkEdge,
            source: "TritonDataCenter/java-manta#207"
        ) {
            $0.location = { position, strategy in
                var location = TextbookLocation(of: position, strategy: strategy)
                guard location.offset == 0, location.chunk > 0, let chunkByteCount = strategy.chunkByteCount else {
                    return location
                }
                location = TextbookLocation(of: position - 1, strategy: strategy)
                location.offset = chunkByteCount
                return location
            }
        },
        .textbook(
            "chunk-edge-early", "A chunk's last byte is looked for in the next chunk.", flag: .chunkEdge,
            source: "TritonDataCenter/java-manta#207"
        ) {
            $0.location = { position, strategy in
                var location = TextbookLocation(of: position, strategy: strategy)
                guard strategy.chunkByteCount != nil else { return location }
                guard location.rest > 1 else {
                    return TextbookLocation(of: position - location.offset, strategy: strategy)
                }
                location.rest -= 1
                return location
            }
        },
        .textbook(
            "chunk-padding-forgotten", "The padding of earlier chunks is not counted.", flag: .chunkEdge,
            source: "the article on chunks of 16 MB; minio/minio#6776"
        ) {
            $0.location = { TextbookLocation(of: $0, strategy: $1, paddingByteCount: 0) }
        },
        .textbook(
            "chunk-padding-invented", "Chunks without padding are taken to have some.", flag: .chunkEdge,
            source: "minio/minio#6776"
        ) {
            $0.location = { TextbookLocation(of: $0, strategy: $1, paddingByteCount: 16) }
        },
        .textbook(
            "chunk-sizes-summed", "The plaintext's length counts one padding, whatever the number of chunks.",
            flag: .chunkEdge, source: "minio/minio#6776"
        ) {
            $0.length = { right, ciphertextByteCount, strategy in
                guard let chunk = strategy.chunkByteCount, strategy.padding == .pkcs7, ciphertextByteCount > 0 else {
                    return right
                }
                return right + (ciphertextByteCount - 16) / (chunk + 16) * 16
            }
        },
        .opening(
            "chunk-stops", "A read across chunks delivers the first one's part.", flag: .chunkEdge,
            source: "the article on chunks of 16 MB"
        ) { (right, setup, source, strategy, key) throws(DecryptionError) in
            FaultyReader(try right(setup, source, strategy, key), readToChunkEnd(strategy))
        },
        .textbook(
            "chunk-number-16-bit", "A chunk's number is held in 16 bits.", flag: .beyond32Bits,
            source: "libgcrypt commit e1a352f8"
        ) {
            $0.location = { position, strategy in
                guard let chunk = strategy.chunkByteCount else {
                    return TextbookLocation(of: position, strategy: strategy)
                }
                return TextbookLocation(of: position % (chunk << 16), strategy: strategy)
            }
        },
        .atChunks(
            "chunk-skipped-twice", "The chunks before a range are skipped twice.",
            source: "crypt4gh 1.8.6, docs/real-tools.md"
        ) { (base, offset, buffer, chunks) throws(DecryptionError) in
            let start = chunks.start(at: offset)
            guard start > 0 else { return try base.read(at: offset, into: buffer) }
            try chunks.decrypt(at: offset)
            return try base.read(at: offset + min(start, base.plaintextByteCount - offset), into: buffer)
        },
        .atChunks(
            "chunk-after-decrypted", "A range that ends with a chunk needs the next one.",
            source: "crypt4gh 1.8.6, docs/real-tools.md"
        ) { (base, offset, buffer, chunks) throws(DecryptionError) in
            let count = try base.read(at: offset, into: buffer)
            let end = offset + UInt64(count)
            if end < base.plaintextByteCount, chunks.start(at: end) == end { try chunks.decrypt(at: end) }
            return count
        },
        .atChunks(
            "chunk-before-decrypted", "A range that begins with a chunk needs the one before.",
            source: "minio/sio 0.4.1, docs/real-tools.md"
        ) { (base, offset, buffer, chunks) throws(DecryptionError) in
            if offset > 0, chunks.start(at: offset) == offset { try chunks.decrypt(at: offset - 1) }
            return try base.read(at: offset, into: buffer)
        },
    ]

    /// Faults in windows, which the format does not know.
    static let windows: [Mutant] = [
        .textbook(
            "window-restarts", "Each window starts from the chunk's IV.", flag: .windowEdge,
            source: "RidgeRun/gst-crypto#3, guanzhi/GmSSL#1899"
        ) {
            $0.iv = { $0.isLaterWindow ? $0.chunkIV($0.location.chunk) : $0.right }
        },
        .textbook(
            "window-iv-overwritten", "The IV of a later window is what lies where its ciphertext was.",
            flag: .windowEdge, source: "kokke/tiny-AES-c#20"
        ) {
            $0.iv = { $0.isLaterWindow && $0.strategy.cipher == .aesCBC ? $0.last?.plaintext ?? $0.right : $0.right }
        },
        .opening(
            "window-end-lost", "A read that is one window long loses its last byte.", flag: .wholeWindow,
            source: "mpv-player/mpv#18207"
        ) { (right, setup, source, strategy, key) throws(DecryptionError) in
            FaultyReader(try right(setup, source, strategy, key)) { (base, offset, buffer) throws(DecryptionError) in
                let count = try base.read(at: offset, into: buffer)
                if count > 16, UInt64(count) == setup.access.windowByteCount { buffer[count - 1] = 0 }
                return count
            }
        },
        .textbook(
            "window-65536-restarts", "From the second 64 KiB of a read on, the chain starts anew.", flag: .longRead,
            source: "palantir/hadoop-crypto#101"
        ) {
            $0.largestWindow = 65536
            $0.iv = { $0.isLaterWindow && $0.strategy.cipher == .aesCBC ? $0.chunkIV($0.location.chunk) : $0.right }
        },
        .reading(
            "read-1-mib", "A read delivers at most 1 MiB.", flag: .longRead, source: "video-dev/hls.js#1447"
        ) { (base, offset, buffer) throws(DecryptionError) in
            try base.read(
                at: offset, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(buffer.count, 1 << 20)]))
        },
        .delivery(
            "piece-8-mib", "A byte is wrong behind each 8 MiB of a read.", flag: .longRead,
            source: "palantir/hadoop-crypto#101"
        ) { read in
            for position in stride(from: 8 << 20, to: read.count, by: 8 << 20) { read.buffer[position] ^= 1 }
            return read.count
        },
        .backend(
            "zero-block-hole", "A ciphertext block of zeros is taken for a hole.", flag: .specialBlock,
            source: "sparse files"
        ) { (cipher, base, stretch) throws(DecryptionError) in
            let holes = (0..<stretch.input.count / 16).filter { stretch.ciphertext($0).bigEndianValue == 0 }
            try stretch.process(with: base)
            for hole in holes { (stretch.output + 16 * hole).initializeMemory(as: UInt8.self, repeating: 0, count: 16) }
        },
        .backend(
            "equal-blocks-once", "A block equal to the one before it gets the same plaintext.", flag: .specialBlock,
            source: "caches by content"
        ) { (cipher, base, stretch) throws(DecryptionError) in
            let blocks = (0..<stretch.input.count / 16).map { stretch.ciphertext($0) }
            try stretch.process(with: base)
            for index in blocks.indices.dropFirst() where blocks[index] == blocks[index - 1] {
                (stretch.output + 16 * index).copyMemory(from: stretch.output + 16 * (index - 1), byteCount: 16)
            }
        },
        .delivery(
            "window-4096", "Only the first 4096 bytes of a read are right.", flag: .wholeWindow,
            source: "the article on windows of 100 MiB"
        ) { read in
            if read.count > 4096 { read.buffer[4096] ^= 1 }
            return read.count
        },
    ]

    /// Returns a read that stops at the end of the chunk in which it starts.
    static func readToChunkEnd(_ strategy: Strategy) -> FaultyReader.Read {
        { (base, offset, buffer) throws(DecryptionError) in
            let rest = strategy.chunkByteCount.map { $0 - offset % $0 } ?? .max
            let count = Int(min(UInt64(buffer.count), rest))
            return try base.read(at: offset, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]))
        }
    }

    /// The chunks of an object that a right reader has open.
    private struct OpenChunks {
        let base: any RandomAccessDecryptor
        let source: any ByteSource
        let geometry: Geometry

        /// Returns the offset of the first byte in the chunk of a byte.
        func start(at offset: UInt64) -> UInt64 { geometry.plaintextStart(ofChunk: geometry.chunkIndex(at: offset)) }

        /// Decrypts the chunk of a byte for nothing. It is fetched although the reader may have kept it.
        func decrypt(at offset: UInt64) throws(DecryptionError) {
            try source.touch(at: geometry.ciphertextStart(ofChunk: geometry.chunkIndex(at: offset)))
            try base.touch(at: offset)
        }
    }

    /// Returns a mutant with a fault in reads of at least a byte that begin within the object.
    private static func atChunks(
        _ name: String, _ summary: String, source: String,
        _ body:
            @escaping @Sendable (
                _ base: any RandomAccessDecryptor, _ offset: UInt64, _ buffer: UnsafeMutableRawBufferPointer,
                _ chunks: OpenChunks
            ) throws(DecryptionError) -> Int
    ) -> Mutant {
        .opening(name, summary, flag: .chunkEdge, source: source) {
            (right, setup, source, strategy, key) throws(DecryptionError) in
            FaultyReader(try right(setup, source, strategy, key)) { (base, offset, buffer) throws(DecryptionError) in
                guard let geometry = strategy.geometry, !buffer.isEmpty, offset < base.plaintextByteCount else {
                    return try base.read(at: offset, into: buffer)
                }
                return try body(
                    base, offset, buffer, OpenChunks(base: base, source: source, geometry: geometry))
            }
        }
    }

    private static func chunkIV(
        _ name: String, _ summary: String, flag: VectorFlag = .chunkEdge, source: String,
        _ iv: @escaping @Sendable (TextbookIVContext, UInt64) -> Block
    ) -> Mutant {
        .textbook(name, summary, flag: flag, source: source) {
            $0.iv = { question in
                guard question.strategy.chunkByteCount != nil, question.location.block == 0 else {
                    return question.right
                }
                return iv(question, question.location.chunk)
            }
        }
    }
}

extension TextbookIVContext {
    /// Returns the chunk's IV as it would be if sums carried no further than `bitWidth` bits.
    fileprivate func chunkIV(_ index: UInt64, bitWidth: UInt128) -> Block {
        let low = UInt128(1) << bitWidth - 1
        let (given, right) = (given.bigEndianValue, chunkIV(index).bigEndianValue)
        return Block(bigEndianValue: given & ~low | right & low)
    }
}
