import Glibc
package import Statistics

/// How often the gate's 95 % interval holds the truth, where the truth is known: blocks of two copies of the baseline
/// whose candidate times are multiplied by exactly 1 + s.
///
/// Multiplying all slices of one side multiplies the mean of the faster half of them, so that it adds log(1 + s) to a
/// block's log-ratio, and should move the interval by as much. Only as many blocks of a cell are taken as every run has,
/// whatever it saw: no length depends on the data.
package struct IntervalCoverage: Sendable {
    /// The blocks of an analysis of one run's blocks.
    package let freshBlockCount: Int
    /// Analyses of blocks that followed each other in one run, each block used once; `nil` without enough blocks.
    package let fresh: BinomialInterval?
    /// Analyses of blocks that were drawn from all runs, without replacement within an analysis. They share blocks, so
    /// that the interval of their rate means nothing.
    package let resampled: BinomialInterval?

    /// The blocks of an analysis of drawn blocks.
    package static let drawnBlockCount = 24
    /// Fewer blocks have no 95 % interval.
    private static let fewestBlocks = 6
    private static let maxBlocks = 12

    /// Analyses the unchanged runs of a self-test.
    ///
    /// - Parameters:
    ///   - runs: The runs; those that planted something are passed over.
    ///   - factors: The 1 + s, in turn.
    ///   - resampleCount: How many analyses are drawn.
    ///   - seed: What they are drawn from.
    package init(_ runs: [SelfTestRun], factors: [Double], resampleCount: Int = 1000, seed: UInt64) {
        let all = runs.filter { $0.planted == 0 && $0.verdict != .wrong }
            .flatMap { $0.cells + [$0.control].compactMap(\.self) }.compactMap(\.logRatios.first)
        let count = min(all.map(\.count).min() ?? 0, Self.maxBlocks)
        freshBlockCount = count
        guard count >= Self.fewestBlocks else {
            (fresh, resampled) = (nil, nil)
            return
        }
        let series = all.map { Array($0.prefix(count)) }
        fresh = Self.share(series, factors)
        var pool = Array(series.joined())
        // Draws from few more blocks than are drawn would be nearly the same each time.
        guard pool.count >= 10 * Self.drawnBlockCount else {
            resampled = nil
            return
        }
        var generator = SplitMix64(seed: seed)
        let drawn = (0..<resampleCount).map { _ in
            // The first steps of a shuffle; in what order the rest is does not matter to a fair draw.
            for index in 0..<Self.drawnBlockCount {
                pool.swapAt(index, Int.random(in: index..<pool.count, using: &generator))
            }
            return Array(pool.prefix(Self.drawnBlockCount))
        }
        resampled = Self.share(drawn, factors)
    }

    private static func share(_ analyses: [[Double]], _ factors: [Double]) -> BinomialInterval? {
        guard !factors.isEmpty else { return nil }
        let held = analyses.enumerated().count { index, logRatios in
            let truth = log(factors[index % factors.count])
            guard let interval = SignedRankInterval(logRatios.map { $0 + truth }, alpha: 0.025) else { return false }
            return interval.low <= truth && truth <= interval.high
        }
        return BinomialInterval(successCount: held, trialCount: analyses.count)
    }
}
