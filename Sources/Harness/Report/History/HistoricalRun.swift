package import Results
import Statistics

/// A run as a history needs it: who measured when, and how fast each cell was.
///
/// Medians only: the raw samples of hundreds of runs have no place in memory, and intervals of single runs are not what a
/// change over many runs is judged by.
package struct HistoricalRun: Sendable {
    /// The path of the result file as it is shown, such as `2026-11-21-host/results.jsonl`.
    package var path: String
    /// Where a page links to for this run, not encoded yet.
    package var link: String
    /// What is true of the whole run.
    package var header: RunHeader
    /// Whether the run came to its end.
    package var isComplete: Bool
    /// The cells with trusted figures, in the order of the results.
    package var cells: [CellRate]

    /// A cell's throughput in one run.
    package struct CellRate: Sendable {
        /// The configuration.
        package var cell: Cell
        /// The cell's `id`.
        package var id: String
        /// Plaintext bytes per second at the median time; above 0.
        package var bytesPerSecond: Double
    }

    /// Creates a run from figures.
    package init(path: String, link: String, header: RunHeader, isComplete: Bool, cells: [CellRate]) {
        self.path = path
        self.link = link
        self.header = header
        self.isComplete = isComplete
        self.cells = cells
    }

    /// Takes from results what a history needs. Cells that failed, that nobody checked, or whose backend failed a vector
    /// have no figures.
    package init(_ results: RunResults, path: String, link: String) {
        let wrong = Set(results.conformance.filter { $0.failed > 0 }.map(\.subject))
        let cells = results.cells.compactMap { result -> CellRate? in
            guard result.failure == nil, let check = result.check, !wrong.contains(result.cell.backend),
                let time = median(of: Array(result.rounds.joined())), time >= 1, check.deliveredByteCount > 0
            else { return nil }
            let rate = Double(check.deliveredByteCount) / time * 1e9
            return CellRate(cell: result.cell, id: result.cell.id, bytesPerSecond: rate)
        }
        self.init(path: path, link: link, header: results.header, isComplete: results.isComplete, cells: cells)
    }
}

/// A file of a history's folder that could not be read, and why.
package struct SkippedFile: Hashable, Sendable {
    /// The path as it is shown.
    package var path: String
    /// What is wrong with the file.
    package var reason: String

    /// Creates a skipped file.
    package init(path: String, reason: String) {
        self.path = path
        self.reason = reason
    }
}
