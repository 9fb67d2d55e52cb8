import Results

extension Document {
    /// The cells without figures, with the reason, or `nil` if there are none.
    static func failures(_ summary: RunSummary) -> Section? {
        let cells = summary.cellsWithoutFigures
        guard !cells.isEmpty else { return nil }
        let table = Table(
            caption: "Cells without figures, and why." + remark(cells.count),
            columns: [.text("Cell"), .text("Status"), .text("Reason")],
            rows: cells.prefix(maxRows).map { cell in
                [
                    Table.Entry(cell.cell.id, detail: cell.cell.label),
                    Table.Entry(cell.status, emphasis: .bad),
                    Table.Entry(cell.missingReason ?? ""),
                ]
            })
        return Section(
            name: "failures", title: "Cells without figures",
            blocks: [.paragraph("No speed is shown for what failed or was not checked."), .table(table)])
    }

    /// More cells than these make a page slow, folded or not.
    private static let maxCells = 1000

    /// Every cell, or `nil` if there are none.
    static func allCells(_ summary: RunSummary) -> Section? {
        guard !summary.cells.isEmpty else { return nil }
        let table = Table(
            caption: "All \(RatioText.count(summary.cells.count, "cell")) in the order of the results."
                + (summary.cells.count > maxCells
                    ? " The first \(SignificantDigits.grouped(UInt64(maxCells))) are shown; results.csv has all."
                    : ""),
            columns: [
                .text("Cell"), .number("Throughput"), .number("Share of limit"), .number("Rounds (samples)"),
                .number("Median read"),
                .number("Fetched"), .number("Memory growth"),
            ],
            rows: summary.cells.prefix(maxCells).map(row))
        return Section(
            name: "cells", title: "All cells",
            blocks: [.foldedTable(table), .paragraph("results.csv and results.json hold these and the raw samples.")])
    }

    private static func row(_ summary: CellSummary) -> [Table.Entry] {
        let throughput = summary.speed.map {
            Table.Entry(
                ByteCountText.rate($0.bytesPerSecond),
                detail: $0.rangeText)
        }
        let samples = summary.rounds.reduce(0) { $0 + $1.count }
        return [
            Table.Entry(summary.cell.id, detail: summary.cell.label),
            throughput ?? Table.Entry(summary.status, emphasis: .bad),
            summary.limit.map { Table.Entry(RatioText.percent($0.share), detail: $0.kind.text) } ?? .absent,
            samples == 0 ? .absent : Table.Entry("\(summary.rounds.count) (\(samples))"),
            duration(summary.latency?.p50),
            summary.amplification.map { Table.Entry(RatioText.times($0.fetched)) } ?? .absent,
            summary.memory.map { Table.Entry(ByteCountText.growth($0.growthByteCount)) } ?? .absent,
        ]
    }
}
