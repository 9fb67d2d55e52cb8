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

/// The bootstrap: how far the median moves when samples like these are drawn again.
///
/// Samples of one process resemble each other more than samples of different processes (address layout, page placement,
/// frequency), so that treating them as independent makes intervals too narrow. The bootstrap here is therefore
/// hierarchical: it draws as many rounds as there are, with replacement, and in each as many samples as it has, with
/// replacement. The statistic is the median of all samples drawn, not the median of round medians: it is the one that a
/// reader can recompute from the published samples without knowing the rounds. Rounds last for the same time, not for the
/// same number of iterations, so that a faster round weighs a little more in it; the difference is the one between the
/// rounds' speeds, and the interval covers it.
///
/// What the interval does not say: with few rounds it is approximate. Five rounds have only 126 different selections,
/// and the spread between rounds is understated by a factor of about √((k − 1) ÷ k) for k rounds; drawing with
/// replacement at both levels widens the interval slightly, which works against that. With one round only the spread
/// within that process is seen, and nothing is known of the spread between processes.
///
/// - Source: Efron and Tibshirani, "An Introduction to the Bootstrap" (1993), chapter 13 (percentile intervals);
///   Davison and Hinkley, "Bootstrap Methods and their Application" (1997), §3.8 (hierarchical data).
extension MedianInterval {
    /// How often the samples are drawn again: the least that Efron and Tibshirani advise for percentile intervals.
    public static let resampleCount = 1000

    /// Creates the 95 % percentile interval for the median of samples that came in rounds, or `nil` without samples.
    ///
    /// The interval is extended to the sample median where resampling leaves it outside. The same rounds and seed give
    /// the same interval. Complexity: O(`resampleCount` × n), and O(n log n) for n samples.
    /// - Parameters:
    ///   - rounds: The samples, one list a round; empty rounds are passed over.
    ///   - seed: The seed of the resampling.
    public init?(rounds: [[UInt64]], seed: UInt64) {
        let pool = RankedPool(rounds: rounds.filter { !$0.isEmpty })
        guard let median = medianOfSorted(pool.sorted) else { return nil }
        guard let first = pool.sorted.first, let last = pool.sorted.last, first != last else {
            self.init(low: median, median: median, high: median)
            return
        }
        var generator = SplitMix64(seed: seed)
        let medians = pool.resampledMedians(count: Self.resampleCount, using: &generator).sorted()
        let low = percentile(tenthsOfPercent: 25, ofSorted: medians) ?? median
        let high = percentile(tenthsOfPercent: 975, ofSorted: medians) ?? median
        self.init(low: min(low, median), median: median, high: max(high, median))
    }
}

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

/// A small, fast generator whose whole sequence follows from its seed.
///
/// It is good enough to resample and to shuffle, and must never make keys.
/// - Source: Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014, figure 17; constants
///   as in Vigna's `splitmix64.c`.
package struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Creates a generator; every seed is a good one.
    package init(seed: UInt64) {
        state = seed
    }

    /// Returns the next 64 bits.
    @inline(__always)
    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
