import Results

extension Document {
    /// Peak memory as a picture and a table, or `nil` if none was measured.
    static func memory(_ summary: RunSummary) -> Section? {
        guard let chart = summary.memoryChart else { return nil }
        return Section(
            name: "memory", title: "Memory",
            blocks: [
                .paragraph(
                    "How far the process's resident memory rose while it read, in a pass of its own in a fresh process. "
                        + "A reader that works in place needs one window; what lies above that line is overhead."),
                .chart(chart.chart(), narrow: chart.chart(width: 420)),
                .foldedTable(memoryTable(summary)),
            ]
        )
    }

    private static func memoryTable(_ summary: RunSummary) -> Table {
        let grid = summary.grid
        let rows = grid.windows.prefix(maxRows).map { window in
            [Table.Entry(ByteCountText.size(window))]
                + grid.backends.map { name in
                    guard let memory = grid[name, window]?.memory else { return .absent }
                    let bound = memory.boundByteCount.map { "bound \(ByteCountText.measured($0))" }
                    let isExceeded =
                        memory.boundByteCount.map {
                            // The kernel's counters are no more exact than that.
                            memory.growthByteCount > $0 + (256 << 10)
                        } ?? false
                    return Table.Entry(
                        ByteCountText.growth(memory.growthByteCount) + (isExceeded ? " (exceeds)" : ""), detail: bound,
                        emphasis: isExceeded ? .bad : .none)
                }
        }
        return Table(
            caption: "Peak minus baseline by window, and what the reader says its buffers need at most."
                + remark(grid.windows.count),
            columns: [.text("Window")] + grid.backends.map(Table.Column.number), rows: rows)
    }
}
