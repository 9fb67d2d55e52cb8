import Glibc

/// The null distribution of the Wilcoxon signed-rank statistic T⁺ for a number of values: the sum of the ranks that have
/// a plus sign, where each sign is a fair coin.
///
/// - Source: Hollander, Wolfe and Chicken, "Nonparametric Statistical Methods", 3rd edition (2014), §3.1: the exact
///   distribution, and for large samples the normal approximation (3.8), here with a continuity correction.
package struct SignedRankDistribution: Sendable {
    /// The number of values.
    package let count: Int

    /// Up to this number of values probabilities are exact.
    package static let largestExactCount = 100

    /// P(T⁺ ≤ t) for t from 0 to a half of the largest sum; empty where the approximation is used.
    private let lowerTail: [Double]

    /// Prepares the distribution. Complexity: O(n³) for up to ``largestExactCount`` values, O(1) beyond.
    package init(count: Int) {
        precondition(count >= 0, "a number of values")
        self.count = count
        guard count <= Self.largestExactCount else {
            lowerTail = []
            return
        }
        // Sets of different ranks by their sum, each rank in or out with probability one half.
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

    /// The probability of the smallest sum, 2⁻ⁿ: no p-value of so many values is smaller.
    package static func smallestProbability(count: Int) -> Double { exp2(-Double(count)) }

    /// The largest sum of ranks, n (n + 1) ÷ 2, which is also the number of Walsh averages.
    package var largestSum: Int { count * (count + 1) / 2 }

    /// The probability that T⁺ is at most `sum`, for sums up to half of the largest one.
    package func probability(atMost sum: Int) -> Double {
        guard sum >= 0 else { return 0 }
        guard lowerTail.isEmpty else { return lowerTail[min(sum, lowerTail.count - 1)] }
        return NormalDistribution.probability(below: (Double(sum) + 0.5 - mean) / deviation)
    }

    /// How many of the smallest Walsh averages lie outside of an interval whose lower end is missed with at most this
    /// probability: the largest k for which P(T⁺ ≤ k − 1) ≤ `alpha`; 0 if there is none.
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
    /// The probability of a value below `value`.
    package static func probability(below value: Double) -> Double { 0.5 * erfc(-value / 2.0.squareRoot()) }
}
