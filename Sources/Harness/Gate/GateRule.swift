import Glibc
package import Results
import Statistics

/// The rule that turns an interval into a verdict.
package struct GateRule: Hashable, Sendable {
    /// The share by which a candidate may be slower than the baseline: 0.02 for 2 %.
    package let tolerance: Double

    package init(tolerance: Double) {
        self.tolerance = tolerance
    }

    /// The slowdown that a gate must see in a copy of the baseline before it calls anything the same.
    package var injectedShare: Double { tolerance + 0.01 }

    /// Returns the verdict for an interval of slowdown − 1.
    ///
    /// - Returns: `slower`, `faster`, `inconclusive` or `same`.
    package func verdict(low: Double, high: Double) -> GateVerdict {
        if low > tolerance { return .slower }
        if high < -tolerance { return .faster }
        // A NaN end fails both comparisons.
        return high <= tolerance && low <= high ? .same : .inconclusive
    }

    /// Returns the verdict for a ratio.
    package func verdict(_ ratio: RatioEstimate) -> GateVerdict {
        verdict(low: ratio.low - 1, high: ratio.high - 1)
    }

    /// Returns whether more data for a cell would be a waste.
    ///
    /// A cell that counts as the same but seems faster goes on as long as it may, since more data could show that it is
    /// faster.
    package func isDecided(_ ratio: RatioEstimate) -> Bool {
        switch verdict(ratio) {
        case .inconclusive: false
        case .same: ratio.estimate - 1 >= -tolerance
        default: true
        }
    }

    /// Returns the factor by which the data must grow to decide; `nil` if no amount would be enough.
    ///
    /// If the interval holds no change, the truth is assumed to be no change, otherwise the estimate. Noise may have
    /// put an estimate close to the tolerance, which tells nothing about the distance of the truth. The ends of the
    /// interval approach the estimate as 1 ÷ √n, except for the part that comes from a stored ratio.
    ///
    /// - Parameters:
    ///   - ratio: The ratio to be judged.
    ///   - stored: The stored ratio that it was divided by, if any. New data do not make that more certain.
    /// - Returns: The factor, at least 1.
    package func growthToDecide(_ ratio: RatioEstimate, over stored: RatioEstimate? = nil) -> Double? {
        guard ratio.low > 0, ratio.high.isFinite else { return nil }
        let truth = ratio.low <= 1 && ratio.high >= 1 ? 0 : log(ratio.estimate)
        let distance = abs(truth - log(1 + tolerance))
        let isAbove = truth > log(1 + tolerance)
        let reach = isAbove ? log(ratio.estimate / ratio.low) : log(ratio.high / ratio.estimate)
        let fixed = stored.map { isAbove ? log($0.high / $0.estimate) : log($0.estimate / $0.low) } ?? 0
        guard distance > 0.02 * tolerance, distance > fixed else { return nil }
        let growth = max(0, reach - fixed) / (distance - fixed)
        return max(1, Self.margin * growth * growth)
    }

    /// Returns the number of blocks that would decide if the trend of the given ones continues; `nil` if no number
    /// would, or if fewer than two blocks are given.
    ///
    /// If the mean is within three standard errors of no change, the truth is assumed to be no change. The half width
    /// of the interval is assumed to be that of a mean, z · s ÷ √n. z comes from the bound on the normal distribution's
    /// tail, ½ exp(−z² ÷ 2).
    ///
    /// - Parameters:
    ///   - logRatios: The logarithms of the blocks' ratios.
    ///   - alpha: The probability that each end of the interval misses the truth.
    /// - Returns: The number of blocks.
    package func blockCountToDecide(_ logRatios: [Double], alpha: Double) -> Double? {
        guard logRatios.count > 1, let minimum = SignedRankInterval.minCount(upTo: 1000, alpha: { _ in alpha }) else {
            return nil
        }
        let count = Double(logRatios.count)
        let mean = logRatios.reduce(0, +) / count
        let squares = logRatios.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
        let deviation = (squares / (count - 1)).squareRoot()
        guard deviation.isFinite else { return nil }
        let truth = abs(mean) <= 3 * deviation / count.squareRoot() ? 0 : mean
        let distance = abs(truth - log(1 + tolerance))
        guard distance > 0.02 * tolerance else { return nil }
        let squaredZ = max(0, -2 * log(2 * alpha))
        // The minimum is for two looks.
        return max(2 * Double(minimum), Self.margin * squaredZ * (deviation / distance) * (deviation / distance))
    }

    /// A margin above the minimum, since the next estimate has an error, too. With it, eight in ten cells are decided.
    private static let margin = 1.5
}
