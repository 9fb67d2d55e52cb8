import Results

extension Document {
    /// The cells without figures, with the reason, or `nil` if there are none.
    static func failures(_ summary: RunSummary) -> Section? {
        let cells = summary.cellsWithoutFigures
        guard !cells.isEmpty else { return nil }
        let table = Table("Cells without figures, and why.", of: cells, [.cell, .status, .failure])
        return Section(
            name: "failures", title: "Cells without figures",
            blocks: [
                .paragraph("No speed is shown for what failed, was not checked, or was not timed yet."), .table(table),
            ])
    }

    /// Returns the same for several runs or hosts, with the name of each cell's owner.
    static func failures(_ cells: [(owner: String, cell: CellSummary)], owners: String) -> Section? {
        guard !cells.isEmpty else { return nil }
        let figures: [Figure] = [.cell.plain, .status, .failure]
        let table = Table(
            caption: "Cells without figures, and why.", columns: [.text(owners)] + figures.columns,
            rows: cells.prefix(maxCells).map { owner, cell in [Table.Entry(owner)] + figures.entries(cell) })
        return Section(name: "failures", title: "Cells without figures", blocks: [.table(table)])
    }

    /// Returns a table with one row per cell, folded if it is long, with the parts that all cells share and the number
    /// of cells left out.
    static func cellBlocks(_ table: Table, shared: String, cellCount: Int) -> [Block] {
        let omission = "\(table.rows.count) of \(cellCount) cells are shown; results.csv has all."
        return (shared.isEmpty ? [] : [.paragraph("All cells: \(shared)")])
            + [table.rows.count > 60 ? .foldedTable(table) : .table(table)]
            + (cellCount > table.rows.count ? [.paragraph(omission)] : [])
    }

    /// More cells than this make a page slow, folded or not.
    static let maxCells = 1000

    /// Every cell, or `nil` if there are none.
    static func allCells(_ summary: RunSummary) -> Section? {
        guard !summary.cells.isEmpty else { return nil }
        let table = Table(
            "All \(RatioText.count(summary.cells.count, "cell")) in the order of the results.", of: summary.cells,
            [
                .cell, .throughput, .limitShare, .rounds, .latency.plain.titled("Median read"), .workingSet,
                .requests.titled("Requests"), .fetched.titled("Fetched"), .growth,
            ], maxRows: maxCells)
        return Section(
            name: "cells", title: "All cells",
            blocks: [.foldedTable(table), .paragraph("results.csv and results.json hold these and the raw samples.")])
    }

    /// The machine's resources that the cells used beside time, or `nil` if no cell records them.
    static func usage(_ summary: RunSummary) -> Section? {
        let measured = summary.cells.filter { $0.usage != nil || $0.residentByteCount != nil }
        guard !measured.isEmpty else { return nil }
        let hasCounters = measured.contains { $0.usage?.cycles != nil || $0.usage?.instructions != nil }
        let hasCold = measured.contains { $0.residentByteCount != nil }
        let table = Table(
            "What all timed iterations of each cell used together, over all its processes.", of: measured,
            [.cell] + [Figure].shown(in: .usage).known(of: measured))
        let introduction = Block.paragraph(
            "Forced switches gave a thread's CPU to another one: many of them mean that something else ran. "
                + (hasCounters
                    ? "Cycles and instructions are those outside of the kernel."
                    : "Cycles and instructions could not be counted on this machine.")
                + (hasCold
                    ? " “Still in memory” is how much of a file that should have been cold the page cache kept."
                    : ""))
        return Section(name: "usage", title: "Use of the machine", blocks: [introduction, .foldedTable(table)])
    }
}
