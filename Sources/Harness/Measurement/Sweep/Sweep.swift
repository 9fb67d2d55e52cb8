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
