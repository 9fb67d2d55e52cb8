/// A sample median with the interval that resampling gives it.
public struct MedianInterval: Hashable, Sendable {
    /// The lower end.
    public var low: Double
    /// The median of the samples themselves.
    public var median: Double
    /// The upper end.
    public var high: Double

    /// Creates an interval.
    public init(low: Double, median: Double, high: Double) {
        self.low = low
        self.median = median
        self.high = high
    }

    /// Half the interval's width as a part of the median; 0 where the median is 0.
    public var relativeHalfWidth: Double { median > 0 ? (high - low) / 2 / median : 0 }

    /// Says whether two intervals have a point in common.
    ///
    /// Where they have none, the medians differ by more than their noise. Where they do, the data do not tell which is
    /// greater; that is not a proof that they are equal.
    public func overlaps(_ other: MedianInterval) -> Bool {
        low <= other.high && other.low <= high
    }
}
