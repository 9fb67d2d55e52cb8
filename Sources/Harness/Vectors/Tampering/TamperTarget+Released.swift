internal import ByteSources
internal import RandomAccess

extension TamperTarget {
    /// What a range of the plaintext would be if nobody looked at tags: a piece for each chunk that is another one than
    /// the original's, or in another place. Only of authenticated formats.
    package func changedPieces(
        of content: TamperContent, in range: Range<UInt64>
    ) -> [(offset: UInt64, bytes: [UInt8])] {
        guard let opening = opening(of: content), let format = opening.strategy.chunkFormat,
            let places = try? OracleChunkPlaces(format, ciphertextByteCount: UInt64(opening.bytes.count))
        else { return [] }
        let oracle = Oracle(strategy: opening.strategy, key: opening.key)
        let source = MemorySource(opening.bytes)
        var pieces: [(offset: UInt64, bytes: [UInt8])] = []
        var position = range.lowerBound
        while position < min(range.upperBound, places.plaintextByteCount) {
            let index = places.chunk(at: position)
            let end = places.plaintextStart(ofChunk: index) + places.byteCount(ofChunk: index)
            let part = position..<min(range.upperBound, end)
            position = part.upperBound
            let chunk = places.ciphertext(of: part)
            let own = opening.bytes[Int(chunk.lowerBound)..<Int(chunk.upperBound)]
            let isOriginal =
                content.header == original.header && index < original.chunks.count
                && own.elementsEqual(original.chunks[Int(index)])
                && (index == places.chunkCount - 1) == (Int(index) == last)
            guard !isOriginal else { continue }
            let bytes = try? [UInt8](byteCount: part.count) { (room) throws(DecryptionError) in
                try oracle.decrypt(
                    ciphertext: source, plaintextByteCount: places.plaintextByteCount, range: part, into: room)
            }
            if let bytes { pieces.append((part.lowerBound, bytes)) }
        }
        return pieces
    }
}
