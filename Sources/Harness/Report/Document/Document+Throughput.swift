import Results

extension Document {
    /// Sequential throughput as pictures and a table, or `nil` if no sequential read was measured.
    static func throughput(_ summary: RunSummary) -> Section? {
        guard let chart = summary.throughputChart, let main = summary.main else { return nil }
        let heat = summary.heatMap.map { Block.chart($0.chart(), narrow: $0.narrowChart()) }
        return Section(
            name: "throughput", title: "Sequential throughput",
            blocks: [
                .paragraph("\(main.description), read from start to end. Plaintext bytes delivered per second."),
                .chart(chart.chart(), narrow: chart.chart(width: 420)), heat, .foldedTable(throughputTable(summary)),
            ].compactMap { $0 }
        )
    }

    private static func throughputTable(_ summary: RunSummary) -> Table {
        let grid = summary.grid
        let best = summary.best?.speed
        let rows = grid.windows.prefix(maxRows).map { window in
            [Table.Entry(ByteCountText.size(window))]
                + grid.backends.map { name in
                    guard let speed = grid[name, window]?.speed else { return .absent }
                    let tie = best.map { speed.ties(with: $0) } ?? false
                    let isBest = speed == best
                    return Table.Entry(
                        ByteCountText.rate(speed.bytesPerSecond) + (isBest ? " (best)" : tie ? " (ties)" : ""),
                        detail: speed.rangeText, emphasis: tie ? .good : .none)
                }
        }
        return Table(
            caption:
                "Median throughput with its 95 % interval by window. “ties”: the interval overlaps the best one's."
                + remark(grid.windows.count),
            columns: [.text("Window")] + grid.backends.map(Table.Column.number), rows: rows)
    }

    /// Every backend and window against the best as a picture and a table, or `nil` if there is nothing to compare.
    static func ratios(_ summary: RunSummary) -> Section? {
        guard let grid = RatioGrid(summary) else { return nil }
        let chart = grid.chart(style: summary.style)
        return Section(
            name: "ratios", title: "Against the best",
            blocks: [
                .chart(chart.chart(), narrow: chart.chart(width: 420)), .foldedTable(ratioTable(grid)),
            ])
    }

    private static func ratioTable(_ grid: RatioGrid) -> Table {
        let rows = grid.windows.map { window in
            [Table.Entry(ByteCountText.size(window))]
                + grid.backends.map { name in
                    if grid.isBest(name, window) { return Table.Entry("1× (the reference)", emphasis: .good) }
                    guard let pair = grid[name, window] else { return .absent }
                    let isUndecided = pair.relation == .undecided && pair.hasInterval
                    return Table.Entry(
                        RatioText.times(pair.ratio.ratio) + (isUndecided ? " (undecided)" : ""),
                        detail: pair.intervalText, emphasis: isUndecided ? .good : .none)
                }
        }
        return Table(
            caption: "Throughput over that of the best with its 95 % interval. “undecided”: the interval holds 1.",
            columns: [.text("Window")] + grid.backends.map(Table.Column.number), rows: rows)
    }
}
