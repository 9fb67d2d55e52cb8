internal import RandomAccess

extension Oracle {
    /// Decrypts a range of an object of authenticated chunks; see ``decrypt(ciphertext:plaintextByteCount:range:into:)``.
    ///
    /// Tags are not looked at: whether a chunk is to be delivered, a vector says.
    func decryptChunks(
        _ format: ChunkFormat, ciphertext: any ByteSource, range: Range<UInt64>,
        into output: UnsafeMutableRawBufferPointer
    ) throws(DecryptionError) {
        guard !range.isEmpty else { return }
        let places = try OracleChunkPlaces(format, ciphertextByteCount: ciphertext.byteCount)
        let chunks = try chunks(format, of: ciphertext)
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096 + 32, alignment: 16)
        defer { room.deallocate() }
        guard let start = room.baseAddress else { return }
        var position = range.lowerBound
        while position < range.upperBound {
            let index = places.chunk(at: position)
            let inChunk = position - places.plaintextStart(ofChunk: index)
            let skip = inChunk % 16
            let count = min(
                range.upperBound - position, places.byteCount(ofChunk: index) - inChunk, 4096 - skip)
            try Self.fetch(
                Int(skip + count), at: places.ciphertextStart(ofChunk: index) + inChunk - skip, of: ciphertext,
                into: start)
            // The first block of a chunk is masked with the counter 2.
            var counter = chunks.start(ofChunk: index, isLast: index == places.chunkCount - 1)
                .adding(1 + inChunk / 16)
            for block in 0..<Int(skip + count + 15) / 16 {
                let masked = OracleBlock(loadingFrom: start + 16 * block)
                (chunks.aes.encrypt(counter) ^ masked).store(to: start + 16 * block)
                counter = counter.adding(1)
            }
            UnsafeMutableRawBufferPointer(rebasing: output[Int(position - range.lowerBound)...])
                .copyMemory(from: UnsafeRawBufferPointer(start: start + Int(skip), count: Int(count)))
            position += count
        }
    }

    /// The length of an object's plaintext, once its header and its last chunk have been found authentic.
    func plaintextByteCount(_ format: ChunkFormat, of source: any ByteSource) throws(DecryptionError) -> UInt64 {
        let places = try OracleChunkPlaces(format, ciphertextByteCount: source.byteCount)
        let chunks = try chunks(format, of: source)
        let header = try Self.bytes(Int(places.headerByteCount), at: 0, of: source)
        guard header == chunks.header else { throw .headerRejected(expected: "the one of this key") }
        let last = places.chunkCount - 1
        let count = Int(places.byteCount(ofChunk: last))
        let sealed = try Self.bytes(count + 16, at: places.ciphertextStart(ofChunk: last), of: source)
        let tag = sealed.withUnsafeBytes {
            chunks.tag(
                UnsafeRawBufferPointer(rebasing: $0[..<count]), hash: chunks.makeHash(), chunk: last, isLast: true)
        }
        guard Array(sealed[count...]) == tag else { throw .authenticationFailed(chunk: last) }
        return places.plaintextByteCount
    }

    private func chunks(_ format: ChunkFormat, of source: any ByteSource) throws(DecryptionError) -> OracleChunks {
        try OracleChunks(format, key: key, header: try Self.bytes(format.headerByteCount, at: 0, of: source))
    }

    private static func bytes(
        _ count: Int, at offset: UInt64, of source: any ByteSource
    ) throws(DecryptionError) -> [UInt8] {
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
        defer { room.deallocate() }
        guard let start = room.baseAddress else { return [] }
        try fetch(count, at: offset, of: source, into: start)
        return Array(room)
    }
}
