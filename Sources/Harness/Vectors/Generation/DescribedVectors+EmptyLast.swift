import ByteSources
import RandomAccess

/// Objects that end with an empty chunk.
extension DescribedVectors {
    /// Returns objects with an authentic but empty chunk after a full one, which some formats accept and others reject.
    func endsWithNothing() throws(DecryptionError) -> [VectorGroup] {
        var groups: [VectorGroup] = []
        for (index, keyed) in kinds.enumerated()
        where keyed.strategy.isAuthenticated && !keyed.strategy.format.isLastNeverFull {
            let isRefused = keyed.strategy.format.emptyLast == .onlyChunk
            let (strategy, byteCount) = (keyed.strategy, keyed.first)
            // A padded chunk always has data.
            guard keyed.canHold(byteCount), strategy.chunkByteCount != nil, strategy.padding != .pkcs7 else { continue }
            // If the chunk is refused though its tag is right, no other object shows that.
            for seed in isRefused ? [22_000 + index, 22_500 + index] : [22_000 + index] {
                let id = "formats/ends with nothing/\(keyed.label)" + (seed < 22_500 ? "" : ", another")
                guard let group = try endsWithNothing(id, keyed, byteCount, seed: UInt64(seed)) else { continue }
                groups.append(group)
            }
        }
        return groups
    }

    /// Returns an object with an empty chunk behind full ones; `nil` if the parts of the format cannot describe such a
    /// chunk, or if it is too long to hold.
    private func endsWithNothing(
        _ id: String, _ keyed: Keyed, _ byteCount: UInt64, seed: UInt64
    ) throws(DecryptionError) -> VectorGroup? {
        let (strategy, key) = (keyed.strategy, keyed.key)
        let sealer = try OracleSealer(
            strategy, key: key, plaintextByteCount: byteCount,
            drawn: GeneratedSource(stream: SplitMix64Stream(seed: seed), byteCount: .max), alternative: 0,
            endsWithNothing: true)
        guard let bytes = try? sealer.source().bytes(), bytes.count <= Self.maxHeldByteCount * 4 else { return nil }
        let ciphertext = MemorySource(bytes)
        let oracle = Oracle(strategy: strategy, key: key)
        do throws(DecryptionError) {
            let byteCount = try oracle.plaintextByteCount(of: ciphertext)
            let plaintext = GroupPlaintext(oracle: oracle, ciphertext: ciphertext, byteCount: byteCount)
            return VectorGroup(
                id: id, flags: [.chunkEdge], strategy: strategy, key: key, ciphertext: ciphertext,
                plaintext: try plaintext.held(),
                patterns: VectorSet.edgeReads(of: byteCount, edges: [keyed.first], full: keyed.full))
        } catch {
            return VectorSet.failing(
                id: id, flag: .impossibleLastChunk, strategy: strategy, key: key, ciphertext: bytes,
                error: ErrorName(error))
        }
    }
}
