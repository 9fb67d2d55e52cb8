/// How large a playlist may be before it is taken for something else.
///
/// What exceeds a limit is refused without being looked at further, so that garbage of any length costs little.
public struct PlaylistLimits: Hashable, Sendable {
    /// The most bytes of a playlist.
    public var byteCount: Int
    /// The most bytes of a line, its end not counted.
    public var lineByteCount: Int
    /// The most segments; at two seconds each, a million are three weeks.
    public var segmentCount: Int
    /// The most problems that are collected before the rest of the playlist is given up.
    public var problemCount: Int

    /// Creates limits.
    public init(
        byteCount: Int = 64 << 20, lineByteCount: Int = 64 << 10, segmentCount: Int = 1_000_000,
        problemCount: Int = 1000
    ) {
        self.byteCount = byteCount
        self.lineByteCount = lineByteCount
        self.segmentCount = segmentCount
        self.problemCount = problemCount
    }
}
