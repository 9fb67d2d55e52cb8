package import RandomAccess

extension Oracle {
    /// Says whether the check over all chunks of an object holds.
    ///
    /// - Parameters:
    ///   - source: The object, with contiguous chunks.
    ///   - gap: The bytes between a table of chunks and their data; see `Strategy.bytesBehindTable(in:)`.
    /// - Returns: `nil` if the format has no such check for this object.
    /// - Throws: `DecryptionError.io`, `.truncatedCiphertext`, `.invalidParameter`.
    package func holdsWhole(of source: any ByteSource, gap: [UInt8]) throws(DecryptionError) -> Bool? {
        guard let whole = strategy.format.whole else { return nil }
        let object = try object(source)
        var known = OracleEvaluator(names: object.names, format: object.format.name)
        if let condition = whole.condition, try known.number(condition) == 0 { return nil }
        var folded: [UInt8] = []
        for index in 0..<object.chunkCount {
            let bytes = try object.folded(whole.fold, ofChunk: index, of: source)
            if index == 0 { folded = [UInt8](repeating: 0, count: bytes.count) }
            guard bytes.count == folded.count else {
                throw .invalidParameter(
                    name: "fold", value: "\(bytes.count) bytes of chunk \(index) in \(object.format.name)",
                    expected: "\(folded.count), as of chunk 0")
            }
            for place in folded.indices { folded[place] ^= bytes[place] }
        }
        known.names["fold"] = .bytes(ByteString(folded))
        known.names["gap"] = .bytes(ByteString(gap))
        return try known.number(whole.requirement) != 0
    }
}
