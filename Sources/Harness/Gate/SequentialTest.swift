import Statistics

/// A cell on its way through one phase: its blocks, looks and, at last, its outcome.
final class SequentialTest {
    let cell: PreparedCell
    let stored: StoredRatios.Ratio?
    private(set) var phase: GatePhase
    /// Why the cell failed, if it did.
    private(set) var failure: String?
    private(set) var isDone = false

    private let settings: GateSettings
    private let comparisonCount: Int?
    private var schedule: LookSchedule?
    private var failed: Set<GateSide.Role> = []
    private var quickestBlock = Double.infinity

    /// Begins a phase of a cell.
    ///
    /// - Parameters:
    ///   - cell: What is timed.
    ///   - settings: How thoroughly.
    ///   - comparisonCount: The cells that share the error; `nil` for a control, which is judged at the end only.
    ///   - seed: For the record.
    ///   - stored: The ratio that this run's is divided by.
    init(
        _ cell: PreparedCell, settings: GateSettings, comparisonCount: Int?, seed: UInt64,
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
        guard let comparisonCount else { return }
        let count = phase.blocks.count
        quickestBlock = min(quickestBlock, seconds)
        // Of the first two blocks the quicker one: the first of all may have had to fetch what is cached now.
        guard count > 1 || phase.seconds >= settings.secondsPerCell else { return }
        let schedule = schedule ?? makeSchedule(comparisonCount)
        self.schedule = schedule
        // The machine may have become slower than it was when the looks were planned.
        let isLate = phase.seconds > 1.25 * settings.secondsPerCell && count >= minBlocks
        let isLast = count >= schedule.largestCount || isLate
        guard isLast || schedule.counts.contains(count) else { return }
        look(schedule, isLast: isLast)
    }

    /// A recording that has too few blocks for any interval would be of no use, however little time it had.
    private var minBlocks: Int { settings.isRecording ? 20 : 1 }

    /// A block that came to nothing: the second one by a side's fault is the cell's end.
    func addFailure(of side: GateSide.Role, _ reason: String) {
        guard !failed.insert(side).inserted else { return }
        failure = reason
        isDone = true
    }

    private func makeSchedule(_ comparisonCount: Int) -> LookSchedule {
        let maximum = Int(min(Double(Self.maxBlocks), settings.secondsPerCell / max(quickestBlock, 1e-6)))
        phase.plannedBlockCount = max(maximum, minBlocks)
        return LookSchedule(
            largestCount: phase.plannedBlockCount, alpha: settings.alpha, comparisonCount: comparisonCount,
            isSingle: settings.isRecording)
    }

    private func look(_ schedule: LookSchedule, isLast: Bool) {
        let earlier = phase.looks.last?.blockCount ?? 0
        let alpha = schedule.alpha(at: phase.blocks.count, after: earlier, isLast: isLast)
        guard let ratio = ratio(alpha: alpha) else { return }
        phase.looks.append(
            GatePhase.Look(
                blockCount: phase.blocks.count, alpha: alpha, slowdown: ratio.estimate,
                low: ratio.low > 0 ? ratio.low : nil, high: ratio.high.isFinite ? ratio.high : nil,
                verdict: settings.rule.verdict(ratio)))
        isDone = isLast || !settings.isRecording && settings.rule.isDecided(ratio)
    }

    /// The ratio that the blocks show; with a stored one, this run's over that, whose data are looked at only once.
    private func ratio(alpha: Double) -> RatioEstimate? {
        guard let now = SignedRankInterval(phase.blocks.map(\.logRatio), alpha: alpha).map(RatioEstimate.init) else {
            return nil
        }
        return stored == nil ? now : storedEstimate.map(now.divided)
    }

    /// The stored ratio with its interval, if there is one.
    var storedEstimate: RatioEstimate? {
        stored?.estimate(alpha: settings.alpha / Double(max(1, comparisonCount ?? 1)))
    }

    /// Walsh averages grow with the square of this.
    private static let maxBlocks = 2000
}
