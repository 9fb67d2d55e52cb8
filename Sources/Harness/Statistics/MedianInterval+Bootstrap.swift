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
