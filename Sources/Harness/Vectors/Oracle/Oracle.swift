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
        precondition(output.count == range.count, "\(output.count) bytes of room for \(range.count)")
        if case .chunked(let format) = strategy {
            return try decryptChunks(format, ciphertext: ciphertext, range: range, into: output)
        }
        let largestPiece: UInt64 = 1 << 16
        let room = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Int(min(UInt64(output.count) + 48, largestPiece + 48)), alignment: 16)
        defer { room.deallocate() }
        var position = range.lowerBound
        while position < range.upperBound {
            var chunk: UInt64 = 0
            var inChunk = position
            var chunkCiphertextStart: UInt64 = 0
            var rest = range.upperBound - position
            if case .cbcChunked(let chunkByteCount, _, _, let padding) = strategy {
                chunk = position / chunkByteCount
                inChunk = position % chunkByteCount
                chunkCiphertextStart = chunk * (chunkByteCount + (padding == .pkcs7 ? 16 : 0))
                rest = min(rest, chunkByteCount - inChunk)
            }
            let skip = inChunk % 16
            let count = min(rest, largestPiece - skip)
            let piece = Piece(
                start: chunkCiphertextStart + inChunk - skip, skip: Int(skip), count: Int(count),
                block: inChunk / 16, iv: iv(ofChunk: chunk))
            let place = Int(position - range.lowerBound)
            let part = UnsafeMutableRawBufferPointer(rebasing: output[place..<place + Int(count)])
            switch strategy {
            case .ctr: try decryptCTR(piece, of: ciphertext, room: room, into: part)
            case .cbcContinuous, .cbcChunked, .chunked: try decryptCBC(piece, of: ciphertext, room: room, into: part)
            }
            position += count
        }
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
        _ piece: Piece, of source: any ByteSource, room: UnsafeMutableRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) throws(DecryptionError) {
        let blockCount = (piece.skip + piece.count + 15) / 16
        guard let start = room.baseAddress else { return }
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
        _ piece: Piece, of source: any ByteSource, room: UnsafeMutableRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) throws(DecryptionError) {
        let byteCount = piece.skip + piece.count
        guard let start = room.baseAddress else { return }
        try Self.fetch(byteCount, at: piece.start, of: source, into: start)
        var counter = piece.iv.adding(piece.block)
        // The room has a block to spare, so that the last block may be handled whole.
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
}
