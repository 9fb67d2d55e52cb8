import Statistics

/// A cell on its way through one phase: its blocks, looks and, at last, its outcome.
final class CellTrack {
    let cell: PreparedCell
    let stored: StoredRatios.Ratio?
    private(set) var phase: GatePhase
    /// Why the cell failed, if it did.
    private(set) var failure: String?
    private(set) var isDone = false

    private let settings: GateSettings
    private let comparisonCount: Int
    private var schedule: LookSchedule?
    private var failureCount = 0

    /// Begins a phase of a cell; a control, which is judged at the end only, has a `comparisonCount` of 0, others that of
    /// the cells that share the error.
    init(
        _ cell: PreparedCell, settings: GateSettings, comparisonCount: Int, seed: UInt64,
        stored: StoredRatios.Ratio? = nil
    ) {
        self.cell = cell
        self.settings = settings
        self.comparisonCount = comparisonCount
        self.stored = stored
        phase = GatePhase(seed: seed)
    }

    /// Takes a block, and looks at all of them if it is time to.
    func add(_ block: GateBlock, seconds: Double) {
        phase.blocks.append(block)
        phase.seconds += seconds
        guard comparisonCount > 0 else { return }
        let count = phase.blocks.count
        let schedule = schedule ?? makeSchedule(blockSeconds: seconds)
        self.schedule = schedule
        // The machine may have become slower than it was when the looks were planned.
        let isLast = count >= schedule.largestCount || phase.seconds > 1.25 * settings.secondsPerCell
        guard isLast || schedule.counts.contains(count) else { return }
        look(schedule, isLast: isLast)
    }

    /// A block that came to nothing: the second one is the cell's end.
    func addFailure(_ reason: String) {
        failureCount += 1
        guard failureCount > 1 else { return }
        failure = reason
        isDone = true
    }

    private func makeSchedule(blockSeconds: Double) -> LookSchedule {
        let most = Int(min(Double(Self.mostBlocks), max(1, settings.secondsPerCell / max(blockSeconds, 1e-6))))
        phase.plannedBlockCount = most
        return LookSchedule(
            largestCount: most, alpha: (1 - settings.confidence) / 2,
            // A stored ratio has an interval of its own, which may miss as often.
            comparisonCount: comparisonCount * (stored == nil ? 1 : 2),
            isSingle: settings.isRecording)
    }

    private func look(_ schedule: LookSchedule, isLast: Bool) {
        let earlier = phase.looks.last?.blockCount ?? 0
        let alpha = schedule.alpha(at: phase.blocks.count, after: earlier, isLast: isLast)
        guard let ratio = Self.ratio(phase.blocks.map(\.logRatio), alpha: alpha, stored: stored) else { return }
        phase.looks.append(
            GatePhase.Look(
                blockCount: phase.blocks.count, alpha: alpha, slowdown: ratio.estimate,
                low: ratio.low > 0 ? ratio.low : nil, high: ratio.high.isFinite ? ratio.high : nil,
                verdict: settings.rule.verdict(ratio)))
        isDone = isLast || !settings.isRecording && settings.rule.isDecided(ratio)
    }

    /// The ratio that blocks show; with stored ones, this run's over those, each with an error of `alpha` an end.
    static func ratio(_ logRatios: [Double], alpha: Double, stored: StoredRatios.Ratio?) -> RatioEstimate? {
        guard let stored else { return SignedRankInterval(logRatios, alpha: alpha).map(RatioEstimate.init) }
        guard let now = SignedRankInterval(logRatios, alpha: alpha),
            let then = SignedRankInterval(stored.logRatios, alpha: alpha)
        else { return nil }
        return RatioEstimate(now).divided(by: RatioEstimate(then))
    }

    /// Walsh averages grow with the square of this.
    private static let mostBlocks = 2000
}
