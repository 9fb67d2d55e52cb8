import Glibc
package import Results
import Statistics

/// The rule by which an interval becomes a verdict.
package struct GateRule: Hashable, Sendable {
    /// How much slower a candidate may be, as a part of the baseline's time: 0.02 for 2 %.
    package let tolerance: Double

    /// Creates a rule.
    package init(tolerance: Double) {
        self.tolerance = tolerance
    }

    /// The slowdown that a gate must see in a copy of the baseline before it says that anything is the same.
    package var plantedShare: Double { tolerance + 0.01 }

    /// Judges the interval of slowdown − 1.
    ///
    /// - Returns: `slower`, `faster`, `inconclusive` or `same`.
    package func verdict(low: Double, high: Double) -> GateVerdict {
        if low > tolerance { return .slower }
        if high < -tolerance { return .faster }
        // An end that is no number is none.
        return high <= tolerance && low <= high ? .same : .inconclusive
    }

    /// Judges a ratio.
    package func verdict(_ ratio: RatioEstimate) -> GateVerdict {
        verdict(low: ratio.low - 1, high: ratio.high - 1)
    }

    /// Whether more data would be wasted on a cell.
    ///
    /// One that seems to be faster, and may as well be the same, goes on for as long as it may.
    package func isDecided(_ ratio: RatioEstimate) -> Bool {
        switch verdict(ratio) {
        case .inconclusive: false
        case .same: ratio.estimate - 1 >= -tolerance
        default: true
        }
    }

    /// The factor by which data must grow to decide; `nil` where no amount would do.
    ///
    /// The truth is taken to be no change where the interval holds that, and the estimate where it does not: an estimate
    /// that noise has put beside the tolerance says nothing of how far from it the truth is. The interval's ends come
    /// nearer to the estimate as 1 ÷ √n, but for what is due to a stored ratio.
    ///
    /// - Parameters:
    ///   - ratio: The ratio that is judged.
    ///   - stored: What it was divided by, which no new data make more certain; `nil` if it was not.
    /// - Returns: The factor, 1 at least.
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

    /// The number of blocks that would decide, if what the first ones show stays true; `nil` where no number would, and of fewer
    /// than two blocks, of which nothing can be said.
    ///
    /// The truth is taken to be no change where their mean is within three standard errors of that. The interval's half
    /// width is taken to be that of a mean, z · s ÷ √n, with z from the bound on the normal distribution's tail,
    /// ½ exp(−z² ÷ 2).
    ///
    /// - Parameters:
    ///   - logRatios: What the blocks show.
    ///   - alpha: The probability with which each end of the interval may miss the truth.
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
        // Enough for two looks.
        return max(2 * Double(minimum), Self.margin * squaredZ * (deviation / distance) * (deviation / distance))
    }

    /// More than the least that could decide, since the next estimate has an error too: with this, eight in ten do.
    private static let margin = 1.5
}
