import Glibc

/// The exact confidence interval of a rate, from the number of successes in a number of trials.
///
/// Each end is the rate at which the observed number, or a more extreme one, has half of the error's probability.
/// - Source: Clopper and Pearson, "The Use of Confidence or Fiducial Limits Illustrated in the Case of the Binomial",
///   Biometrika 26 (1934).
package struct BinomialInterval: Hashable, Sendable {
    /// The number of successes.
    package let successCount: Int
    /// The number of trials.
    package let trialCount: Int
    /// The lower end of the rate, from 0 to 1.
    package let low: Double
    /// The upper end of the rate, from 0 to 1.
    package let high: Double

    /// The share of trials that succeeded.
    package var rate: Double { Double(successCount) / Double(trialCount) }

    /// The interval, or `nil` without trials, or with more successes than trials.
    ///
    /// The upper end of a one-sided interval without successes is known as the rule of three.
    ///
    /// - Parameters:
    ///   - successCount: The number of successes.
    ///   - trialCount: The number of trials.
    ///   - confidence: The min probability that such an interval holds the rate; above 0, below 1.
    ///   - isOneSided: Whether each end uses the whole error, as for a bound.
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

    /// Returns the probability that the number of successes lies in a range, as a function of the rate.
    private static func tail(_ range: ClosedRange<Int>, of trialCount: Int) -> (_ rate: Double) -> Double {
        // The terms that do not depend on the rate take the most time, so they are computed once.
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

    /// Returns the rate at which a growing function passes 0.
    private static func root(_ function: (Double) -> Double) -> Double {
        var (low, high) = (0.0, 1.0)
        for _ in 0..<60 {
            let middle = (low + high) / 2
            if function(middle) < 0 { low = middle } else { high = middle }
        }
        return (low + high) / 2
    }
}
