import Results

/// A run with its cells summarized; every part of a report is computed from it.
struct RunSummary: Sendable {
    /// The name that the user gave the run, such as its file's path; empty if there is no other run.
    let name: String
    /// The results without their cells, which nothing needs besides the summaries.
    let results: RunResults
    /// The cells in the order of the results.
    let cells: [CellSummary]
    /// The names of all backends: those of the header in its order, then others in the order of the cells.
    let backends: [String]
    /// The main series: the members shared by the sequential cells that are compared, local cells preferred; `nil` if
    /// no ordinary sequential cell was measured.
    let main: Series?
    /// The cells of the main series that have a speed.
    let mainCells: [CellSummary]

    let grid: MainGrid

    init(_ results: RunResults, named name: String = "") {
        self.name = name
        var rest = results
        rest.cells = []
        self.results = rest
        let cells = CellSummary.all(of: results)
        self.cells = cells
        backends = (results.header.backends.map(\.name) + results.cells.map(\.cell.backend)).unique
        let candidates = cells.filter { $0.speed != nil && $0.cell.label == nil && $0.cell.workload == "sequential" }
        // Cells in a CPU cache or behind a network are used only if there are no others.
        let local = candidates.filter { $0.cell.isLocal }
        let main =
            Self.largestSeries(in: local.filter { !$0.isInCache }) ?? Self.largestSeries(in: local)
            ?? Self.largestSeries(in: candidates)
        self.main = main
        mainCells = candidates.filter { Series($0.cell) == main }
        grid = MainGrid(mainCells, backends: backends)
    }

    /// The cells that reproduce published configurations, in the order of the results.
    var labelledCells: [CellSummary] { cells.filter { $0.cell.label != nil } }

    var cellsWithoutFigures: [CellSummary] { cells.filter { $0.missingReason != nil } }

    /// The cell of the main series with the highest median throughput; of equal ones, the one with the smallest window.
    var best: CellSummary? { Self.fastest(in: mainCells) }

    /// Returns the fastest of some cells; of equal ones, the one with the smallest window, then the first.
    static func fastest(in cells: [CellSummary]) -> CellSummary? {
        cells.filter { $0.speed != nil }.max { one, other in
            (one.speed?.bytesPerSecond ?? 0, other.cell.windowByteCount)
                < (other.speed?.bytesPerSecond ?? 0, one.cell.windowByteCount)
        }
    }

    /// Returns the series with the most cells that have a speed; of equal ones, the one with the larger object, then
    /// the first.
    private static func largestSeries(in cells: [CellSummary]) -> Series? {
        cells.filter { $0.speed != nil }.grouped { Series($0.cell) }.max { one, other in
            (one.elements.count, one.key.objectByteCount) < (other.elements.count, other.key.objectByteCount)
        }?.key
    }

    /// The parts of the result file that are not in the report, in sentences.
    var omittedTexts: [String] { results.omitted.texts }
}

extension RunResults.OmittedRecords {
    /// The parts left out, in sentences; empty if nothing is left out.
    var texts: [String] {
        var texts: [String] = []
        if cutByteCount > 0 {
            texts.append(
                "The result file ends in the middle of a record: its last "
                    + RatioText.count(cutByteCount, "byte") + " are left out. All whole records before are "
                    + "reported.")
        }
        if orphanRecordCount > 0 {
            texts.append(
                RatioText.count(orphanRecordCount, "record") + " of cells that no check announced "
                    + (orphanRecordCount == 1 ? "is" : "are") + " left out.")
        }
        if repeatedRecordCount > 0 {
            texts.append(
                RatioText.count(repeatedRecordCount, "record") + " of what an earlier one had said already "
                    + (repeatedRecordCount == 1 ? "is" : "are") + " left out.")
        }
        return texts
    }
}

/// The members that cells must share so that a line through them compares only windows and backends: all members except
/// these two, the label and the number of reads.
@dynamicMemberLookup
struct Series: Hashable, Sendable {
    /// A cell whose members that may vary within a series are blank.
    let cell: Cell

    init(_ cell: Cell) {
        self.cell = cell.blanked
    }

    subscript<Value>(dynamicMember member: KeyPath<Cell, Value>) -> Value { cell[keyPath: member] }

    /// The members in words: `AES-128 cbc-continuous, 256 MiB file, 1 thread`.
    var description: String {
        [
            "\(cell.keyName) \(cell.strategy)",
            "\(ByteCountText.size(cell.objectByteCount)) \(origin)",
            cell.access == .block ? nil : "access \(cell.access)",
            RatioText.count(cell.threads, "thread"), cell.isCold == true ? "not in the page cache" : nil, remote,
        ].compactMap { $0 }.joined(separator: ", ")
    }

    private var origin: String {
        switch cell.source {
        case "generated": "generated object"
        case "mmap": "in a mapped file"
        case "direct": "in a file read past the page cache"
        case "uring": "in a file read past the page cache by io_uring"
        case "http", "https": "over \(cell.sourceName)"
        default: "in \(cell.source)"
        }
    }

    /// The simulated store in words, or `nil` without one.
    var remote: String? {
        guard let latency = cell.remoteLatencyNanoseconds else { return nil }
        let rate = cell.remoteBytesPerSecond.map { " and " + ByteCountText.rate($0) } ?? ""
        let client = cell.remoteClient.map { ", client \($0)" } ?? ""
        return "behind " + DurationText.text(nanoseconds: latency) + rate + client
    }
}

extension Cell {
    /// The cell without backend, window, number of reads and label, which is the same for all cells of its series.
    var blanked: Cell {
        var cell = self
        cell.backend = ""
        cell.windowByteCount = 0
        cell.readCount = nil
        cell.label = nil
        cell.isCold = isCold == true
        return cell
    }
}

/// The cells of the main series by backend and window.
struct MainGrid: Sendable {
    /// The backends that have a cell, in the order of the report.
    let backends: [String]
    /// The windows in ascending order.
    let windows: [UInt64]

    private let cells: [Key: CellSummary]

    private struct Key: Hashable {
        var backend: String
        var window: UInt64
    }

    /// Gathers the cells. Of several cells with the same backend and window, the first is kept.
    ///
    /// - Parameters:
    ///   - main: The cells of the main series.
    ///   - order: All backends, in the order of the report.
    init(_ main: [CellSummary], backends order: [String]) {
        var cells: [Key: CellSummary] = [:]
        for cell in main {
            let key = Key(backend: cell.cell.backend, window: cell.cell.windowByteCount)
            if cells[key] == nil { cells[key] = cell }
        }
        self.cells = cells
        let names = Set(main.map(\.cell.backend))
        backends = order.filter(names.contains)
        windows = Set(main.map(\.cell.windowByteCount)).sorted()
    }

    /// Returns a cell, or `nil` if it was not measured.
    subscript(backend: String, window: UInt64) -> CellSummary? {
        cells[Key(backend: backend, window: window)]
    }

    /// The cells in ascending order of window.
    var all: [CellSummary] { windows.flatMap { window in backends.compactMap { self[$0, window] } } }

    /// The cells of a backend in ascending order of window.
    func cells(of backend: String) -> [CellSummary] {
        windows.compactMap { self[backend, $0] }
    }
}
