import Results

extension Document {
    /// Sequential throughput as a picture and a table, or `nil` if no sequential read was measured.
    static func throughput(_ summary: RunSummary) -> Section? {
        guard let chart = summary.throughputChart, let main = summary.main else { return nil }
        return Section(
            name: "throughput", title: "Sequential throughput",
            blocks: [
                .paragraph("\(main.description), read from start to end. Plaintext bytes delivered per second."),
                .chart(chart.chart(), narrow: chart.chart(width: 420)),
                .table(throughputTable(summary)),
            ] + otherSeries(summary)
        )
    }

    private static func throughputTable(_ summary: RunSummary) -> Table {
        let backends = measuredBackends(summary)
        let best = summary.best?.speed
        let rows = windows(summary).map { window in
            [Table.Entry(ByteCountText.size(window))]
                + backends.map { name in
                    guard let speed = mainCell(summary, backend: name, window: window)?.speed else { return .absent }
                    let range = speed.rangeText
                    let tie = best.map { speed.ties(with: $0) } ?? false
                    let isBest = speed == best
                    return Table.Entry(
                        ByteCountText.rate(speed.bytesPerSecond) + (isBest ? " (best)" : tie ? " (ties)" : ""),
                        detail: range, emphasis: tie ? .good : .none)
                }
        }
        return Table(
            caption:
                "Median throughput with its 95 % interval by window. “ties”: the interval overlaps the best one's.",
            columns: [.text("Window")] + backends.map(Table.Column.number), rows: rows)
    }

    /// Returns the best of each backend in every sequential series but the main one, which a claim about the main one
    /// does not cover; nothing if there is none.
    private static func otherSeries(_ summary: RunSummary) -> [Block] {
        let cells = summary.cells.filter {
            $0.speed != nil && $0.cell.label == nil && $0.cell.workload == "sequential"
                && Series($0.cell) != summary.main
        }
        var order: [Series] = []
        for cell in cells where !order.contains(Series(cell.cell)) { order.append(Series(cell.cell)) }
        let rows = order.flatMap { series in
            summary.backends.compactMap { name -> [Table.Entry]? in
                let candidates = cells.filter { $0.cell.backend == name && Series($0.cell) == series }
                guard let best = RunSummary.fastest(in: candidates), let speed = best.speed else { return nil }
                return [
                    Table.Entry(series.description), Table.Entry(name),
                    Table.Entry(ByteCountText.size(best.cell.windowByteCount)),
                    Table.Entry(
                        ByteCountText.rate(speed.bytesPerSecond),
                        detail: speed.rangeText),
                ]
            }
        }
        guard !rows.isEmpty else { return [] }
        let caption = "Other sequential reads: the best window of each backend."
        return [
            .table(
                Table(
                    caption: caption,
                    columns: [.text("Read"), .text("Backend"), .number("Best window"), .number("Throughput")],
                    rows: rows))
        ]
    }

    /// Returns the windows of the main series in ascending order.
    static func windows(_ summary: RunSummary) -> [UInt64] {
        Set(summary.mainCells.map(\.cell.windowByteCount)).sorted()
    }

    /// Returns the backends of the main series in report order.
    static func measuredBackends(_ summary: RunSummary) -> [String] {
        summary.backends.filter { name in summary.mainCells.contains { $0.cell.backend == name } }
    }

    /// Returns a cell of the main series.
    static func mainCell(_ summary: RunSummary, backend: String, window: UInt64) -> CellSummary? {
        summary.mainCells.first { $0.cell.backend == backend && $0.cell.windowByteCount == window }
    }
}
