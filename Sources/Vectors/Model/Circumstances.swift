/// What happens around a group's reads: how its source behaves, and what else is open.
package struct Circumstances: Sendable {
    /// How the source behaves.
    package enum Supply: String, CaseIterable, Codable, Hashable, Sendable {
        /// As whoever runs the group likes, for it must not matter.
        case any
        /// It delivers what is asked for, and every fetch is judged.
        case whole
        /// It delivers a few bytes at a time.
        case shortReads
        /// Before each read it fails once: at the first byte, in the middle, at the last byte. The failure is judged.
        case failing
        /// The same, for a source that ends there.
        case endingEarly
        /// The same failures, which are not judged; the read after them is.
        case recovering
        /// Before each read its length is another one for a while.
        case changing
    }

    /// How the source behaves.
    package var supply: Supply
    /// Other objects that are open at the same time: after read *i* of the group comes read *i* of each, and counts as
    /// a part of it.
    package var companions: [VectorGroup]

    /// Creates circumstances; without arguments there are none.
    package init(supply: Supply = .any, companions: [VectorGroup] = []) {
        self.supply = supply
        self.companions = companions
    }
}

extension VectorGroup {
    /// The same group under other circumstances.
    package func under(_ circumstances: Circumstances) -> VectorGroup {
        var group = self
        group.circumstances = circumstances
        return group
    }
}
