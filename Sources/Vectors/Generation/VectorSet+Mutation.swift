internal import RandomAccess

extension VectorSet {
    /// What mutants are put to: every class of bugs, in objects that take little time.
    ///
    /// - Parameter isReduced: Whether to leave out what a debug build needs more than a few seconds for.
    /// - Returns: The groups; those that most mutants fail soon come first.
    package static func mutation(isReduced: Bool = false) -> [VectorGroup] {
        var groups = exhaustive(blockCounts: 0...1)
        groups += chaining() + objectEnds() + keyLengths() + orders() + circumstances()
        groups += badPaddings() + impossibleLengths() + paddingLookalikes()
        groups += sequenceCarries() + counterCarries() + counterByteCarries()
        groups += strideEdges() + smallWindows() + offsetWidths() + seekStorms()
        // Every residue of start and length, in each mode.
        if !isReduced { groups += positions().filter { $0.strategy.padding != Padding.none } }
        groups += chunkEdges().filter { ($0.strategy.chunkByteCount ?? .max) <= 4096 }
        groups += windowEdges().filter { ($0.windowByteCounts.first ?? .max) <= 4096 }
        return groups + largeOffsets().filter { $0.strategy.chunkByteCount == nil }
    }
}
