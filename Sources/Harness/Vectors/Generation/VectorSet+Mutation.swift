internal import RandomAccess

extension VectorSet {
    /// What mutants are put to: every class of bugs, in objects that take little time; those that most mutants fail soon
    /// come first.
    package static func mutation() -> [VectorGroup] {
        var groups = exhaustive(blockCounts: 0...1)
        groups += chaining() + keyLengths() + readOrders() + interleavings() + concurrentReads() + circumstances()
        groups += badPaddings() + paddingBytes() + impossibleLengths() + paddingLookalikes()
        groups += sequenceCarries() + counterCarries() + counterByteCarries()
        groups += smallWindows() + offsetWidths() + seekStorms() + Array(monteCarlo().prefix(3))
        groups += specialBlocks() + longReads().filter { $0.plaintext.byteCount < 10 << 20 }
        groups += continuousLengths() + chunkedLengths()
        // Every residue of start and length, in each mode.
        groups += residues().filter { $0.strategy.padding != Padding.none }
        groups += chunkEdges().filter { ($0.strategy.chunkByteCount ?? .max) <= 4096 }
        groups += windowEdges().filter { ($0.windowByteCounts.first ?? .max) <= 4096 }
        groups += chunkLengths() + chunkCounters() + keyDerivations() + chunkReads()
        groups += chunkTags() + chunkOrders() + truncations() + trailingData() + headerChecks()
        groups += PlaylistSet.all
        return groups + largeOffsets().filter { $0.strategy.chunkByteCount == nil }
    }
}
