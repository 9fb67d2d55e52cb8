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

    /// How many times as much data would decide, if the estimate stays where it is; `nil` where no amount would.
    ///
    /// The interval's ends come nearer to the estimate as 1 ÷ √n, but for what is due to a stored ratio.
    ///
    /// - Parameters:
    ///   - ratio: The ratio that is judged.
    ///   - stored: What it was divided by, which no new data make more certain; `nil` if it was not.
    /// - Returns: The factor, 1 at least.
    package func growthToDecide(_ ratio: RatioEstimate, over stored: RatioEstimate? = nil) -> Double? {
        let isAbove = ratio.estimate - 1 > tolerance
        let distance = abs(ratio.estimate - 1 - tolerance)
        let reach = isAbove ? ratio.estimate - ratio.low : ratio.high - ratio.estimate
        guard ratio.low > 0, ratio.high.isFinite, distance > 0.02 * tolerance, distance > 0 else { return nil }
        let whole = isAbove ? log(ratio.estimate / ratio.low) : log(ratio.high / ratio.estimate)
        let part = stored.map { isAbove ? log($0.high / $0.estimate) : log($0.estimate / $0.low) } ?? 0
        let fixed = whole > 0 ? reach * min(1, part / whole) : 0
        guard distance > fixed else { return nil }
        let growth = (reach - fixed) / (distance - fixed)
        // A little more, so that the end lies beyond the tolerance and not on it.
        return max(1, 1.2 * growth * growth)
    }

    /// How many blocks would decide, if what the first ones show stays true; `nil` where no number would, and of fewer
    /// than two blocks, of which nothing can be said.
    ///
    /// The interval's half width is taken to be that of a mean, z · s ÷ √n, with z from the bound on the normal
    /// distribution's tail, ½ exp(−z² ÷ 2).
    ///
    /// - Parameters:
    ///   - logRatios: What the blocks show.
    ///   - alpha: The probability with which each end of the interval may miss the truth.
    /// - Returns: The number of blocks.
    package func blockCountToDecide(_ logRatios: [Double], alpha: Double) -> Double? {
        guard logRatios.count > 1, let minimum = SignedRankInterval.minCount(upTo: 1000, alpha: { _ in alpha }) else {
            return nil
        }
        let mean = logRatios.reduce(0, +) / Double(logRatios.count)
        let squares = logRatios.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
        let deviation = (squares / Double(logRatios.count - 1)).squareRoot()
        let distance = abs(mean - log(1 + tolerance))
        guard distance > 0.02 * tolerance, deviation.isFinite else { return nil }
        let squaredZ = max(0, -2 * log(2 * alpha))
        // A little more, so that the end lies beyond the tolerance and not on it, and enough for two looks.
        return max(2 * Double(minimum), 1.2 * squaredZ * (deviation / distance) * (deviation / distance))
    }
}
