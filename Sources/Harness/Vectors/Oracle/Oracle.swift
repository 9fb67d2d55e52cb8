package import RandomAccess

/// Says what a ciphertext decrypts to, in code that shares nothing with the code under test.
///
/// Textbook, block after block: its own AES, its own chunk arithmetic, its own padding check. Of `RandomAccess` it uses
/// only the names of things (strategy, key, source, error).
package struct Oracle: Sendable {
    let aes: OracleAES
    let strategy: Strategy
    let key: SecretKey
    private let iv: OracleBlock

    /// Creates an oracle for the objects of one strategy and key.
    package init(strategy: Strategy, key: SecretKey) {
        self.strategy = strategy
        self.key = key
        switch strategy {
        case .cbcContinuous(let iv, _), .cbcChunked(_, let iv, _, _), .ctr(let iv):
            self.aes = OracleAES(key: key)
            self.iv = OracleBlock(iv.bytes)
        case .chunked:
            // Each object has its own key, see ``OracleChunks``.
            self.aes = .ofZeros
            self.iv = OracleBlock([UInt8](repeating: 0, count: 16))
        }
    }

    /// The IV or first counter block of a chunk.
    func iv(ofChunk index: UInt64) -> OracleBlock {
        if case .cbcChunked(_, _, .sequence, _) = strategy { iv.adding(index) } else { iv }
    }

    /// Decrypts a range of an object.
    ///
    /// `plaintextByteCount` is the object's length (see ``plaintextByteCount(of:)``), `range` lies within it, and
    /// `output.count == range.count`.
    ///
    /// - Throws: `DecryptionError.io`, `.truncatedCiphertext` if the source ends early.
    /// - Complexity: O(`range.count`), wherever the range lies.
    package func decrypt(
        ciphertext: any ByteSource, plaintextByteCount: UInt64, range: Range<UInt64>,
        into output: UnsafeMutableRawBufferPointer
    ) throws(DecryptionError) {
        precondition(range.upperBound <= plaintextByteCount, "range \(range) of \(plaintextByteCount)")
        precondition(output.count == range.count, "\(output.count) bytes of buffer for \(range.count)")
        guard !range.isEmpty else { return }
        let largestPiece: UInt64 = 1 << 16
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Int(min(UInt64(output.count) + 48, largestPiece + 48)), alignment: 16)
        defer { buffer.deallocate() }
        let chunks = try chunks(of: ciphertext)
        var position = range.lowerBound
        while position < range.upperBound {
            let chunk = chunks?.chunk(with: position) ?? chunk(with: position)
            let inChunk = position - chunk.start
            let skip = inChunk % 16
            let count = min(range.upperBound - position, chunk.end - position, largestPiece - skip)
            let piece = Piece(
                start: chunk.ciphertextStart + inChunk - skip, skip: Int(skip), count: Int(count),
                block: inChunk / 16, iv: chunk.iv)
            let start = Int(position - range.lowerBound)
            let part = UnsafeMutableRawBufferPointer(rebasing: output[start..<start + Int(count)])
            switch strategy {
            case .ctr, .chunked:
                try decryptCTR(piece, of: ciphertext, with: chunks?.aes ?? aes, buffer: buffer, into: part)
            case .cbcContinuous, .cbcChunked: try decryptCBC(piece, of: ciphertext, buffer: buffer, into: part)
            }
            position += count
        }
    }

    /// Where a chunk lies, and what its first block starts from.
    struct Chunk {
        /// Its plaintext.
        var start: UInt64
        var end: UInt64
        var ciphertextStart: UInt64
        /// The IV or counter block.
        var iv: OracleBlock
    }

    /// The chunk that a plaintext byte lies in; the whole object where there are no chunks.
    private func chunk(with offset: UInt64) -> Chunk {
        guard case .cbcChunked(let byteCount, _, _, let padding) = strategy else {
            return Chunk(start: 0, end: .max, ciphertextStart: 0, iv: iv)
        }
        let index = offset / byteCount
        return Chunk(
            start: index * byteCount, end: (index + 1) * byteCount,
            ciphertextStart: index * (byteCount + (padding == .pkcs7 ? 16 : 0)), iv: iv(ofChunk: index))
    }

    /// A few blocks of one chunk.
    private struct Piece {
        /// Where the first block starts in the ciphertext.
        var start: UInt64
        /// Plaintext bytes of the first block that are not wanted.
        var skip: Int
        /// Plaintext bytes that are wanted.
        var count: Int
        /// The first block's number in its chunk.
        var block: UInt64
        /// The chunk's IV or counter block.
        var iv: OracleBlock
    }

    private func decryptCBC(
        _ piece: Piece, of source: any ByteSource, buffer: UnsafeMutableRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) throws(DecryptionError) {
        let blockCount = (piece.skip + piece.count + 15) / 16
        guard let start = buffer.baseAddress else { return }
        var previous = piece.iv
        if piece.block > 0 {
            try Self.fetch(16, at: piece.start - 16, of: source, into: start)
            previous = OracleBlock(loadingFrom: start)
        }
        try Self.fetch(16 * blockCount, at: piece.start, of: source, into: start)
        for index in 0..<blockCount {
            let block = OracleBlock(loadingFrom: start + 16 * index)
            (aes.decrypt(block) ^ previous).store(to: start + 16 * index)
            previous = block
        }
        output.copyMemory(from: UnsafeRawBufferPointer(start: start + piece.skip, count: piece.count))
    }

    private func decryptCTR(
        _ piece: Piece, of source: any ByteSource, with aes: OracleAES, buffer: UnsafeMutableRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) throws(DecryptionError) {
        let byteCount = piece.skip + piece.count
        guard let start = buffer.baseAddress else { return }
        try Self.fetch(byteCount, at: piece.start, of: source, into: start)
        var counter = piece.iv.adding(piece.block)
        // The buffer has a block to spare, so that the last block may be handled whole.
        for index in 0..<(byteCount + 15) / 16 {
            (aes.encrypt(counter) ^ OracleBlock(loadingFrom: start + 16 * index)).store(to: start + 16 * index)
            counter = counter.adding(1)
        }
        output.copyMemory(from: UnsafeRawBufferPointer(start: start + piece.skip, count: piece.count))
    }

    static func fetch(
        _ byteCount: Int, at offset: UInt64, of source: any ByteSource, into start: UnsafeMutableRawPointer
    ) throws(DecryptionError) {
        var done = 0
        while done < byteCount {
            let rest = UnsafeMutableRawBufferPointer(start: start + done, count: byteCount - done)
            let count = try source.read(at: offset + UInt64(done), into: FetchBuffers(rest))
            guard count > 0 else {
                throw .truncatedCiphertext(
                    byteCount: source.byteCount, expected: "\(byteCount) bytes from \(offset) on")
            }
            done += count
        }
    }

    /// Encrypts a small plaintext whole, with its padding as it is given: for vectors whose plaintext matters.
    ///
    /// In CBC the plaintext is whole blocks, a chunk's padding among them; the chunk's number is there for its IV.
    func encrypt(blocks plaintext: [UInt8], chunk: UInt64 = 0) -> [UInt8] {
        var result: [UInt8] = []
        var previous = iv(ofChunk: chunk)
        var counter = previous
        for start in stride(from: 0, to: plaintext.count, by: 16) {
            let bytes = Array(plaintext[start..<min(start + 16, plaintext.count)])
            switch strategy {
            case .ctr, .chunked:
                let mask = aes.encrypt(counter).bytes
                result += zip(bytes, mask).map { $0 ^ $1 }
                counter = counter.adding(1)
            case .cbcContinuous, .cbcChunked:
                previous = aes.encrypt(OracleBlock(bytes) ^ previous)
                result += previous.bytes
            }
        }
        return result
    }

    /// Encrypts a small plaintext as a writer does: chunk after chunk, each padded where the strategy says so.
    func encrypt(_ plaintext: [UInt8]) -> [UInt8] {
        var padding = Padding.none
        var chunkByteCount = max(1, plaintext.count)
        switch strategy {
        case .ctr: break
        case .chunked: preconditionFailure("chunked objects are generated")
        case .cbcContinuous(_, let itsPadding): padding = itsPadding
        case .cbcChunked(let length, _, _, let itsPadding):
            padding = itsPadding
            chunkByteCount = Int(length)
        }
        var result: [UInt8] = []
        var chunk: UInt64 = 0
        var start = 0
        repeat {
            var bytes = Array(plaintext[start..<min(plaintext.count, start + chunkByteCount)])
            if padding == .pkcs7 {
                let count = 16 - bytes.count % 16
                bytes += [UInt8](repeating: UInt8(count), count: count)
            }
            result += encrypt(blocks: bytes, chunk: chunk)
            start += chunkByteCount
            chunk += 1
        } while start < plaintext.count
        return result
    }

    /// The plaintext's length, found from the ciphertext's length and the last block's padding.
    ///
    /// - Throws: `DecryptionError.truncatedCiphertext` for a length that no plaintext has, `.invalidPadding` if the end
    ///   does not unpad to a length that a writer makes, `.io`.
    /// - Source: PROTOCOL.md, "open"; RFC 5652, section 6.3.
    package func plaintextByteCount(of source: any ByteSource) throws(DecryptionError) -> UInt64 {
        let total = source.byteCount
        let padding: Padding
        var chunkCiphertextByteCount: UInt64?
        var chunkByteCount: UInt64 = .max
        switch strategy {
        case .ctr:
            return total
        case .chunked:
            guard let chunks = try chunks(of: source) else { return total }
            return try plaintextByteCount(chunks, of: source)
        case .cbcContinuous(_, let itsPadding):
            padding = itsPadding
        case .cbcChunked(let length, _, _, let itsPadding):
            padding = itsPadding
            chunkByteCount = length
            chunkCiphertextByteCount = length + 16
        }
        if total & 15 != 0 { throw .truncatedCiphertext(byteCount: total, expected: "whole blocks") }
        if padding == .none { return total }
        if total == 0 { throw .truncatedCiphertext(byteCount: 0, expected: "a block of padding") }

        var fullChunkCount: UInt64 = 0
        var lastByteCount = total
        if let chunkCiphertextByteCount {
            fullChunkCount = total / chunkCiphertextByteCount
            lastByteCount = total % chunkCiphertextByteCount
            if lastByteCount == 0 {
                fullChunkCount -= 1
                lastByteCount = chunkCiphertextByteCount
            }
        }
        let block = try lastBlock(of: source, isAlone: lastByteCount == 16, chunk: fullChunkCount)
        let count = Int(block[15])
        guard (1...16).contains(count), block.suffix(count).allSatisfy({ $0 == block[15] }) else {
            throw .invalidPadding
        }
        let dataByteCount = lastByteCount - UInt64(count)
        let isPossible = dataByteCount <= chunkByteCount && (dataByteCount > 0 || fullChunkCount == 0)
        guard isPossible else { throw .invalidPadding }
        return fullChunkCount == 0 ? dataByteCount : fullChunkCount * chunkByteCount + dataByteCount
    }

    private func lastBlock(
        of source: any ByteSource, isAlone: Bool, chunk: UInt64
    ) throws(DecryptionError) -> [UInt8] {
        func block(at offset: UInt64) throws(DecryptionError) -> OracleBlock {
            OracleBlock(try Self.bytes(16, at: offset, of: source))
        }
        let previous = isAlone ? iv(ofChunk: chunk) : try block(at: source.byteCount - 32)
        return (aes.decrypt(try block(at: source.byteCount - 16)) ^ previous).bytes
    }

    /// The length of an object's plaintext, once its header and its last chunk have been found authentic.
    private func plaintextByteCount(
        _ chunks: OracleChunks, of source: any ByteSource
    ) throws(DecryptionError) -> UInt64 {
        let layout = chunks.layout
        let header = try Self.bytes(Int(layout.headerByteCount), at: 0, of: source)
        guard header == chunks.header else { throw .headerRejected(expected: "the one of this key") }
        let last = layout.chunkCount - 1
        let count = Int(layout.byteCount(ofChunk: last))
        let sealed = try Self.bytes(count + 16, at: layout.ciphertextStart(ofChunk: last), of: source)
        let tag = sealed.withUnsafeBytes {
            chunks.tag(
                UnsafeRawBufferPointer(rebasing: $0[..<count]), hash: chunks.makeHash(), chunk: last, isLast: true)
        }
        guard Array(sealed[count...]) == tag else { throw .authenticationFailed(chunk: last) }
        return layout.plaintextByteCount
    }

    /// The header that a writer makes for an object's salt and this key; empty where the format has none.
    package func header(of source: any ByteSource) throws(DecryptionError) -> [UInt8] {
        try chunks(of: source)?.header ?? []
    }

    /// What the header says of an object of authenticated chunks; `nil` for any other.
    ///
    /// Tags are not looked at when it is decrypted: whether a chunk is to be delivered, a vector says.
    private func chunks(of source: any ByteSource) throws(DecryptionError) -> OracleChunks? {
        guard let format = strategy.chunkFormat else { return nil }
        let layout = try OracleChunkLayout(format, ciphertextByteCount: source.byteCount)
        let header = try Self.bytes(format.headerByteCount, at: 0, of: source)
        return try OracleChunks(format, key: key, header: header, layout: layout)
    }

    private static func bytes(
        _ count: Int, at offset: UInt64, of source: any ByteSource
    ) throws(DecryptionError) -> [UInt8] {
        try [UInt8](byteCount: count) { (buffer) throws(DecryptionError) in
            if let start = buffer.baseAddress { try fetch(count, at: offset, of: source, into: start) }
        }
    }
}
