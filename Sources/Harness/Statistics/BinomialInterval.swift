import Glibc

/// The exact confidence interval of a rate, of which a number of successes in a number of trials was seen.
///
/// Each end is the rate at which what was seen, or something more extreme, has half of the error's probability.
/// - Source: Clopper and Pearson, "The Use of Confidence or Fiducial Limits Illustrated in the Case of the Binomial",
///   Biometrika 26 (1934).
package struct BinomialInterval: Hashable, Sendable {
    /// The successes.
    package let successCount: Int
    /// The trials.
    package let trialCount: Int
    /// The lower end of the rate, from 0 to 1.
    package let low: Double
    /// The upper end of the rate, from 0 to 1.
    package let high: Double

    /// The share of trials that succeeded.
    package var rate: Double { Double(successCount) / Double(trialCount) }

    /// Creates an interval, or `nil` unless there are trials, and no more successes than those.
    ///
    /// One-sided, and without a success, the upper end is the bound that is known as the rule of three.
    ///
    /// - Parameters:
    ///   - successCount: The successes.
    ///   - trialCount: The trials.
    ///   - confidence: How often intervals like this hold the rate, at least; above 0, below 1.
    ///   - isOneSided: Whether the whole error is on the side of each end, as for a bound.
    package init?(successCount: Int, trialCount: Int, confidence: Double = 0.95, isOneSided: Bool = false) {
        guard trialCount > 0, (0...trialCount).contains(successCount), confidence > 0, confidence < 1 else {
            return nil
        }
        self.successCount = successCount
        self.trialCount = trialCount
        let alpha = isOneSided ? 1 - confidence : (1 - confidence) / 2
        // P(X ≥ k) grows with the rate, P(X ≤ k) falls.
        let (atLeast, atMost) = (
            Self.tail(successCount...trialCount, of: trialCount), Self.tail(0...successCount, of: trialCount)
        )
        low = successCount == 0 ? 0 : Self.root { atLeast($0) - alpha }
        high = successCount == trialCount ? 1 : Self.root { alpha - atMost($0) }
    }

    /// The probability of a number of successes in a range, as a function of the rate.
    private static func tail(_ range: ClosedRange<Int>, of trialCount: Int) -> (_ rate: Double) -> Double {
        // What does not depend on the rate costs most.
        let all = logGamma(Double(trialCount) + 1)
        let ways = range.map { all - logGamma(Double($0) + 1) - logGamma(Double(trialCount - $0) + 1) }
        return { rate in
            let (success, failure) = (log(rate), log1p(-rate))
            var sum = 0.0
            for (index, ways) in ways.enumerated() {
                let count = range.lowerBound + index
                sum += exp(ways + Double(count) * success + Double(trialCount - count) * failure)
            }
            return min(1, sum)
        }
    }

    /// Where a growing function of a rate passes 0.
    private static func root(_ function: (Double) -> Double) -> Double {
        var (low, high) = (0.0, 1.0)
        for _ in 0..<60 {
            let middle = (low + high) / 2
            if function(middle) < 0 { low = middle } else { high = middle }
        }
        return (low + high) / 2
    }
}
