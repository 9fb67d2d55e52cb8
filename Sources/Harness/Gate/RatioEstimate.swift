import Glibc
package import Statistics

/// A ratio of times with its interval; 1 where both sides take the same.
package struct RatioEstimate: Hashable, Sendable {
    /// The estimate.
    package var estimate: Double
    /// The lower end; 0 where there are too few data.
    package var low: Double
    /// The upper end; infinite where there are too few data.
    package var high: Double

    /// Creates a ratio.
    package init(estimate: Double, low: Double, high: Double) {
        self.estimate = estimate
        self.low = low
        self.high = high
    }

    /// The ratio that a centre of log-ratios stands for.
    package init(_ logarithm: SignedRankInterval) {
        self.init(estimate: exp(logarithm.estimate), low: exp(logarithm.low), high: exp(logarithm.high))
    }

    /// This ratio over another one that was measured apart: ends over opposite ends, so that each error is allowed for.
    package func divided(by other: RatioEstimate) -> RatioEstimate {
        RatioEstimate(estimate: estimate / other.estimate, low: low / other.high, high: high / other.low)
    }
}
