import RandomAccess
import Results
import Statistics

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

    /// How far a sweep is.
    package struct Progress: Sendable {
        /// Processes that were run, or need not be.
        package var done: Int
        /// Processes in all.
        package var total: Int
        /// What comes next.
        package var step: String
    }

    /// Measures what is not measured yet.
    ///
    /// - Parameters:
    ///   - progress: Called before each process.
    ///   - shouldStop: Asked before each process; `true` leaves the rest for another time.
    /// - Returns: Whether everything is measured now.
    /// - Throws: `SweepError` if results cannot be written; a cell that fails is a result.
    package func run(
        progress: (Progress) -> Void, shouldStop: () -> Bool
    ) throws(SweepError) -> Bool {
        var state = SweepState(log.earlierRecords)
        let steps = steps
        for (index, step) in steps.enumerated() where !state.isEnded && isNeeded(step, state) {
            progress(Progress(done: index, total: steps.count, step: "\(step.pass) \(step.cell.id)"))
            if shouldStop() { return false }
            let record: ResultRecord?
            do throws(CellFailure) {
                record = try perform(step)
            } catch {
                if let cause = error.cause { throw .io(cause) }
                record = .failure(FailureRecord(cell: step.cell, reason: error.description))
            }
            if let record {
                try log.append(record)
                state.note(record)
            }
        }
        if !state.isEnded { try log.append(.end) }
        return true
    }

    /// One process to run.
    private struct Step {
        var pass: Pass
        var cell: Cell
    }

    private enum Pass: CustomStringConvertible {
        case check
        case memory
        case latencies
        case time(round: Int)

        var description: String {
            switch self {
            case .check: "check"
            case .memory: "memory"
            case .latencies: "latencies"
            case .time(let round): "round \(round + 1)"
            }
        }
    }

    /// Everything that the plan asks for, in order.
    private var steps: [Step] {
        var steps = plan.cells.map { Step(pass: .check, cell: $0.cell) }
        for (index, pass) in [Pass.memory, .latencies].enumerated() {
            steps += order(ofRound: -1 - index).map { Step(pass: pass, cell: $0.cell) }
        }
        for round in 0..<(plan.cells.map(\.rounds).max() ?? 0) {
            steps += order(ofRound: round).filter { round < $0.rounds }
                .map { Step(pass: .time(round: round), cell: $0.cell) }
        }
        return steps
    }

    private func isNeeded(_ step: Step, _ state: SweepState) -> Bool {
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
    private func perform(_ step: Step) throws(CellFailure) -> ResultRecord? {
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

    /// The cells in the order of one round, drawn from the plan's seed; rounds below 0 are the untimed passes.
    func order(ofRound round: Int) -> [PlannedCell] {
        var generator = SplitMix64(seed: plan.seed &+ UInt64(bitPattern: Int64(round)) &* 0x1_0000_0001)
        return plan.cells.shuffled(using: &generator)
    }
}
