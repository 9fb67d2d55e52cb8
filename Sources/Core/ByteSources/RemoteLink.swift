/// How far away a remote store is.
public struct RemoteLink: Hashable, Sendable {
    /// From a request to its answer's first byte, in nanoseconds; at most an hour.
    public let latencyNanoseconds: UInt64
    /// Bytes per second from the first byte on; `nil` for a link that takes no time for them.
    public let bytesPerSecond: UInt64?

    /// Creates a link.
    ///
    /// - Returns: `nil` for a latency of more than an hour, or no bytes per second.
    public init?(latencyNanoseconds: UInt64, bytesPerSecond: UInt64?) {
        guard latencyNanoseconds <= 3_600_000_000_000, bytesPerSecond != 0 else { return nil }
        self.latencyNanoseconds = latencyNanoseconds
        self.bytesPerSecond = bytesPerSecond
    }

    /// How long bytes take, in nanoseconds, rounded up; a year for what takes longer.
    public func transferNanoseconds(byteCount: UInt64) -> UInt64 {
        guard let bytesPerSecond else { return 0 }
        let nanoseconds = (Double(byteCount) * 1e9 / Double(bytesPerSecond)).rounded(.up)
        return UInt64(min(nanoseconds, 3.2e16))
    }
}
