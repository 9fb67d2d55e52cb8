package import RandomAccess

extension Oracle {
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
        case .chunked(let format):
            return try self.plaintextByteCount(format, of: source)
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
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 16, alignment: 16)
        defer { room.deallocate() }
        guard let start = room.baseAddress else { return [] }
        var previous = iv(ofChunk: chunk)
        if !isAlone {
            try Self.fetch(16, at: source.byteCount - 32, of: source, into: start)
            previous = OracleBlock(loadingFrom: start)
        }
        try Self.fetch(16, at: source.byteCount - 16, of: source, into: start)
        return (aes.decrypt(OracleBlock(loadingFrom: start)) ^ previous).bytes
    }
}
