import Results

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

    /// Gathers the cells; of several with the same backend and window, the first.
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

    /// The cells of a backend in ascending order of window.
    func cells(of backend: String) -> [CellSummary] {
        windows.compactMap { self[backend, $0] }
    }
}
