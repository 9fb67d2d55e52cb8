/// Where the centre of a symmetric distribution lies: the Hodges–Lehmann estimate, and the confidence interval that
/// belongs to the Wilcoxon signed-rank test.
///
/// The estimate is the median of all Walsh averages, the means of two values, each with itself included; the ends of the
/// interval are Walsh averages too. Equal values do no harm to it: the interval then only covers a little more often
/// than it says. It assumes that values are independent and their distribution symmetric, not that it is normal; a few
/// wild values move neither the estimate nor, unless n is small, the interval.
/// - Source: Hollander, Wolfe and Chicken, "Nonparametric Statistical Methods", 3rd edition (2014), §3.2 (estimate) and
///   §3.3 (interval).
package struct SignedRankInterval: Hashable, Sendable {
    /// The number of values.
    package var count: Int
    /// The Hodges–Lehmann estimate.
    package var estimate: Double
    /// The lower end; −∞ where there are too few values for the probability that was asked for.
    package var low: Double
    /// The upper end; +∞ where there are too few values.
    package var high: Double

    /// Creates an interval from its parts.
    package init(count: Int, estimate: Double, low: Double, high: Double) {
        self.count = count
        self.estimate = estimate
        self.low = low
        self.high = high
    }

    /// Analyses values; the result is `nil` without any. Complexity: O(n² log n).
    ///
    /// - Parameters:
    ///   - values: The values, all finite.
    ///   - alpha: The largest probability with which each end alone may miss the centre: 0.025 for a 95 % interval.
    package init?(_ values: [Double], alpha: Double) {
        guard !values.isEmpty else { return nil }
        let averages = Self.walshAverages(values)
        let excluded = SignedRankDistribution(count: values.count).excludedCount(alpha: alpha)
        let middle = averages.count / 2
        count = values.count
        estimate = averages.count % 2 == 1 ? averages[middle] : (averages[middle - 1] + averages[middle]) / 2
        low = excluded == 0 ? -.infinity : averages[excluded - 1]
        high = excluded == 0 ? .infinity : averages[averages.count - excluded]
    }

    /// The fewest values whose interval has ends.
    ///
    /// - Parameters:
    ///   - largest: The most values that are thought of.
    ///   - alpha: For an n, the probability with which each end may miss the centre.
    /// - Returns: The fewest, or `nil` if `largest` values are too few.
    package static func minCount(upTo largest: Int, alpha: (Int) -> Double) -> Int? {
        guard largest >= 1 else { return nil }
        return (1...largest).first { count in
            SignedRankDistribution.smallestProbability(count: count) <= alpha(count)
        }
    }

    /// The means of all pairs of values, each with itself included, in ascending order.
    private static func walshAverages(_ values: [Double]) -> [Double] {
        var averages: [Double] = []
        averages.reserveCapacity(values.count * (values.count + 1) / 2)
        for (index, value) in values.enumerated() {
            for other in values[index...] { averages.append(value / 2 + other / 2) }
        }
        averages.sort()
        return averages
    }
}
