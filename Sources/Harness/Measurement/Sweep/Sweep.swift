import RandomAccess
package import Results
import Statistics
import Support

/// A sweep: it measures the cells of a plan in rounds, and resumes an interrupted run of the same plan.
///
/// The sweep checks every cell first, and a cell that fails gets no figures. Then it measures memory and latencies, and
/// then rounds of timings. Each round visits all cells in another order, so that a drift of the machine affects all
/// cells alike.
package struct Sweep {
    private let plan: Plan
    private let log: ResultLog
    private let runner: CellRunner
    /// The reasons for which backends may not be measured, by backend name: they failed vectors.
    private let refusals: [String: String]

    /// - Parameters:
    ///   - plan: The plan.
    ///   - log: The log for results. Its header is written already.
    ///   - runner: The runner that measures the cells.
    ///   - refusals: The reasons for which backends may not be measured, by backend name.
    package init(plan: Plan, log: ResultLog, runner: CellRunner, refusals: [String: String]) {
        self.plan = plan
        self.log = log
        self.runner = runner
        self.refusals = refusals
    }

    /// Runs the steps that are not done yet.
    ///
    /// - Parameters:
    ///   - progress: A function that is called before and after each process, and for each step that need not run.
    ///   - shouldStop: A function that is called before each process, and after one that failed. `true` stops the
    ///     sweep.
    /// - Returns: Whether everything is measured now.
    /// - Throws: `SweepError` if results cannot be written. A cell that fails is a result.
    package func run(
        progress: (SweepEvent) -> Void, shouldStop: () -> Bool
    ) throws(SweepError) -> Bool {
        var state = SweepState(log.earlierRecords)
        for (index, step) in SweepStep.all(of: plan).enumerated() where !state.isEnded {
            guard isNeeded(step, state) else {
                progress(.notNeeded(index))
                continue
            }
            progress(.starts(index))
            if shouldStop() { return false }
            let start = monotonicNanoseconds()
            let record: ResultRecord?
            do throws(CellFailure) {
                record = try perform(step)
            } catch {
                if let cause = error.cause { throw .io(cause) }
                // A subject that ended together with the sweep has not failed.
                if error.isInterruption || shouldStop() { return false }
                record = .failure(FailureRecord(cell: step.cell, reason: error.description))
            }
            if let record {
                try log.append(record)
                state.note(record)
            }
            if case .time(let round) = step.pass, round >= step.plannedRounds {
                state.addedNanoseconds += monotonicNanoseconds() - start
            }
            progress(.ended(index, seconds: Double(monotonicNanoseconds() - start) / 1e9))
        }
        if !state.isEnded { try log.append(.end) }
        return true
    }

    private func isNeeded(_ step: SweepStep, _ state: SweepState) -> Bool {
        let id = step.cell.id
        guard !state.failed.contains(id), !state.isDone(step.pass, id) else { return false }
        guard case .time(let round) = step.pass, let precision = plan.precision, round >= step.plannedRounds else {
            return true
        }
        return state.addedNanoseconds < precision.maxNanoseconds && !state.isPrecise(id, precision.halfWidth)
    }

    /// Runs the process of a step and returns its record; `nil` if this machine cannot measure it.
    private func perform(_ step: SweepStep) throws(CellFailure) -> ResultRecord? {
        let cell = step.cell
        switch step.pass {
        case .check:
            if let reason = refusals[cell.backend] { throw CellFailure(reason) }
            return .check(try runner.check(cell))
        case .memory(let round):
            return try runner.memory(cell, round: round).map { .memory($0) }
        case .latencies(let round):
            return try runner.latencies(cell, round: round).map { .latency($0) }
        case .time(let round):
            return .time(try runner.time(cell, round: round, minimumNanoseconds: plan.roundNanoseconds))
        }
    }
}

/// One process of a sweep.
package struct SweepStep: Hashable, Sendable {
    /// The kind of measurement in one process. Rounds count from 0.
    package enum Pass: Hashable, Sendable {
        case check
        case memory(round: Int)
        case latencies(round: Int)
        case time(round: Int)
    }

    /// The kind of measurement.
    package var pass: Pass
    /// The measured cell.
    package var cell: Cell
    /// The number of timed rounds that the plan always has. Later rounds run only if a precision is not reached.
    package var plannedRounds: Int

    /// The maximum number of processes for a cell's memory, and for its latencies.
    package static let maxUntimedRounds = 3

    /// Returns all steps of a plan, in order.
    ///
    /// - Parameter plan: The plan. Its seed determines the order of the cells in each pass.
    /// - Returns: The steps.
    package static func all(of plan: Plan) -> [SweepStep] {
        func step(_ pass: Pass, _ planned: PlannedCell) -> SweepStep {
            SweepStep(pass: pass, cell: planned.cell, plannedRounds: planned.rounds)
        }
        var steps = plan.cells.map { step(.check, $0) }
        let maxRounds = plan.cells.map(\.rounds).max() ?? 0
        for round in 0..<min(maxRounds, maxUntimedRounds) {
            for (index, pass) in [Pass.memory(round: round), .latencies(round: round)].enumerated() {
                steps += order(ofRound: -1 - index - 2 * round, in: plan).filter { round < $0.rounds }
                    .map { step(pass, $0) }
            }
        }
        let lastRound = max(maxRounds, plan.precision?.maxRounds ?? 0)
        for round in 0..<lastRound {
            steps += order(ofRound: round, in: plan).filter { round < max($0.rounds, plan.precision?.maxRounds ?? 0) }
                .map { step(.time(round: round), $0) }
        }
        return steps
    }

    /// The cells in the order of one round, drawn from the plan's seed. Rounds below 0 are the untimed passes.
    static func order(ofRound round: Int, in plan: Plan) -> [PlannedCell] {
        var generator = SplitMix64(seed: plan.seed &+ UInt64(bitPattern: Int64(round)) &* 0x1_0000_0001)
        return plan.cells.shuffled(using: &generator)
    }
}

/// An event of a sweep, with the step's index in ``SweepStep/all(of:)``.
package enum SweepEvent: Hashable, Sendable {
    /// The step's process is about to start.
    case starts(Int)
    /// The step has ended, after a number of seconds.
    case ended(Int, seconds: Double)
    /// The step need not run, because an earlier run did it or its cell failed.
    case notNeeded(Int)
}

/// The finished steps of a sweep, according to its result file.
struct SweepState {
    private struct Process: Hashable {
        var pass: SweepStep.Pass
        var cellID: String
    }

    private var done: Set<Process> = []
    /// The median time of each process, in nanoseconds, by cell.
    private var medians: [String: [Double]] = [:]
    private(set) var failed: Set<String> = []
    private(set) var isEnded = false
    /// The time of the rounds that this run added for precision.
    var addedNanoseconds: UInt64 = 0

    init(_ records: [ResultRecord]) {
        for record in records { note(record) }
    }

    mutating func note(_ record: ResultRecord) {
        switch record {
        case .header, .conformance, .mutants, .seal: break
        case .check(let check): done.insert(Process(pass: .check, cellID: check.cell.id))
        case .memory(let memory):
            done.insert(Process(pass: .memory(round: memory.round ?? 0), cellID: memory.cellID))
        case .latency(let latency):
            done.insert(Process(pass: .latencies(round: latency.round ?? 0), cellID: latency.cellID))
        case .time(let time):
            guard done.insert(Process(pass: .time(round: time.round), cellID: time.cellID)).inserted else { break }
            if let median = median(of: time.nanoseconds) { medians[time.cellID, default: []].append(median) }
        case .failure(let failure): failed.insert(failure.cell.id)
        case .end: isEnded = true
        }
    }

    func isDone(_ pass: SweepStep.Pass, _ cellID: String) -> Bool {
        done.contains(Process(pass: pass, cellID: cellID))
    }

    /// Returns whether half the width of a cell's interval is at most the given share of its figure.
    func isPrecise(_ cellID: String, _ halfWidth: Double) -> Bool {
        LogInterval(processes: medians[cellID] ?? []).map { $0.relativeHalfWidth <= halfWidth } ?? false
    }
}

extension LatencyRecord.Latency {
    /// The percentiles of latencies of single reads, in nanoseconds. All are 0 if there are no latencies.
    package init(of latencies: [UInt64]) {
        let sorted = latencies.sorted()
        func rank(_ tenthsOfPercent: Int) -> UInt64 {
            percentile(tenthsOfPercent: tenthsOfPercent, ofSorted: sorted) ?? 0
        }
        self.init(
            readCount: sorted.count, p50: rank(500), p90: rank(900), p99: rank(990), p999: rank(999),
            max: sorted.last ?? 0)
    }
}
