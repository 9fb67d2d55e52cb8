import Results
import Statistics

/// A cell in one phase: its blocks, its looks and, in the end, its outcome.
final class SequentialTest {
    let cell: PreparedCell
    let stored: StoredRatios.Ratio?
    private(set) var phase: GatePhase
    /// The reason why the cell failed, if it did.
    private(set) var failure: String?
    private(set) var isDone = false

    private let settings: GateSettings
    private let comparisonCount: Int
    private var schedule: LookSchedule?
    private var failed: Set<GateSide.Role> = []
    private var quickestBlock = Double.infinity

    /// The phase of a cell, with no blocks yet.
    ///
    /// - Parameters:
    ///   - cell: The cell to be timed.
    ///   - settings: The settings of the gate.
    ///   - comparisonCount: The number of cells that share the error.
    ///   - seed: The seed, for the record.
    ///   - stored: The stored ratio to divide the ratio of this run by.
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

    /// Adds a block, and evaluates all blocks if a look is due.
    func add(_ block: GateBlock, seconds: Double) {
        phase.blocks.append(block)
        phase.seconds += seconds
        let count = phase.blocks.count
        quickestBlock = min(quickestBlock, seconds)
        // The plan uses the faster of the first two blocks: the first one may have filled caches.
        guard count > 1 || phase.seconds >= settings.secondsPerCell else { return }
        let schedule = schedule ?? makeSchedule()
        self.schedule = schedule
        // The machine may have become slower since the looks were planned.
        let isWhole = count % (settings.buildCount ?? 1) == 0
        let isLate = phase.seconds > 1.25 * settings.secondsPerCell && count >= minBlocks && isWhole
        let isLast = count >= schedule.largestCount || isLate
        guard isLast || schedule.counts.contains(count) else { return }
        look(schedule, isLast: isLast)
    }

    /// A recording with too few blocks for any interval would be useless, so this holds however little time there is.
    private var minBlocks: Int { settings.isRecording ? 20 : settings.buildCount ?? 1 }

    /// True if the last look found both sides the same.
    var isSame: Bool { phase.looks.last?.verdict == .same }

    /// Adds a block that failed. The second failure of a side ends the cell.
    func addFailure(of side: GateSide.Role, _ reason: String) {
        guard !failed.insert(side).inserted else { return }
        failure = reason
        isDone = true
    }

    /// The number of builds of each side, if there are several.
    var buildCount: Int? { settings.buildCount }

    /// The build of the next block; builds take turns in order; `nil` if there is only one.
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

    /// Returns the ratio from the blocks. With a stored ratio, it is divided by that, whose data are looked at only
    /// once.
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

    /// The stored ratio with its interval, if any.
    var storedEstimate: RatioEstimate? {
        stored?.estimate(alpha: settings.alpha / Double(max(1, comparisonCount)))
    }

    /// The maximum number of blocks: the number of Walsh averages is quadratic in it.
    private static let maxBlocks = 2000
}

/// The schedule of looks at the blocks of a cell, and the error that each look may have.
///
/// The first look comes as soon as its interval has finite ends, since the smallest p-value of n blocks is 2⁻ⁿ. After
/// that, the number of blocks grows by half from look to look, up to the maximum that time allows. A look beyond three
/// quarters of the maximum is left out. If the number of blocks at the first look could not double, there is only the
/// last look, which would otherwise have too little of the error left. None of this depends on the ratios of the
/// blocks. The interval of the first look spans all blocks, so that an outlier only postpones the decision.
package struct LookSchedule: Hashable, Sendable {
    /// The maximum number of blocks.
    package let largestCount: Int
    /// The numbers of blocks at which there is a look; the last one is the maximum.
    package let counts: [Int]
    private let spending: AlphaSpending
    private let comparisonCount: Int

    /// The minimum number of blocks for a look: fewer are too often all on one side.
    private static let minBlocks = 8

    /// Plans the looks.
    ///
    /// - Parameters:
    ///   - largestCount: The maximum number of blocks that time allows, at least 1.
    ///   - alpha: The total error of each end of all intervals, over all looks and cells.
    ///   - comparisonCount: The number of intervals that share the error.
    ///   - isSingle: True for a single look at the end.
    ///   - cycle: The number of builds that take turns, so that looks come after whole cycles; `nil` if there is only
    ///     one.
    package init(
        largestCount: Int, alpha: Double, comparisonCount: Int, isSingle: Bool = false, cycle: Int? = nil
    ) {
        self.largestCount = max(1, largestCount)
        self.comparisonCount = max(1, comparisonCount)
        let spending = AlphaSpending(total: alpha)
        self.spending = spending
        var counts: [Int] = []
        let (maximum, share) = (self.largestCount, Double(self.comparisonCount))
        // With builds, there is an interval after the first cycle.
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
                // A last look soon after another look would waste error.
                next = whole((3 * next + 1) / 2)
                if 4 * next > 3 * maximum { next = maximum }
            }
        }
        self.counts = counts + [maximum]
    }

    /// Returns the error of each end of one cell's interval at a look.
    ///
    /// - Parameters:
    ///   - count: The number of blocks.
    ///   - earlier: The number of blocks at the previous look; 0 at the first.
    ///   - isLast: True if no look follows, even if there are fewer blocks than planned.
    /// - Returns: The probability.
    package func alpha(at count: Int, after earlier: Int, isLast: Bool) -> Double {
        let time = isLast ? 1 : Double(count) / Double(largestCount)
        return spending.increment(from: Double(earlier) / Double(largestCount), to: time) / Double(comparisonCount)
    }
}
