package import RandomAccess

extension Oracle {
    /// Says whether the check over all chunks of an object holds.
    ///
    /// - Returns: `nil` if the format has no such check for this object.
    /// - Throws: `DecryptionError.io`, `.truncatedCiphertext`, `.invalidParameter`.
    package func holdsWhole(of source: any ByteSource) throws(DecryptionError) -> Bool? {
        guard let check = strategy.format.whole else { return nil }
        let object = try object(source)
        var known = OracleEvaluator(names: object.names, format: object.format.name)
        if let condition = check.condition, try known.number(condition) == 0 { return nil }
        let whole = object.whole(source)
        var folded: [UInt8] = []
        for index in 0..<object.chunkCount {
            let bytes = try object.folded(check.fold, ofChunk: index, of: whole)
            if index == 0 { folded = [UInt8](repeating: 0, count: bytes.count) }
            guard bytes.count == folded.count else {
                throw .invalidParameter(
                    name: "fold", value: "\(bytes.count) bytes of chunk \(index) in \(object.format.name)",
                    expected: "\(folded.count), as of chunk 0")
            }
            for place in folded.indices { folded[place] ^= bytes[place] }
        }
        known.names["fold"] = .bytes(ByteString(folded))
        known.names["gap"] = .bytes(ByteString(try source.bytes(object.table?.gap ?? 0..<0)))
        return try known.number(check.requirement) != 0
    }
}
