#if Network
/// Lengths of ranges that are asked for one after the other: they double, so that the first one comes soon, and later
/// ones cost few requests.
struct GrowingRanges {
    private static let minByteCount = 256 << 10

    private let maxByteCount: Int
    private var byteCount: Int

    /// Starts with a short one.
    init(maxByteCount: Int) {
        self.maxByteCount = maxByteCount
        byteCount = min(Self.minByteCount, maxByteCount)
    }

    /// The next range.
    ///
    /// - Parameters:
    ///   - start: Where it starts.
    ///   - end: What it does not go beyond, more than `start`.
    /// - Returns: Some of the bytes between them, at least one.
    mutating func next(from start: UInt64, before end: UInt64) -> Range<UInt64> {
        let range = start..<start + min(UInt64(byteCount), end - start)
        byteCount = min(2 * byteCount, maxByteCount)
        return range
    }
}
#endif
