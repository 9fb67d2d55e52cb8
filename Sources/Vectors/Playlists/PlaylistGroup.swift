/// Reads of one playlist: its text, its resources and keys, how opening it ends, and what is read.
package struct PlaylistGroup: Sendable {
    /// The group's identifier, the first part of those of its vectors.
    package let id: String
    /// The classes of bugs that the group stands for.
    package let flags: [PlaylistFlag]
    /// The playlist.
    package let playlist: String
    /// Resources by URI as written.
    package let resources: [String: [UInt8]]
    /// Keys by URI as written.
    package let keys: [String: [UInt8]]
    /// How opening is to end: a vector of its own.
    package let opening: VectorGroup.Opening
    /// The plaintext; empty where the playlist does not open.
    package let plaintext: [UInt8]

    /// The reads, in order: every range of a small plaintext, and one past its end.
    package var reads: [(offset: UInt64, count: Int)] {
        guard case .opens = opening else { return [] }
        let length = plaintext.count
        let ranges = (0...length).flatMap { start in
            // All lengths at all places would be a million; every place with lengths up to three blocks is not.
            ((0...min(length - start + 1, 50)).map { $0 } + [length + 1]).map { (UInt64(start), $0) }
        }
        return ranges + [(UInt64(length) + 1, 0), (UInt64(length) + 1, 16)]
    }
}
