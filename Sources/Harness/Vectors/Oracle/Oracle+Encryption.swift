internal import RandomAccess

extension Oracle {
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
}
