import ByteSources
import RandomAccess

extension DescribedVectors {
    /// Returns objects with a hole in a place that the format's condition allows. Holes without a condition are among
    /// the tampered objects.
    func holes() throws(DecryptionError) -> [VectorGroup] {
        var groups: [VectorGroup] = []
        for (number, keyed) in kinds.enumerated() {
            guard let hole = keyed.hole, keyed.canHold(hole.plaintext.upperBound + keyed.unit) else { continue }
            let object = try keyed.object(hole.plaintext.upperBound + keyed.unit, seed: UInt64(24_000 + number))
            let edits = CiphertextEdits(pieces: [
                .init(0..<hole.stored.lowerBound), .init(0..<UInt64(hole.stored.count), .zeros),
                .init(hole.stored.upperBound..<object.source.byteCount),
            ])
            let edited = try VectorObject(object, edits: edits)
            let (start, end) = (hole.plaintext.lowerBound, hole.plaintext.upperBound)
            groups.append(
                VectorGroup(
                    id: "\(VectorSet.shortListPrefix)formats/holes/\(keyed.label)",
                    source: "generated, seed \(object.seed)", flags: [.chunkTag], strategy: keyed.strategy,
                    key: keyed.key, ciphertext: edited.ciphertext, plaintext: edited.plaintext, rule: edited.rule,
                    patterns: [
                        .product(
                            offsets: [start - 1...start + 1, end - 1...end], counts: [1, 33, hole.plaintext.count],
                            flags: [.chunkTag])
                    ]))
        }
        return groups
    }
}

extension DescribedVectors.Keyed {
    /// A chunk that is a hole if it is all zeros, of those with small numbers and powers of two; `nil` if the format
    /// has no holes, or has them under no condition.
    var hole: (stored: Range<UInt64>, plaintext: Range<UInt64>)? {
        guard let condition = strategy.format.hole else { return nil }
        if case .integer = condition.expression { return nil }
        let candidates = Array(1..<34) + (6...40).map { UInt64(1) << $0 }
        let index = candidates.first { index in
            var known = OracleEvaluator(names: strategy.values, format: strategy.name)
            (known.names["i"], known.names["last"]) = (.integer(Int128(index)), .integer(0))
            return (try? known.number(condition)).map { $0 != 0 } ?? false
        }
        return index.map { index in
            (
                sizes.storedStart(ofChunk: index)..<sizes.storedStart(ofChunk: index + 1),
                sizes.plaintextStart(ofChunk: index)..<sizes.plaintextStart(ofChunk: index + 1)
            )
        }
    }
}
