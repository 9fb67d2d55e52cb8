package import Results
import Statistics

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
