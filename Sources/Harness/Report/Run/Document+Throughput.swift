import Results

extension Document {
    /// Sequential throughput as pictures and a table, or `nil` if no sequential read was measured.
    static func throughput(_ summary: RunSummary) -> Section? {
        guard let chart = summary.throughputChart, let main = summary.main else { return nil }
        let heat = summary.heatMap.map(Block.picture)
        return Section(
            name: "throughput", title: "Sequential throughput",
            blocks: [
                .paragraph("\(main.description), read from start to end. Plaintext bytes delivered per second."),
                .picture(chart), heat, .foldedTable(throughputTable(summary)),
            ].compactMap { $0 }
        )
    }

    private static func throughputTable(_ summary: RunSummary) -> Table {
        let grid = summary.grid
        let best = summary.best
        let rows = grid.windows.prefix(maxRows).map { window in
            [Table.Entry(ByteCountText.size(window))]
                + grid.backends.map { name in
                    guard let cell = grid[name, window], let speed = cell.speed else { return .absent }
                    let isBest = cell.cell.id == best?.cell.id
                    let tie = isBest || best.flatMap { SpeedRatio(of: cell, over: $0)?.isTie } ?? false
                    return Table.Entry(
                        ByteCountText.rate(speed.bytesPerSecond) + (isBest ? " (best)" : tie ? " (ties)" : ""),
                        detail: speed.rangeText, emphasis: tie ? .good : .none)
                }
        }
        return Table(
            caption:
                "Throughput with its 95 % interval by window. “ties”: the 95 % interval of its ratio to the best holds "
                + "1."
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
                .picture(chart), .foldedTable(ratioTable(grid)),
            ])
    }

    private static func ratioTable(_ grid: RatioGrid) -> Table {
        let rows = grid.windows.map { window in
            [Table.Entry(ByteCountText.size(window))]
                + grid.backends.map { name in
                    if grid.isBest(name, window) { return Table.Entry("1× (the reference)", emphasis: .good) }
                    guard let pair = grid[name, window] else { return .absent }
                    let isUndecided = pair.ratio.isTie
                    return Table.Entry(
                        RatioText.times(pair.ratio.ratio) + (isUndecided ? " (undecided)" : ""),
                        detail: pair.intervalText, emphasis: isUndecided ? .good : .none)
                }
        }
        return Table(
            caption: "Throughput over that of the best with its 95 % interval. “undecided”: the interval holds 1.",
            columns: [.text("Window")] + grid.backends.map(Table.Column.number), rows: rows)
    }

    /// The best cell of each backend in every sequential series except the main one, which claims about the main series
    /// do not cover; `nil` if there is none.
    static func otherSeries(_ summary: RunSummary) -> Section? {
        let cells = summary.cells.filter {
            $0.speed != nil && $0.cell.label == nil && $0.cell.workload == "sequential"
                && Series($0.cell) != summary.main
        }
        let rows = cells.grouped { Series($0.cell) }.flatMap { series, cells in
            summary.backends.compactMap { name -> [Table.Entry]? in
                let candidates = cells.filter { $0.cell.backend == name }
                guard let best = RunSummary.fastest(in: candidates), let speed = best.speed else { return nil }
                return [
                    Table.Entry(series.description), Table.Entry(name),
                    Table.Entry(ByteCountText.size(best.cell.windowByteCount)),
                    Table.Entry(ByteCountText.rate(speed.bytesPerSecond), detail: speed.rangeText),
                ]
            }
        }
        guard !rows.isEmpty else { return nil }
        let table = Table(
            caption: "Other sequential reads: the best window of each backend.",
            columns: [.text("Read"), .text("Backend"), .number("Best window"), .number("Throughput")], rows: rows)
        return Section(name: "other-reads", title: "Other sequential reads", blocks: [.table(table)])
    }

    /// Published configurations beside better ones, or `nil` if no published one was measured.
    static func published(_ summary: RunSummary) -> Section? {
        guard !summary.comparisons.isEmpty else { return nil }
        return Section(
            name: "published", title: "Configurations as published",
            blocks: [
                .paragraph(
                    "Each published configuration, with correct arithmetic, beside one of the same backend and "
                        + "workload that reads only the blocks it needs: of the windows that tie with the fastest the "
                        + "smallest, and for random reads the one with the lowest median latency."),
                .table(
                    Table(
                        caption: "Published configurations and their alternatives.",
                        columns: [
                            .text("Configuration"), .text("Backend"), .text("Workload"), .number("Throughput"),
                            .number("Median read"), .number("p99 read"), .number("Fetched"), .number("Memory growth"),
                        ],
                        rows: summary.comparisons.flatMap { [row($0.published), row($0.alternative)] })),
            ]
        )
    }

    private static func row(_ summary: CellSummary) -> [Table.Entry] {
        let cell = summary.cell
        let shape = "\(cell.strategy), \(ByteCountText.size(cell.windowByteCount)) windows, \(cell.access)"
        return [
            cell.label.map { Table.Entry($0, detail: shape) } ?? Table.Entry("by block instead", detail: shape),
            Table.Entry(cell.backend),
            Table.Entry(cell.workload),
            summary.speed.map {
                Table.Entry(
                    ByteCountText.rate($0.bytesPerSecond),
                    detail: $0.rangeText)
            } ?? .absent,
            duration(summary.latency?.p50),
            duration(summary.latency?.trustedP99),
            summary.amplification.map { Table.Entry(RatioText.times($0.fetched)) } ?? .absent,
            growth(summary),
        ]
    }
}
