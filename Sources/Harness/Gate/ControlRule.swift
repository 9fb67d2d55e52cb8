import Statistics

/// Says whether two copies of one program differ, which is the host's fault and nobody else's.
///
/// The control moved if its interval at 99.9 %, or of fewer than 11 blocks the widest one that has ends, excludes 1 and
/// its estimate is further from 1 than half of the tolerance: a tiny difference that many blocks make certain does no
/// harm, and a large one that few blocks suggest may be none.
package struct ControlRule: Hashable, Sendable {
    /// The gate's tolerance: 0.02 for 2 %.
    package let tolerance: Double

    /// Creates a rule.
    package init(tolerance: Double) {
        self.tolerance = tolerance
    }

    /// The error of each end of the interval, where there are blocks enough for it.
    private static let alpha = 0.0005

    /// The fewest blocks from which anything can be said: fewer all lie on one side too often.
    package static let minBlocks = 8

    /// The ratio of the two copies' times, with its interval; `nil` without blocks.
    package func ratio(_ logRatios: [Double]) -> RatioEstimate? {
        let smallest = SignedRankDistribution.smallestProbability(count: logRatios.count)
        let alpha = logRatios.count < Self.minBlocks ? Self.alpha : max(Self.alpha, smallest)
        return SignedRankInterval(logRatios, alpha: alpha).map(RatioEstimate.init)
    }

    /// Says by how much the control moved, or `nil` if it did not.
    package func movement(_ logRatios: [Double]) -> String? {
        guard let ratio = ratio(logRatios), ratio.low > 1 || ratio.high < 1,
            abs(ratio.estimate - 1) > tolerance / 2
        else { return nil }
        let tenThousandths = (abs(ratio.estimate - 1) * 10_000).rounded()
        return "two copies of the baseline differ by \(tenThousandths / 100) %"
    }
}
