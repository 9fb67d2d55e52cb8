import Results
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
    private let comparisonCount: Int
    private var schedule: LookSchedule?
    private var failed: Set<GateSide.Role> = []
    private var quickestBlock = Double.infinity

    /// Begins a phase of a cell.
    ///
    /// - Parameters:
    ///   - cell: What is timed.
    ///   - settings: How thoroughly.
    ///   - comparisonCount: The cells that share the error.
    ///   - seed: For the record.
    ///   - stored: The ratio that this run's is divided by.
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
        let count = phase.blocks.count
        quickestBlock = min(quickestBlock, seconds)
        // Of the first two blocks the quicker one: the first of all may have had to fetch what is cached now.
        guard count > 1 || phase.seconds >= settings.secondsPerCell else { return }
        let schedule = schedule ?? makeSchedule()
        self.schedule = schedule
        // The machine may have become slower than it was when the looks were planned.
        let isWhole = count % (settings.buildCount ?? 1) == 0
        let isLate = phase.seconds > 1.25 * settings.secondsPerCell && count >= minBlocks && isWhole
        let isLast = count >= schedule.largestCount || isLate
        guard isLast || schedule.counts.contains(count) else { return }
        look(schedule, isLast: isLast)
    }

    /// A recording that has too few blocks for any interval would be of no use, however little time it had.
    private var minBlocks: Int { settings.isRecording ? 20 : settings.buildCount ?? 1 }

    /// Whether its last look says that it is the same.
    var isSame: Bool { phase.looks.last?.verdict == .same }

    /// A block that came to nothing: the second one by a side's fault is the cell's end.
    func addFailure(of side: GateSide.Role, _ reason: String) {
        guard !failed.insert(side).inserted else { return }
        failure = reason
        isDone = true
    }

    /// The builds of each side, where there are several.
    var buildCount: Int? { settings.buildCount }

    /// The build whose turn it is: each as often as every other, in order; `nil` where there is one.
    var nextBuild: Int? { settings.buildCount.map { phase.blocks.count % $0 + 1 } }

    private func makeSchedule() -> LookSchedule {
        let maximum = Int(min(Double(Self.maxBlocks), settings.secondsPerCell / max(quickestBlock, 1e-6)))
        let cycle = settings.buildCount ?? 1
        phase.plannedBlockCount = max(maximum / cycle * cycle, minBlocks)
        return LookSchedule(
            largestCount: phase.plannedBlockCount, alpha: settings.alpha, comparisonCount: comparisonCount,
            isSingle: settings.isRecording, cycle: settings.buildCount)
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
        if settings.buildCount != nil {
            let builds = Dictionary(grouping: phase.blocks, by: \.build).values
            return RatioEstimate(builds: builds.map { $0.map(\.logRatio) }, alpha: alpha)
        }
        guard let now = SignedRankInterval(phase.blocks.map(\.logRatio), alpha: alpha).map(RatioEstimate.init) else {
            return nil
        }
        return stored == nil ? now : storedEstimate.map(now.divided)
    }

    /// The stored ratio with its interval, if there is one.
    var storedEstimate: RatioEstimate? {
        stored?.estimate(alpha: settings.alpha / Double(max(1, comparisonCount)))
    }

    /// Walsh averages grow with the square of this.
    private static let maxBlocks = 2000
}

/// When the blocks of a cell are looked at, and how much error each look may have.
///
/// The first look comes as early as an interval of its error has ends, since the smallest p-value of n blocks is 2⁻ⁿ.
/// From there on the blocks become half as many again from look to look, up to the most that time allows; a look beyond
/// three quarters of those is left out, and where the first look's blocks could not double, there is only the last one,
/// which would otherwise be left with too little of the error. None of this depends on the ratios that blocks show. An
/// interval of the first look reaches from the lowest block to the highest, so that a wild one only postpones the
/// decision.
package struct LookSchedule: Hashable, Sendable {
    /// The max number of blocks.
    package let largestCount: Int
    /// The numbers of blocks at which there is a look, the last one being the most.
    package let counts: [Int]
    private let spending: AlphaSpending
    private let comparisonCount: Int

    /// The fewest blocks of a look: fewer all lie on one side too often.
    private static let minBlocks = 8

    /// Plans looks.
    ///
    /// - Parameters:
    ///   - largestCount: The max number of blocks that time allows, 1 at least.
    ///   - alpha: The error of each end of all intervals together, over all looks and cells.
    ///   - comparisonCount: The intervals that share it.
    ///   - isSingle: Whether to look only at the end.
    ///   - cycle: The builds that take turns, where looks come after whole cycles of them; `nil` where there is one.
    package init(
        largestCount: Int, alpha: Double, comparisonCount: Int, isSingle: Bool = false, cycle: Int? = nil
    ) {
        self.largestCount = max(1, largestCount)
        self.comparisonCount = max(1, comparisonCount)
        let spending = AlphaSpending(total: alpha)
        self.spending = spending
        var counts: [Int] = []
        let (maximum, share) = (self.largestCount, Double(self.comparisonCount))
        // Builds have an interval from their first cycle on.
        let first =
            cycle
            ?? SignedRankInterval.minCount(upTo: maximum) {
                spending.spent(at: Double($0) / Double(maximum)) / share
            }
        func whole(_ count: Int) -> Int { cycle.map { (count + $0 - 1) / $0 * $0 } ?? count }
        if !isSingle, let first, 2 * max(first, Self.minBlocks) <= maximum {
            var next = whole(max(first, Self.minBlocks))
            while next < maximum {
                counts.append(next)
                // A last look soon after another one is a waste of both.
                next = whole((3 * next + 1) / 2)
                if 4 * next > 3 * maximum { next = maximum }
            }
        }
        self.counts = counts + [maximum]
    }

    /// The error of each end of one cell's interval at a look.
    ///
    /// - Parameters:
    ///   - count: The blocks that there are.
    ///   - earlier: The blocks that there were at the look before; 0 at the first.
    ///   - isLast: Whether no other look comes, though there are fewer blocks than were planned.
    /// - Returns: The probability.
    package func alpha(at count: Int, after earlier: Int, isLast: Bool) -> Double {
        let time = isLast ? 1 : Double(count) / Double(largestCount)
        return spending.increment(from: Double(earlier) / Double(largestCount), to: time) / Double(comparisonCount)
    }
}
