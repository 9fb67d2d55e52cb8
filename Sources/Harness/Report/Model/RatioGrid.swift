import Results
import Statistics

/// The throughput of each cell of the main series over that of the best, with its interval.
struct RatioGrid: Sendable {
    /// The best cell.
    let best: CellSummary
    /// The backends, in the order of the report.
    let backends: [String]
    /// The windows that ratios were computed for, in ascending order.
    let windows: [UInt64]
    /// How many windows there are.
    let windowCount: Int

    private let ratios: [String: CellPair]

    /// More windows than this are not resampled: each ratio takes as long as two intervals.
    private static let maxWindows = 20

    /// Computes the ratios, or returns `nil` where fewer than two cells can be compared.
    init?(_ summary: RunSummary) {
        let grid = summary.grid
        guard let best = summary.best, summary.mainCells.count > 1 else { return nil }
        self.best = best
        backends = Array(grid.backends.prefix(RunSummary.maxLines))
        windows = Array(grid.windows.prefix(Self.maxWindows))
        windowCount = grid.windows.count
        var ratios: [String: CellPair] = [:]
        for backend in backends {
            for window in windows {
                guard let cell = grid[backend, window], cell.cell.id != best.cell.id,
                    let pair = CellPair(best, cell, seed: summary.results.header.seed)
                else { continue }
                ratios["\(backend) \(window)"] = pair
            }
        }
        self.ratios = ratios
    }

    /// The ratio of a cell to the best, or `nil` if it was not measured or is the best itself.
    subscript(backend: String, window: UInt64) -> CellPair? { ratios["\(backend) \(window)"] }

    /// Whether a cell is the best one.
    func isBest(_ backend: String, _ window: UInt64) -> Bool {
        best.cell.backend == backend && best.cell.windowByteCount == window
    }
}

extension CellPair {
    /// The interval in words, or why there is none.
    var intervalText: String {
        hasInterval ? "\(RatioText.times(ratio.low))–\(RatioText.times(ratio.high))" : "one process, no interval"
    }
}
