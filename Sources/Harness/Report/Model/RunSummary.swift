import Results

/// A run with its cells summed up: what every part of a report is computed from.
struct RunSummary: Sendable {
    /// The results themselves.
    let results: RunResults
    /// The cells in the order of the results.
    let cells: [CellSummary]
    /// The names of all backends: those of the header in its order, then others in the order of the cells.
    let backends: [String]
    /// What the sequential cells that are compared share, or `nil` if no ordinary sequential cell was measured.
    let main: Series?
    /// The cells of the main series that have a speed.
    let mainCells: [CellSummary]

    /// The same by backend and window.
    let grid: MainGrid

    /// Sums up results.
    init(_ results: RunResults) {
        self.results = results
        let cells = CellSummary.all(of: results)
        self.cells = cells
        var names: [String] = []
        var known: Set<String> = []
        for name in results.header.backends.map(\.name) + results.cells.map(\.cell.backend)
        where known.insert(name).inserted {
            names.append(name)
        }
        backends = names
        let candidates = cells.filter { $0.speed != nil && $0.cell.label == nil && $0.cell.workload == "sequential" }
        let main = Self.largestSeries(in: candidates.filter { $0.cell.isLocal })
        self.main = main
        mainCells = candidates.filter { Series($0.cell) == main }
        grid = MainGrid(mainCells, backends: names)
    }

    /// The cells that reproduce something that was published, in the order of the results.
    var labelledCells: [CellSummary] { cells.filter { $0.cell.label != nil } }

    /// The cells without trusted figures.
    var cellsWithoutFigures: [CellSummary] { cells.filter { $0.missingReason != nil } }

    /// The cell of the main series with the greatest median throughput; of equals the one with the smallest window.
    var best: CellSummary? { Self.fastest(in: mainCells) }

    /// Returns the fastest of some cells; of equals the one with the smallest window, then the first.
    static func fastest(in cells: [CellSummary]) -> CellSummary? {
        var best: CellSummary?
        for cell in cells {
            guard let speed = cell.speed else { continue }
            guard let current = best, let currentSpeed = current.speed else {
                best = cell
                continue
            }
            let isFaster = speed.bytesPerSecond > currentSpeed.bytesPerSecond
            let isEqual = speed.bytesPerSecond == currentSpeed.bytesPerSecond
            if isFaster || (isEqual && cell.cell.windowByteCount < current.cell.windowByteCount) { best = cell }
        }
        return best
    }

    /// Returns the cell with the smallest window of those whose intervals overlap the fastest one's.
    static func smallestTie(in cells: [CellSummary]) -> CellSummary? {
        guard let fastest = fastest(in: cells), let speed = fastest.speed else { return nil }
        return cells.filter { $0.speed?.ties(with: speed) ?? false }
            .min { $0.cell.windowByteCount < $1.cell.windowByteCount }
    }

    /// Returns the series with the most cells that have a speed; of equals the larger object, then the first.
    private static func largestSeries(in cells: [CellSummary]) -> Series? {
        var order: [Series] = []
        var counts: [Series: Int] = [:]
        for cell in cells where cell.speed != nil {
            let series = Series(cell.cell)
            if counts[series] == nil { order.append(series) }
            counts[series, default: 0] += 1
        }
        var best: Series?
        for series in order {
            guard let current = best else {
                best = series
                continue
            }
            let (count, maximum) = (counts[series] ?? 0, counts[current] ?? 0)
            if count > maximum || (count == maximum && series.objectByteCount > current.objectByteCount) {
                best = series
            }
        }
        return best
    }
}
