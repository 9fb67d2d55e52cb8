/// Lengths of ranges that are asked for one after the other: they double, so that the first one comes soon, and later
/// ones cost few requests.
struct GrowingRanges {
    private static let leastByteCount = 256 << 10

    private let mostByteCount: Int
    private var byteCount: Int

    /// Starts with a short one.
    init(mostByteCount: Int) {
        self.mostByteCount = mostByteCount
        byteCount = min(Self.leastByteCount, mostByteCount)
    }

    /// The next range.
    ///
    /// - Parameters:
    ///   - start: Where it starts.
    ///   - end: What it does not go beyond, more than `start`.
    /// - Returns: Some of the bytes between them, at least one.
    mutating func next(from start: UInt64, before end: UInt64) -> Range<UInt64> {
        let range = start..<start + min(UInt64(byteCount), end - start)
        byteCount = min(2 * byteCount, mostByteCount)
        return range
    }
}
