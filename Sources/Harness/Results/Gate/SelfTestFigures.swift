import Glibc
package import Statistics

/// How much extra work makes how much of a slowdown, measured just before it is used.
///
/// A share of extra work costs less than that share of the time, as fetching takes time too, and a little whatever its
/// size: one more call a read. Both are measured: with far more work than is planted, so that the error of the slope is
/// small against the tolerance, and with about as much as the smallest slowdown takes. Between, a line is taken.
package struct SelfTestCalibration: Codable, Hashable, Sendable {
    /// What was measured with a share of extra work.
    package struct Point: Codable, Hashable, Sendable {
        /// The share.
        package var extraWork: Double
        /// The cell that was slowed down least.
        package var cell: String
        /// Its time with the work over its time without.
        package var slowdown: Double
        /// The lower end of its 95 % interval.
        package var low: Double
        /// The upper end.
        package var high: Double
        /// The blocks that it rests on.
        package var blockCount: Int

        /// Creates a point.
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

        /// Takes the cell that was slowed down least from a gate that was run for figures; `nil` if it has none.
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

        /// Whether the work slows the cell down as work does, and not as noise or an option that is ignored.
        package var isPlausible: Bool { extraWork > 0 && (low - 1) / extraWork > Self.minSlope }

        /// Work that costs less than this part of its share is none.
        package static let minSlope = 0.1

        /// Half of the interval's width.
        var halfWidth: Double { (high - low) / 2 }
    }

    /// The share that is measured first.
    package static let largeShare = 0.3

    /// What far more work made than is planted.
    package var large: Point
    /// What about as much work made as the smallest slowdown takes.
    package var small: Point

    /// Creates a calibration.
    package init(large: Point, small: Point) {
        self.large = large
        self.small = small
    }

    /// The share of extra work that makes a slowdown, to a millionth, which is what a subject takes.
    package func extraWork(for planted: Double) -> Double {
        let share = small.extraWork + position(of: planted) * (large.extraWork - small.extraWork)
        return (max(share, 0) * 1e6).rounded() / 1e6
    }

    /// What a slowdown that is planted may be in truth: both points' errors, in proportion, added up.
    package func range(of planted: Double) -> ClosedRange<Double> {
        let position = self.position(of: planted)
        let error = abs(1 - position) * small.halfWidth + abs(position) * large.halfWidth
        return planted - error...planted + error
    }

    /// Where a slowdown lies between the points: 0 at the small one, 1 at the large one.
    private func position(of planted: Double) -> Double {
        let span = large.slowdown - small.slowdown
        return span > 0 ? (1 + planted - small.slowdown) / span : 0
    }
}

/// All runs of a self-test that planted the same.
package struct SelfTestGroup: Sendable {
    /// What was planted; 0 for nothing.
    package let planted: Double
    /// The runs, in their order.
    package let runs: [SelfTestRun]

    /// The groups of a self-test: nothing planted first, then by size.
    package static func groups(of records: [SelfTestRecord]) -> [SelfTestGroup] {
        var runs: [Double: [SelfTestRun]] = [:]
        for case .run(let run) in records { runs[run.planted, default: []].append(run) }
        return runs.keys.sorted().map { SelfTestGroup(planted: $0, runs: runs[$0] ?? []) }
    }

    /// How many runs have a verdict.
    package func count(_ verdict: GateVerdict) -> Int { runs.count { $0.verdict == verdict } }

    /// How often a verdict comes, with the exact 95 % interval of that rate.
    package func rate(_ verdict: GateVerdict) -> BinomialInterval? {
        BinomialInterval(successCount: count(verdict), trialCount: runs.count)
    }

    /// The upper 95 % bound of how often a verdict comes.
    package func bound(_ verdict: GateVerdict) -> Double? {
        BinomialInterval(successCount: count(verdict), trialCount: runs.count, isOneSided: true)?.high
    }

    /// How many runs found something slower, none of its cells after more than some seconds of measurement.
    package func detectionCount(within seconds: Double) -> Int {
        runs.count { run in
            run.verdict == .slower && run.cells.filter { $0.verdict == .slower }.allSatisfy { $0.seconds <= seconds }
        }
    }

    /// The seconds that cells were measured until they were decided, in ascending order.
    package var decisionSeconds: [Double] {
        runs.flatMap(\.cells).filter { [.slower, .same, .faster].contains($0.verdict) }.map(\.seconds).sorted()
    }

    /// What the runs' blocks show together of the first cell, with a 95 % interval: what was really planted.
    ///
    /// Of more than 1500 blocks some that are evenly spread. Runs that stopped early have fewer, which moves the estimate
    /// by far less than a block's noise.
    package var pooledSlowdown: RatioEstimate? {
        let all = runs.compactMap { $0.cells.first }.flatMap { $0.logRatios.joined() }
        let step = max(1, (all.count + 1499) / 1500)
        let some = stride(from: 0, to: all.count, by: step).map { all[$0] }
        return SignedRankInterval(some, alpha: 0.025).map(RatioEstimate.init)
    }
}

/// How often the gate's 95 % interval holds the truth, where the truth is known: blocks of a program beside itself.
///
/// Only as many blocks of a cell are taken as every run has, whatever it saw: no length depends on the data.
package struct IntervalCoverage: Sendable {
    /// The blocks of an analysis.
    package let blockCount: Int
    /// Analyses of blocks that followed each other in one run, each block used once; `nil` without enough blocks.
    package let share: BinomialInterval?

    /// Fewer blocks have no 95 % interval.
    private static let fewestBlocks = 6
    private static let maxBlocks = 12

    /// Analyses the unchanged runs of a self-test.
    ///
    /// - Parameter runs: The runs; those that planted something are passed over.
    package init(_ runs: [SelfTestRun]) {
        let all = runs.filter { $0.planted == 0 && !$0.verdict.isBroken }
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
