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
            progress(.ended(index, seconds: Double(monotonicNanoseconds() - start) / 1e9))
        }
        if !state.isEnded { try log.append(.end) }
        return true
    }

    private func isNeeded(_ step: SweepStep, _ state: SweepState) -> Bool {
        let id = step.cell.id
        guard !state.failed.contains(id) else { return false }
        return switch step.pass {
        case .check: !state.checked.contains(id)
        case .memory: !state.memorized.contains(id)
        case .latencies: !state.latencied.contains(id)
        case .time(let round): !state.timed.contains("\(id) \(round)")
        }
    }

    /// Runs a process and says what it found; `nil` where this machine cannot tell.
    private func perform(_ step: SweepStep) throws(CellFailure) -> ResultRecord? {
        let cell = step.cell
        switch step.pass {
        case .check:
            if let reason = refusals[cell.backend] { throw CellFailure(reason) }
            return .check(try runner.check(cell))
        case .memory:
            return try runner.memory(cell).map { .memory($0) }
        case .latencies:
            return try runner.latencies(cell).map { .latency($0) }
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
        case memory
        case latencies
        /// The round, from 0.
        case time(round: Int)
    }

    /// What is found out.
    package var pass: Pass
    /// Of what.
    package var cell: Cell

    /// Lists everything that a plan asks for, in order.
    ///
    /// - Parameter plan: The plan; its seed decides the order of the cells in each pass.
    /// - Returns: The steps.
    package static func all(of plan: Plan) -> [SweepStep] {
        var steps = plan.cells.map { SweepStep(pass: .check, cell: $0.cell) }
        for (index, pass) in [Pass.memory, .latencies].enumerated() {
            steps += order(ofRound: -1 - index, in: plan).map { SweepStep(pass: pass, cell: $0.cell) }
        }
        for round in 0..<(plan.cells.map(\.rounds).max() ?? 0) {
            steps += order(ofRound: round, in: plan).filter { round < $0.rounds }
                .map { SweepStep(pass: .time(round: round), cell: $0.cell) }
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
    private(set) var checked: Set<String> = []
    private(set) var memorized: Set<String> = []
    private(set) var latencied: Set<String> = []
    /// Cell and round.
    private(set) var timed: Set<String> = []
    private(set) var failed: Set<String> = []
    private(set) var isEnded = false

    init(_ records: [ResultRecord]) {
        for record in records { note(record) }
    }

    mutating func note(_ record: ResultRecord) {
        switch record {
        case .header, .conformance, .mutants: break
        case .check(let check): checked.insert(check.cell.id)
        case .memory(let memory): memorized.insert(memory.cellID)
        case .latency(let latency): latencied.insert(latency.cellID)
        case .time(let time): timed.insert("\(time.cellID) \(time.round)")
        case .failure(let failure): failed.insert(failure.cell.id)
        case .end: isEnded = true
        }
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
