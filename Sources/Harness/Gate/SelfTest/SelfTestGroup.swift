package import Statistics

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
