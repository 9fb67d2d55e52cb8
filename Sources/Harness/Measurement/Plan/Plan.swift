package import Results

/// What a sweep measures.
package struct Plan: Sendable {
    /// The plan's text as it stands in the file, to be kept with the results.
    package var text: String
    /// What the order of the cells and the random reads are drawn from.
    package var seed: UInt64
    /// How long each round of a cell is timed at least, one iteration in any case.
    package var roundNanoseconds: UInt64
    /// The cells, each once, in the order of the plan.
    package var cells: [PlannedCell]
    /// The traces that cells replay, by their names.
    package var traces: [String: PlayerTrace]
    /// The rate at which a player plays what its trace asks for.
    package var bitsPerSecond = PlayerTrace.usualBitsPerSecond

    /// Creates a plan.
    package init(
        text: String, seed: UInt64, roundNanoseconds: UInt64, cells: [PlannedCell], traces: [String: PlayerTrace] = [:]
    ) {
        self.text = text
        self.seed = seed
        self.roundNanoseconds = roundNanoseconds
        self.cells = cells
        self.traces = traces
    }
}

/// A cell, and how often it is timed.
package struct PlannedCell: Hashable, Sendable {
    /// The configuration.
    package var cell: Cell
    /// The number of rounds, a fresh process each.
    package var rounds: Int
    /// The line of the plan that says how long the object is, counted from 1; `nil` without a plan.
    package var objectLine: Int?

    /// Creates a planned cell.
    package init(cell: Cell, rounds: Int, objectLine: Int? = nil) {
        self.cell = cell
        self.rounds = rounds
        self.objectLine = objectLine
    }
}
