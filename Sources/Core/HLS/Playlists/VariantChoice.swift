/// Which variant of a master playlist is meant.
public enum VariantChoice: Hashable, Sendable {
    /// None: a master playlist is an error, as the subject protocol has it.
    case mediaOnly
    /// The one with the highest BANDWIDTH, the first of several; variants of I-frames only do not count.
    case highestBandwidth
    /// One by its place in the playlist, from 0.
    case index(Int)
}

extension MasterPlaylist {
    /// The variant that is meant.
    ///
    /// - Throws: `PlaylistProblem` if there is none.
    public func variant(_ choice: VariantChoice) throws(PlaylistProblem) -> Variant {
        switch choice {
        case .mediaOnly:
            throw PlaylistProblem(
                line: variants.first?.line ?? 1, kind: .masterPlaylist, found: "a master playlist",
                expected: "a media playlist, such as one of its \(variants.count) variants")
        case .highestBandwidth:
            var best: Variant?
            for variant in variants where !variant.isIFramesOnly {
                if (variant.bandwidth ?? 0) > (best?.bandwidth ?? 0) || best == nil { best = variant }
            }
            if let best { return best }
        case .index(let index):
            if variants.indices.contains(index) { return variants[index] }
            throw missingVariant(expected: "variant \(index), counted from 0")
        }
        throw missingVariant(expected: "one that can be played")
    }

    private func missingVariant(expected: String) -> PlaylistProblem {
        PlaylistProblem(
            line: 1, kind: .noSuchVariant, found: "a master playlist with \(variants.count) variants",
            expected: expected)
    }
}
