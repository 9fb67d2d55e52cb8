import RandomAccess
package import Results
import Statistics
import Support

/// Measures the cells of a plan in rounds, and goes on where an earlier run of the same plan was broken off.
///
/// Every cell is first checked, and a cell that fails gets no figures. Then memory and latencies, and then rounds of
/// timings: each round visits all cells in an order of its own, so that a machine that drifts does so for all alike.
package struct Sweep {
    private let plan: Plan
    private let log: ResultLog
    private let runner: CellRunner
    /// Why backends may not be measured, by their names: they failed their vectors.
    private let refusals: [String: String]

    /// Creates a sweep.
    ///
    /// - Parameters:
    ///   - plan: What to measure.
    ///   - log: Where results go; its header is written already.
    ///   - runner: What measures.
    ///   - refusals: Why backends may not be measured, by their names.
    package init(plan: Plan, log: ResultLog, runner: CellRunner, refusals: [String: String]) {
        self.plan = plan
        self.log = log
        self.runner = runner
        self.refusals = refusals
    }

    /// Measures what is not measured yet.
    ///
    /// - Parameters:
    ///   - progress: Called before and after each process, and for those that need not be run.
    ///   - shouldStop: Asked before each process, and about one that failed; `true` leaves the rest for another time.
    /// - Returns: Whether everything is measured now.
    /// - Throws: `SweepError` if results cannot be written; a cell that fails is a result.
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
                // A subject that was ended together with the sweep has not failed.
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

    /// Runs a process and says what it found; `nil` where this machine cannot tell.
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
    /// What is found out in one process.
    package enum Pass: Hashable, Sendable {
        case check
        /// The round, from 0, as of the others.
        case memory(round: Int)
        case latencies(round: Int)
        case time(round: Int)
    }

    /// What is found out.
    package var pass: Pass
    /// Of what.
    package var cell: Cell
    /// The rounds of time that the plan asks for in any case; later ones are for a precision that is not reached.
    package var plannedRounds: Int

    /// The max number of processes in which a cell's memory, and its latencies, are measured.
    package static let maxUntimedRounds = 3

    /// Lists everything that a plan asks for, in order.
    ///
    /// - Parameter plan: The plan; its seed decides the order of the cells in each pass.
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

    /// The cells in the order of one round, drawn from the plan's seed; rounds below 0 are the untimed passes.
    static func order(ofRound round: Int, in plan: Plan) -> [PlannedCell] {
        var generator = SplitMix64(seed: plan.seed &+ UInt64(bitPattern: Int64(round)) &* 0x1_0000_0001)
        return plan.cells.shuffled(using: &generator)
    }
}

/// What happens to the steps of a sweep, by their numbers in ``SweepStep/all(of:)``.
package enum SweepEvent: Hashable, Sendable {
    /// A process is about to be started.
    case starts(Int)
    /// It has ended, after so many seconds.
    case ended(Int, seconds: Double)
    /// It need not be run: an earlier run did it, or its cell failed.
    case notNeeded(Int)
}

/// What a result file says is done already.
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
    /// How long the rounds took that were added for precision, in this run of the sweep.
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

    /// Whether half of a cell's interval is at most a part of its figure.
    func isPrecise(_ cellID: String, _ halfWidth: Double) -> Bool {
        LogInterval(processes: medians[cellID] ?? []).map { $0.relativeHalfWidth <= halfWidth } ?? false
    }
}

extension LatencyRecord.Latency {
    /// The percentiles of single reads, in nanoseconds; all 0 where there are none.
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
