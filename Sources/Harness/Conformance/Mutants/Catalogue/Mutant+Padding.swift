import RandomAccess

extension Mutant {
    /// Faults in the object's length and end.
    static let lengths: [Mutant] = [
        .textbook(
            "partial-block-cut", "A last part of a block is cut off in silence.", flag: .partialBlock,
            source: "streamlink/streamlink#4533"
        ) {
            let right = $0.ciphertextByteCount
            $0.ciphertextByteCount = { (count, strategy) throws(DecryptionError) in
                try right(strategy.cipher == .aesCBC ? count / 16 * 16 : count, strategy)
            }
        },
        .textbook(
            "partial-block-filled", "A last part of a block is filled up with zeros.", flag: .partialBlock,
            source: "apple/swift-crypto#438"
        ) {
            let (right, fetch) = ($0.ciphertextByteCount, $0.fetch)
            $0.ciphertextByteCount = { (count, strategy) throws(DecryptionError) in
                try right(strategy.cipher == .aesCBC ? (count + 15) / 16 * 16 : count, strategy)
            }
            $0.fetch = { (source, offset, buffer) throws(DecryptionError) in
                let isPartial = source.byteCount % 16 != 0 && offset + UInt64(buffer.count) > source.byteCount
                let count = isPartial ? Int(source.byteCount - min(offset, source.byteCount)) : buffer.count
                try fetch(source, offset, UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]))
            }
        },
        .textbook(
            "partial-block-misnamed", "A last part of a block is called a wrong padding.", flag: .partialBlock,
            source: "PROTOCOL.md, \"Transport\""
        ) {
            let right = $0.ciphertextByteCount
            $0.ciphertextByteCount = { (count, strategy) throws(DecryptionError) in
                if strategy.cipher == .aesCBC, count % 16 != 0 { throw .invalidPadding }
                return try right(count, strategy)
            }
        },
        .textbook(
            "empty-ciphertext-opens", "No ciphertext passes for an empty object.", flag: .emptyCiphertext,
            source: "PROTOCOL.md, \"open\""
        ) {
            let right = $0.ciphertextByteCount
            $0.ciphertextByteCount = { (count, strategy) throws(DecryptionError) in
                count == 0 ? 0 : try right(count, strategy)
            }
        },
        .opening(
            "empty-object-refused", "An empty object does not open.", flag: .emptyObject, source: "google/tink#79"
        ) { (right, setup, source, strategy, key) throws(DecryptionError) in
            let reader = try right(setup, source, strategy, key)
            guard reader.plaintextByteCount > 0 else {
                throw .truncatedCiphertext(byteCount: source.byteCount, expected: "injected")
            }
            return reader
        },
        .delivery(
            "end-short", "A read within the last block of a padded object ends one byte early.", flag: .lastBytes,
            source: "palantir/hadoop-crypto#101"
        ) { read in
            let isInLastBlock = read.offset >= read.length / 16 * 16
            return isInLastBlock && read.count > 1 && read.end == read.length
                ? read.count - 1 : read.count
        },
        .textbook(
            "end-cut-to-blocks", "The last part of a block is not delivered.", flag: .lastBytes,
            source: "palantir/hadoop-crypto#101"
        ) {
            $0.length = { right, _, strategy in strategy.padding == .pkcs7 ? right / 16 * 16 : right }
        },
        .delivery(
            "end-zeros", "The last block's bytes are zeros where padding was.", flag: .lastBytes,
            source: "the article on windows of 100 MiB: executeBytesCount"
        ) { read in
            let lastBlock = read.length / 16 * 16
            if read.count > 0, read.end > lastBlock { read.buffer[read.count - 1] = 0 }
            return read.count
        },
    ]

    /// Faults in PKCS#7: in the bytes that are stripped, in their location, and in the checks before.
    static let paddings: [Mutant] = [
        .textbook(
            "padding-kept", "Padding is delivered as if it were data.", flag: .lastBytes,
            source: "the article on windows of 100 MiB; video-dev/hls.js#1447, selsta/hlsdl#40"
        ) {
            $0.length = { right, _, strategy in strategy.padding == .pkcs7 ? right / 16 * 16 + 16 : right }
        },
        .textbook(
            "padding-block-kept", "A block of nothing but padding is delivered.", flag: .paddingBlock,
            source: "mpv-player/mpv#18207"
        ) {
            $0.padding = { block in strip(block).map { $0 == 16 ? 0 : $0 } }
            $0.acceptsLastChunk = { _, _, _ in true }
        },
        .textbook(
            "padding-16-refused", "A block of nothing but padding is an error.", flag: .paddingBlock,
            source: "RFC 5652, section 6.3"
        ) {
            $0.padding = { block in strip(block).flatMap { $0 == 16 ? nil : $0 } }
        },
        .delivery(
            "padding-block-twice", "Past an aligned end the last block comes again.", flag: .paddingBlock,
            source: "mpv-player/mpv#18207"
        ) { read in
            guard read.length % 16 == 0, read.count >= 16, read.count < read.buffer.count else { return read.count }
            read.buffer[read.count] = read.buffer[read.count - 16]
            return read.count + 1
        },
        .delivery(
            "padding-stripped-in-middle", "What looks like padding at a read's end is not delivered.",
            flag: .paddingLookalike, source: "denoland/deno#32403"
        ) { read in
            guard read.count >= 16, read.end % 16 == 0 else { return read.count }
            return read.count - (strip(Array(read.buffer[read.count - 16..<read.count])) ?? 0)
        },
        .delivery(
            "padding-2-stripped-in-middle",
            "What looks like padding of two bytes or more at a read's end is not delivered.",
            flag: .paddingLookalike, source: "denoland/deno#32403"
        ) { read in
            guard read.count >= 16, read.end % 16 == 0 else { return read.count }
            let count = strip(Array(read.buffer[read.count - 16..<read.count])) ?? 0
            return read.count - (count > 1 ? count : 0)
        },
        .delivery(
            "padding-block-stripped-in-middle", "What looks like a block of padding at a read's end is not delivered.",
            flag: .paddingLookalike, source: "marnix/synology-decrypt#32"
        ) { read in
            guard read.count >= 16, read.end % 16 == 0 else { return read.count }
            return read.count - (strip(Array(read.buffer[read.count - 16..<read.count])) == 16 ? 16 : 0)
        },
        .pieces(ofKiB: 1), .pieces(ofKiB: 4), .pieces(ofKiB: 64),
        .opening(
            "padding-stripped-though-none", "Padding is stripped where there is none.", flag: .paddingLookalike,
            source: "denoland/deno#32403"
        ) { (right, setup, source, strategy, key) throws(DecryptionError) in
            guard strategy.isWhole, strategy.padding == Padding.none else {
                return try right(setup, source, strategy, key)
            }
            do throws(DecryptionError) {
                return try right(setup, source, .whole(.aesCBC, iv: strategy.iv), key)
            } catch {
                return try right(setup, source, strategy, key)
            }
        },
        .textbook(
            "padding-byte-8-unchecked", "The padding's byte in the middle of the block is not checked.",
            flag: .paddingByte, source: "RFC 5652, section 6.3"
        ) {
            $0.padding = { block in
                var block = block
                if (1...16).contains(block[15]), 16 - Int(block[15]) <= 8 { block[8] = block[15] }
                return strip(block)
            }
        },
        .textbook(
            "padding-13-refused", "Padding of thirteen bytes is an error.", flag: .paddingByte,
            source: "RFC 5652, section 6.3"
        ) {
            $0.padding = { block in strip(block).flatMap { $0 == 13 ? nil : $0 } }
        },
        .textbook(
            "length-8-bit", "A length of 255 bytes modulo 256 comes out one too short.", flag: .everyLength,
            source: "lengths held in a byte"
        ) {
            $0.length = { right, _, _ in right % 256 == 255 ? right - 1 : right }
        },
        .textbook(
            "length-even", "From 300 bytes on, odd lengths are rounded down.", flag: .everyLength,
            source: "palantir/hadoop-crypto#101"
        ) {
            $0.length = { right, _, _ in right > 300 ? right / 2 * 2 : right }
        },
        .padding("padding-last-byte", "Only the last byte of the padding is checked.", source: "RFC 5652, section 6.3")
        {
            (1...16).contains($0[15]) ? Int($0[15]) : nil
        },
        .padding("padding-unchecked", "The last byte is trusted, whatever it is.", source: "FFmpeg, crypto.c") {
            min(16, Int($0[15]))
        },
        .padding("padding-zero", "A last byte of zero is no padding.", source: "RFC 5652, section 6.3") { block in
            block[15] == 0 ? 0 : strip(block)
        },
        .padding("padding-17", "A last byte of 17 passes for 16.", source: "RFC 5652, section 6.3") { block in
            block[15] == 17 ? 16 : strip(block)
        },
        .padding("padding-above-16", "A last byte above 16 passes for 16.", source: "RFC 5652, section 6.3") { block in
            block[15] > 16 ? 16 : strip(block)
        },
        .padding("padding-signed", "A last byte above 127 is negative and passes.", source: "RFC 5652, section 6.3") {
            block in
            block[15] > 127 ? 0 : strip(block)
        },
        .padding("padding-first-unchecked", "The padding's first byte is not checked.", source: "RFC 5652, section 6.3")
        { block in
            let count = Int(block[15])
            return (1...16).contains(count) && block.suffix(count).dropFirst().allSatisfy { $0 == count } ? count : nil
        },
        .padding("padding-sum", "The padding's sum is checked, not its bytes.", source: "Wycheproof, flag BadPadding") {
            block in
            let count = Int(block[15])
            guard (1...16).contains(count) else { return nil }
            return block.suffix(count).reduce(0 as UInt8, ^) & 0x7f == (count % 2 == 0 ? 0 : UInt8(count)) ? count : nil
        },
        .padding(
            "padding-bad-is-none", "An end that does not unpad is taken to have no padding.",
            source: "hls.js: software AES"
        ) {
            strip($0) ?? 0
        },
        .textbook(
            "padding-error-misnamed", "A wrong padding is called a truncated ciphertext.", flag: .badPadding,
            source: "PROTOCOL.md, \"Transport\""
        ) {
            $0.paddingError = .truncatedCiphertext(byteCount: 0, expected: "injected")
        },
        .textbook(
            "last-chunk-unchecked", "A last chunk may unpad to any length.", flag: .impossibleLastChunk,
            source: "PROTOCOL.md, \"open\""
        ) {
            $0.acceptsLastChunk = { _, _, _ in true }
        },
        .textbook(
            "last-chunk-empty", "A last chunk may unpad to nothing.", flag: .impossibleLastChunk,
            source: "PROTOCOL.md, \"open\""
        ) {
            $0.acceptsLastChunk = { byteCount, _, chunkByteCount in byteCount <= Int64(chunkByteCount) }
        },
        .textbook(
            "last-chunk-long", "A last chunk may unpad to more than a chunk holds.", flag: .impossibleLastChunk,
            source: "PROTOCOL.md, \"open\""
        ) {
            $0.acceptsLastChunk = { byteCount, index, _ in index == 0 || byteCount > 0 }
        },
    ]

    private static func padding(
        _ name: String, _ summary: String, source: String, _ padding: @escaping @Sendable ([UInt8]) -> Int?
    ) -> Mutant {
        .textbook(name, summary, flag: .badPadding, source: source) { $0.padding = padding }
    }

    /// Returns a mutant that strips padding from each piece of a long read.
    private static func pieces(ofKiB length: Int) -> Mutant {
        .delivery(
            "padding-stripped-each-\(length)-kib",
            "What looks like padding at the end of each \(length) KiB of a read is not delivered.",
            flag: .paddingLookalike,
            source: "marnix/synology-decrypt#32, smuellerDD/libkcapi#45"
        ) { read in
            var (position, written) = (0, 0)
            while position < read.count {
                let end = min(position + length << 10, read.count)
                var count = end - position
                if end < read.count { count -= strip(Array(read.buffer[end - 16..<end])) ?? 0 }
                if written < position, count > 0 {
                    let piece = UnsafeRawBufferPointer(rebasing: read.buffer[position..<position + count])
                    UnsafeMutableRawBufferPointer(rebasing: read.buffer[written..<written + count]).copyMemory(
                        from: piece)
                }
                (position, written) = (end, written + count)
            }
            return written
        }
    }

    /// Returns the right number of padding bytes.
    private static func strip(_ block: [UInt8]) -> Int? {
        TextbookRules().padding(block)
    }
}
