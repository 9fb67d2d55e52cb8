package import Results

/// All that a gate found.
package struct GateResult: Codable, Hashable, Sendable {
    /// The version of the format.
    package static let currentSchema = "chunkwise-gate-1"

    /// The schema of this record.
    package var schema = currentSchema
    /// The version of `chunkwise` that measured.
    package var programVersion: String
    /// The command line that repeats the run, its seed included.
    package var command: [String]
    /// When the run started, in ISO 8601.
    package var startedAt: String
    /// The machine.
    package var host: RunHeader.Host
    /// What was compared with.
    package var baseline: GateSide
    /// What was judged.
    package var candidate: GateSide
    /// How much slower the candidate may be: 0.02 for 2 %.
    package var tolerance: Double
    /// How often all intervals of a phase together hold the truth, at least.
    package var confidence: Double
    /// How long a cell could be measured, in seconds.
    package var secondsPerCell: Double
    /// The seed.
    package var seed: UInt64
    /// The verdict on everything.
    package var verdict: GateVerdict
    /// Why, where the cells do not say it.
    package var reason: String?
    /// The cells that were compared.
    package var cells: [GateCell]
    /// The baseline against a second copy of itself; `nil` if nothing was timed.
    package var control: GateCell?
    /// The cells that were not compared, since a side does not support them.
    package var notCompared: [NotCompared]
    /// Peak memory, where it was asked for.
    package var memory: GateMemory?
    /// How long the run took, in seconds.
    package var seconds: Double

    /// A cell that was left out.
    package struct NotCompared: Codable, Hashable, Sendable {
        /// The cell's name.
        package var name: String
        /// Why.
        package var reason: String
    }

    /// The number of cells that were compared.
    package var comparisonCount: Int { cells.count }

    /// Whether its ratios may be kept: something was compared, all of it right, on a host that was fit.
    package var isFitToRecord: Bool { !cells.isEmpty && ![.wrong, .noisyHost].contains(verdict) }

    /// Takes back what was said of timed cells: two copies of the baseline differ, as `movement` says, so that nobody
    /// is blamed. What is wrong stays wrong, and what was not timed what it is.
    package mutating func blameHost(_ movement: String) {
        for index in cells.indices where cells[index].verdict != .wrong && !cells[index].phases.isEmpty {
            cells[index].reason = "\(movement); by itself the cell is \(cells[index].verdict.rawValue)"
            cells[index].verdict = .noisyHost
        }
    }

    /// Takes back what was called slower beside a control that cannot say whether it moved, or failed: blame needs a host
    /// that is known to be fit.
    mutating func doubt(_ control: GateCell) {
        guard [.inconclusive, .wrong].contains(control.verdict) else { return }
        for index in cells.indices where cells[index].verdict == .slower {
            cells[index].verdict = .inconclusive
            cells[index].reason = "by itself it is slower; of the control, \(control.reason ?? "nothing is known")"
        }
    }

    /// Whether the candidate passes.
    ///
    /// - Parameter allowsInconclusive: Whether one that nothing can be said of passes.
    /// - Returns: The answer.
    package func answer(allowsInconclusive: Bool) -> GateAnswer {
        if verdict == .wrong { return .no }
        guard !cells.isEmpty, verdict != .noisyHost else { return memory?.verdict == .grew ? .no : .none }
        if verdict == .slower || memory?.verdict == .grew { return .no }
        if verdict == .inconclusive || memory?.verdict == .inconclusive { return allowsInconclusive ? .yes : .none }
        return .yes
    }
}
