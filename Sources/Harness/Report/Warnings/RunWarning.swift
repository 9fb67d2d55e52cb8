/// What may be wrong with a run's figures; each case has its advice.
enum RunWarning: Hashable, Sendable {
    /// The result file has no end.
    case incomplete
    /// What stands in the result file and is not reported, in sentences.
    case leftOut([String])
    /// Nothing was measured.
    case noCells
    /// Nothing that was measured can be trusted.
    case noTrustedFigures
    /// Cells without figures, of all.
    case failedCells(count: Int, of: Int)
    /// Cells whose intervals are wide, of those that have any, and the widest of these.
    case wideIntervals(count: Int, of: Int, widest: Double, cell: String)
    /// Cells whose warm-up did not become steady in most of their rounds, of those that were timed.
    case unsteadyWarmUps(count: Int, of: Int)
    /// Cells that one process only was timed for.
    case oneProcess(count: Int, of: Int)
    /// The most rounds of any cell, where that is few.
    case fewRounds(Int)
    /// Cells whose CPU was given to another thread often, of those that say.
    case busyCPUs(count: Int, of: Int)
    /// Cells that are faster than the machine's limit, and the largest share.
    case aboveLimit(count: Int, largestShare: Double)
    /// The machine's limits were not measured.
    case noLimits
    /// Cycles and instructions were not counted.
    case noCounters
    /// Peak memory is missing where figures were measured.
    case noMemory(count: Int, of: Int)
    /// The kernel's setting for transparent huge pages.
    case hugePages(String?)
    /// The CPU's frequency governor.
    case governor(String)
    /// Whether the CPU raises its frequency is unknown, or it does.
    case turbo(isKnown: Bool)
    /// Cold cells of whose file the kernel kept something in memory, and the most that it kept.
    case warmedFile(count: Int, byteCount: UInt64)
    /// Checks of TLS that were given up, by their options, and the cells of which this is true.
    case looseTLS([String], count: Int)
    /// No vectors were run.
    case notVerified
    /// Planted faults that no vector of their class noticed.
    case survivors([String])
    /// Readers without a fault that failed the same vectors.
    case failedControls([String])
}
