/// The ratio of two sample medians with the interval that resampling gives it.
///
/// Two-sample bootstrap: each side is resampled on its own as ``MedianInterval`` does it (rounds with replacement, in each
/// its samples with replacement), and the ratio of the two medians is taken each time. The interval covers what differs
/// between processes of a run. It does not cover what differs between the two runs, such as the machine's temperature or
/// its neighbours, because each side has been there only once.
///
/// - Source: Efron and Tibshirani, "An Introduction to the Bootstrap" (1993), §8.3 (two samples) and chapter 13
///   (percentile intervals); Davison and Hinkley, "Bootstrap Methods and their Application" (1997), §3.2 and §3.8.
public struct RatioInterval: Hashable, Sendable {
    /// The lower end.
    public var low: Double
    /// The ratio of the medians of the samples themselves.
    public var ratio: Double
    /// The upper end.
    public var high: Double

    /// Creates an interval.
    public init(low: Double, ratio: Double, high: Double) {
        self.low = low
        self.ratio = ratio
        self.high = high
    }

    /// Creates the 95 % percentile interval of median(numerator) ÷ median(denominator), or returns `nil` where a side has
    /// no samples or a median of 0.
    ///
    /// The interval is extended to the ratio where resampling leaves it outside. The same rounds and seed give the same
    /// interval. Complexity: O(1000 × n) for n samples.
    /// - Parameters:
    ///   - numerator: Samples, one list a round; empty rounds are passed over.
    ///   - denominator: Samples likewise; as many or not.
    ///   - seed: The seed of the resampling.
    public init?(rounds numerator: [[UInt64]], over denominator: [[UInt64]], seed: UInt64) {
        let above = RankedPool(rounds: numerator.filter { !$0.isEmpty })
        let below = RankedPool(rounds: denominator.filter { !$0.isEmpty })
        guard let top = medianOfSorted(above.sorted), let bottom = medianOfSorted(below.sorted), top > 0, bottom > 0
        else { return nil }
        // One generator for both: two with the same seed would draw the same rounds on both sides.
        var generator = SplitMix64(seed: seed)
        let tops = above.resampledMedians(count: MedianInterval.resampleCount, using: &generator)
        let bottoms = below.resampledMedians(count: MedianInterval.resampleCount, using: &generator)
        let ratios = zip(tops, bottoms).map { $1 > 0 ? $0 / $1 : .infinity }.sorted()
        let ratio = top / bottom
        let low = percentile(tenthsOfPercent: 25, ofSorted: ratios) ?? ratio
        let high = percentile(tenthsOfPercent: 975, ofSorted: ratios) ?? ratio
        self.init(low: min(low, ratio), ratio: ratio, high: max(high, ratio))
    }

    /// The interval with all its ends multiplied.
    public func scaled(by factor: Double) -> RatioInterval {
        RatioInterval(low: low * factor, ratio: ratio * factor, high: high * factor)
    }
}
