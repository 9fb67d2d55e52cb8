/// How the source of a group's object behaves while it is read.
package enum SourceSupply: String, CaseIterable, Hashable, Sendable {
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

extension VectorGroup {
    /// The same group over a source that behaves like this.
    func supplied(_ supply: SourceSupply) -> VectorGroup {
        var group = self
        group.supply = supply
        return group
    }
}
