package import Results

/// What a gate found of one cell, or of its control.
package struct GateCell: Codable, Hashable, Sendable {
    /// The cell in words; no two cells of a run have the same.
    package var name: String
    /// The configuration.
    package var cell: Cell
    /// The verdict.
    package var verdict: GateVerdict
    /// Why, where the figures alone do not say it.
    package var reason: String?
    /// The candidate's time over the baseline's; `nil` if nothing was timed.
    package var slowdown: Double?
    /// The lower end of its interval; `nil` if there is none.
    package var low: Double?
    /// The upper end; `nil` if there is none.
    package var high: Double?
    /// How long the cell was measured, in all phases, in seconds.
    package var seconds: Double
    /// For an inconclusive cell, the seconds a cell (`--seconds`) that would settle it; `nil` where no time would.
    package var secondsToSettle: Double?
    /// What the ratio was compared with, where the baseline's were stored.
    package var stored: StoredRatios.Ratio?
    /// The phases: the measurement, and the confirmation if there was one.
    package var phases: [GatePhase]

    /// Creates a cell of which nothing is known yet.
    package init(name: String, cell: Cell, verdict: GateVerdict = .inconclusive, reason: String? = nil) {
        self.name = name
        self.cell = cell
        self.verdict = verdict
        self.reason = reason
        self.seconds = 0
        self.phases = []
    }

    /// The blocks of all phases.
    package var blockCount: Int { phases.reduce(0) { $0 + $1.blocks.count } }
}

/// The blocks of a cell in one phase of a run, and what was seen when they were looked at.
package struct GatePhase: Codable, Hashable, Sendable {
    /// The seed of the phase.
    package var seed: UInt64
    /// The most blocks that were planned.
    package var plannedBlockCount: Int
    /// The looks, in their order.
    package var looks: [Look]
    /// The blocks, in their order.
    package var blocks: [GateBlock]
    /// How long they took, in seconds.
    package var seconds: Double

    /// Creates a phase without blocks.
    package init(seed: UInt64) {
        self.seed = seed
        plannedBlockCount = 0
        looks = []
        blocks = []
        seconds = 0
    }

    /// A planned look at the data.
    package struct Look: Codable, Hashable, Sendable {
        /// The blocks that there were.
        package var blockCount: Int
        /// The probability with which each end of the interval may miss the truth.
        package var alpha: Double
        /// The candidate's time over the baseline's.
        package var slowdown: Double
        /// The lower end; `nil` where there are too few blocks.
        package var low: Double?
        /// The upper end; `nil` where there are too few blocks.
        package var high: Double?
        /// What the rule says.
        package var verdict: GateVerdict
    }
}
