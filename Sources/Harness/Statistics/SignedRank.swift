import Glibc

/// The null distribution of the Wilcoxon signed-rank statistic T⁺ for a number of values. T⁺ is the sum of the ranks
/// with a plus sign, where each sign is a fair coin.
///
/// - Source: Hollander, Wolfe and Chicken, "Nonparametric Statistical Methods", 3rd edition (2014), §3.1: the exact
///   distribution, and for large samples the normal approximation (3.8), here with a continuity correction.
package struct SignedRankDistribution: Sendable {
    /// The number of values.
    package let count: Int

    /// The max number of values with exact probabilities.
    package static let largestExactCount = 100

    /// P(T⁺ ≤ t) for t from 0 to half of the largest sum; empty if the approximation is used.
    private let lowerTail: [Double]

    /// Prepares the distribution.
    ///
    /// - Complexity: O(n³) for up to ``largestExactCount`` values, O(1) beyond.
    package init(count: Int) {
        precondition(count >= 0, "a number of values")
        self.count = count
        guard count <= Self.largestExactCount else {
            lowerTail = []
            return
        }
        // The sums of all sets of different ranks; each rank is in a set or not, with probability one half.
        let half = count * (count + 1) / 4
        var probability = [Double](repeating: 0, count: half + 1)
        probability[0] = 1
        var rank = 1
        while rank <= count {
            for sum in stride(from: half, through: 0, by: -1) {
                probability[sum] = (probability[sum] + (sum >= rank ? probability[sum - rank] : 0)) / 2
            }
            rank += 1
        }
        var sum = 0.0
        lowerTail = probability.map {
            sum += $0
            return sum
        }
    }

    /// Returns the probability of the smallest sum, 2⁻ⁿ. No p-value of n values is smaller.
    package static func smallestProbability(count: Int) -> Double { exp2(-Double(count)) }

    /// The largest sum of ranks: n (n + 1) ÷ 2, which is also the number of Walsh averages.
    package var largestSum: Int { count * (count + 1) / 2 }

    /// Returns the probability that T⁺ is at most `sum`, for sums up to half of the largest one.
    package func probability(atMost sum: Int) -> Double {
        guard sum >= 0 else { return 0 }
        guard lowerTail.isEmpty else { return lowerTail[min(sum, lowerTail.count - 1)] }
        return NormalDistribution.probability(below: (Double(sum) + 0.5 - mean) / deviation)
    }

    /// Returns the number of the smallest Walsh averages outside of an interval whose lower end misses the truth with a
    /// probability of at most `alpha`. It is the largest k for which P(T⁺ ≤ k − 1) ≤ `alpha`; 0 if there is none.
    package func excludedCount(alpha: Double) -> Int {
        guard probability(atMost: 0) <= alpha else { return 0 }
        var (inside, outside) = (0, largestSum / 2 + 1)
        while outside - inside > 1 {
            let middle = (inside + outside) / 2
            if probability(atMost: middle) <= alpha { inside = middle } else { outside = middle }
        }
        return inside + 1
    }

    private var mean: Double { Double(largestSum) / 2 }

    private var deviation: Double {
        let count = Double(count)
        return (count * (count + 1) * (2 * count + 1) / 24).squareRoot()
    }
}

/// The standard normal distribution. The corresponding C function is `erfc`.
package enum NormalDistribution {
    /// Returns the probability of a value below `value`.
    package static func probability(below value: Double) -> Double { 0.5 * erfc(-value / 2.0.squareRoot()) }
}

/// The centre of a symmetric distribution: the Hodges–Lehmann estimate, and the confidence interval of the Wilcoxon
/// signed-rank test.
///
/// The estimate is the median of all Walsh averages: the means of two values, each paired with itself too. The ends of
/// the interval are Walsh averages as well. With equal values, the interval only covers a little more often than it
/// says. The values must be independent and their distribution symmetric; it need not be normal. A few wild values do
/// not move the estimate. Nor do they move the interval, unless n is small.
/// - Source: Hollander, Wolfe and Chicken, "Nonparametric Statistical Methods", 3rd edition (2014), §3.2 (estimate) and
///   §3.3 (interval).
package struct SignedRankInterval: Hashable, Sendable {
    /// The Hodges–Lehmann estimate.
    package var estimate: Double
    /// The lower end; −∞ if there are too few values for `alpha`.
    package var low: Double
    /// The upper end; +∞ if there are too few values for `alpha`.
    package var high: Double

    /// Analyses values; `nil` without any.
    ///
    /// - Complexity: O(n² log n).
    /// - Parameters:
    ///   - values: The values, all finite.
    ///   - alpha: The max probability with which each end alone may miss the centre: 0.025 for a 95 % interval.
    package init?(_ values: [Double], alpha: Double) {
        guard !values.isEmpty else { return nil }
        let averages = Self.walshAverages(values)
        let excluded = SignedRankDistribution(count: values.count).excludedCount(alpha: alpha)
        let middle = averages.count / 2
        estimate = averages.count % 2 == 1 ? averages[middle] : (averages[middle - 1] + averages[middle]) / 2
        low = excluded == 0 ? -.infinity : averages[excluded - 1]
        high = excluded == 0 ? .infinity : averages[averages.count - excluded]
    }

    /// Returns the min number of values whose interval has finite ends.
    ///
    /// - Parameters:
    ///   - largest: The max number of values to try.
    ///   - alpha: The probability with which each end may miss the centre, as a function of the number of values.
    /// - Returns: The number, or `nil` if `largest` values are too few.
    package static func minCount(upTo largest: Int, alpha: (Int) -> Double) -> Int? {
        guard largest >= 1 else { return nil }
        return (1...largest).first { count in
            SignedRankDistribution.smallestProbability(count: count) <= alpha(count)
        }
    }

    /// Returns the means of all pairs of values, each paired with itself too, in ascending order.
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

/// The part of the allowed error that may be spent up to a time, so that data may be looked at before they are
/// complete.
///
/// The function is α ln(1 + (e − 1) t). It spends about evenly, as Pocock's boundaries do. A look may spend the amount
/// by which the function has grown since the look before. These parts are added up as Bonferroni does, although looks
/// are correlated. So it needs no joint distribution and holds for the signed-rank statistic too, but it gives away
/// some power. The number and times of the looks need not be fixed beforehand, but must not depend on the data.
/// - Source: Lan and DeMets, "Discrete Sequential Boundaries for Clinical Trials", Biometrika 70 (1983), their α₂*; the
///   intervals at each look are repeated confidence intervals in the sense of Jennison and Turnbull, "Interim Analyses:
///   The Repeated Confidence Interval Approach", Journal of the Royal Statistical Society B 51 (1989).
package struct AlphaSpending: Hashable, Sendable {
    /// The error of all looks together.
    package let total: Double

    package init(total: Double) {
        self.total = total
    }

    /// Returns the error that may be spent up to an information time: the part of the planned data that exists, from 0
    /// to 1.
    package func spent(at time: Double) -> Double {
        total * log(1 + (exp(1) - 1) * min(max(time, 0), 1))
    }

    /// Returns the error that a look may spend, from its information time and that of the look before; 0 for the first
    /// look.
    package func increment(from earlier: Double, to time: Double) -> Double {
        max(0, spent(at: time) - spent(at: earlier))
    }
}
