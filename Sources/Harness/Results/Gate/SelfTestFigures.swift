import Glibc
package import Statistics

/// The relation between extra work and slowdown, measured just before it is used.
///
/// A share of extra work costs less than that share of the time, as fetching takes time too. It also costs a little
/// whatever its size: one more call a read. So two points are measured. One has far more work than any injected
/// slowdown needs, so that the error of the slope is small against the tolerance. The other has about as much as the
/// smallest slowdown needs. Between them, the relation is a line.
package struct SelfTestCalibration: Codable, Hashable, Sendable {
    /// The slowdown that a share of extra work caused.
    package struct Point: Codable, Hashable, Sendable {
        /// The share of extra work.
        package var extraWork: Double
        /// The cell with the smallest slowdown.
        package var cell: String
        /// The cell's time with the extra work, divided by its time without it.
        package var slowdown: Double
        /// The lower end of the slowdown's 95 % interval.
        package var low: Double
        /// The upper end of the slowdown's 95 % interval.
        package var high: Double
        /// The number of blocks behind the slowdown.
        package var blockCount: Int

        package init(
            extraWork: Double, cell: String, slowdown: Double, low: Double, high: Double, blockCount: Int
        ) {
            self.extraWork = extraWork
            self.cell = cell
            self.slowdown = slowdown
            self.low = low
            self.high = high
            self.blockCount = blockCount
        }

        /// Takes the cell with the smallest slowdown from a gate that ran for figures. It is `nil` if the host was
        /// noisy, a side broke, or a cell has no interval.
        package init?(_ result: GateResult, extraWork: Double) {
            let measured = result.cells.filter { $0.slowdown != nil && $0.low != nil && $0.high != nil }
            guard result.verdict != .noisyHost, !result.verdict.isBroken, measured.count == result.cells.count,
                let minimum = measured.min(by: { ($0.slowdown ?? 0) < ($1.slowdown ?? 0) }),
                let slowdown = minimum.slowdown,
                let low = minimum.low, let high = minimum.high
            else { return nil }
            self.init(
                extraWork: extraWork, cell: minimum.name, slowdown: slowdown, low: low, high: high,
                blockCount: minimum.blockCount)
        }

        /// True if the slowdown grows with the work. A subject that ignores the option, or noise, does not pass.
        package var isPlausible: Bool { extraWork > 0 && (low - 1) / extraWork > Self.minSlope }

        /// The min ratio of slowdown to extra work; below it, the work had no effect.
        package static let minSlope = 0.1

        /// Half of the interval's width.
        var halfWidth: Double { (high - low) / 2 }
    }

    /// The share of extra work of the first point.
    package static let largeShare = 0.3

    /// The point with far more work than any injected slowdown needs.
    package var large: Point
    /// The point with about as much work as the smallest slowdown needs.
    package var small: Point

    package init(large: Point, small: Point) {
        self.large = large
        self.small = small
    }

    /// Returns the share of extra work that causes a slowdown, rounded to a millionth, as subjects take it.
    package func extraWork(for injected: Double) -> Double {
        let share = small.extraWork + position(of: injected) * (large.extraWork - small.extraWork)
        return (max(share, 0) * 1e6).rounded() / 1e6
    }

    /// Returns the range in which an injected slowdown may really lie: the weighted errors of both points, added up.
    package func range(of injected: Double) -> ClosedRange<Double> {
        let position = self.position(of: injected)
        let error = abs(1 - position) * small.halfWidth + abs(position) * large.halfWidth
        return injected - error...injected + error
    }

    /// Returns the position of a slowdown between the points: 0 at the small one, 1 at the large one.
    private func position(of injected: Double) -> Double {
        let span = large.slowdown - small.slowdown
        return span > 0 ? (1 + injected - small.slowdown) / span : 0
    }
}

/// All runs of a self-test with the same injected slowdown.
package struct SelfTestGroup: Sendable {
    /// The injected slowdown; 0 for none.
    package let injected: Double
    /// The runs, in order.
    package let runs: [SelfTestRun]

    /// Returns the groups of a self-test: first the one without a slowdown, then the others by size.
    package static func groups(of records: [SelfTestRecord]) -> [SelfTestGroup] {
        var runs: [Double: [SelfTestRun]] = [:]
        for case .run(let run) in records { runs[run.injected, default: []].append(run) }
        return runs.keys.sorted().map { SelfTestGroup(injected: $0, runs: runs[$0] ?? []) }
    }

    /// Returns the number of runs with a verdict.
    package func count(_ verdict: GateVerdict) -> Int { runs.count { $0.verdict == verdict } }

    /// Returns the rate of a verdict, with its exact 95 % interval.
    package func rate(_ verdict: GateVerdict) -> BinomialInterval? {
        BinomialInterval(successCount: count(verdict), trialCount: runs.count)
    }

    /// Returns the upper 95 % bound of the rate of a verdict.
    package func bound(_ verdict: GateVerdict) -> Double? {
        BinomialInterval(successCount: count(verdict), trialCount: runs.count, isOneSided: true)?.high
    }

    /// Returns the number of runs with the verdict `slower` whose slower cells each took `seconds` of measurement or
    /// less.
    package func detectionCount(within seconds: Double) -> Int {
        runs.count { run in
            run.verdict == .slower && run.cells.filter { $0.verdict == .slower }.allSatisfy { $0.seconds <= seconds }
        }
    }

    /// The times for which cells were measured until they were decided, in seconds, in ascending order.
    package var decisionSeconds: [Double] {
        runs.flatMap(\.cells).filter { [.slower, .same, .faster].contains($0.verdict) }.map(\.seconds).sorted()
    }

    /// The slowdown that was really injected: the estimate for the first cell from the blocks of all runs, with a 95 %
    /// interval.
    ///
    /// It uses 1500 blocks or fewer, evenly spread. Runs that stopped early have fewer blocks, which moves the estimate
    /// by far less than a block's noise.
    package var pooledSlowdown: RatioEstimate? {
        let all = runs.compactMap { $0.cells.first }.flatMap { $0.logRatios.joined() }
        let step = max(1, (all.count + 1499) / 1500)
        let some = stride(from: 0, to: all.count, by: step).map { all[$0] }
        return SignedRankInterval(some, alpha: 0.025).map(RatioEstimate.init)
    }
}

/// The rate at which the gate's 95 % interval holds the truth. It uses blocks of a program beside itself, whose truth
/// is known.
///
/// Each cell contributes the same number of blocks: the number that every run has. So no length depends on the data.
package struct IntervalCoverage: Sendable {
    /// The number of blocks in each analysis.
    package let blockCount: Int
    /// The share of analyses whose interval holds the truth; `nil` without enough blocks. Each analysis takes
    /// consecutive blocks of one run, and each block is used once.
    package let share: BinomialInterval?

    /// The min number of blocks that have a 95 % interval.
    private static let fewestBlocks = 6
    private static let maxBlocks = 12

    /// Analyses the runs of a self-test that have no injected slowdown.
    ///
    /// - Parameter runs: The runs; those with an injected slowdown are ignored.
    package init(_ runs: [SelfTestRun]) {
        let all = runs.filter { $0.injected == 0 && !$0.verdict.isBroken }
            .flatMap(\.cells).compactMap(\.logRatios.first)
        let count = min(all.map(\.count).min() ?? 0, Self.maxBlocks)
        blockCount = count
        guard count >= Self.fewestBlocks else {
            share = nil
            return
        }
        let held = all.count { series in
            guard let interval = SignedRankInterval(Array(series.prefix(count)), alpha: 0.025) else { return false }
            return interval.low <= 0 && 0 <= interval.high
        }
        share = BinomialInterval(successCount: held, trialCount: all.count)
    }
}
