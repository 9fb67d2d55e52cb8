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
        return windowTable(
            "Throughput with its 95 % interval by window. “ties”: the 95 % interval of its ratio to the best holds 1."
                + remark(grid.windows.count), grid.windows, grid.backends
        ) { name, window in
            guard let cell = grid[name, window], let speed = cell.speed else { return .absent }
            let isBest = cell.cell.id == best?.cell.id
            let tie = isBest || best.flatMap { SpeedRatio(of: cell, over: $0)?.isTie } ?? false
            return Table.Entry(
                ByteCountText.rate(speed.bytesPerSecond) + (isBest ? " (best)" : tie ? " (ties)" : ""),
                detail: speed.rangeText, emphasis: tie ? .good : .none)
        }
    }

    /// Returns a table with a row a window and a column a backend.
    private static func windowTable(
        _ caption: String, _ windows: [UInt64], _ backends: [String], _ entry: (String, UInt64) -> Table.Entry
    ) -> Table {
        Table(
            caption: caption, columns: [.text("Window")] + backends.map(Table.Column.number),
            rows: windows.prefix(maxRows).map { window in
                [Table.Entry(ByteCountText.size(window))] + backends.map { entry($0, window) }
            })
    }

    /// Every backend and window against the best as a picture and a table, or `nil` if there is nothing to compare.
    static func ratios(_ summary: RunSummary) -> Section? {
        guard let grid = RatioGrid(summary) else { return nil }
        return Section(
            name: "ratios", title: "Against the best",
            blocks: [.picture(grid.chart(style: summary.style)), .foldedTable(ratioTable(grid))])
    }

    private static func ratioTable(_ grid: RatioGrid) -> Table {
        windowTable(
            "Throughput over that of the best with its 95 % interval. “undecided”: the interval holds 1.",
            grid.windows, grid.backends
        ) { name, window in
            if grid.isBest(name, window) { return Table.Entry("1× (the reference)", emphasis: .good) }
            guard let pair = grid[name, window] else { return .absent }
            let isUndecided = pair.ratio.isTie
            return Table.Entry(
                RatioText.times(pair.ratio.ratio) + (isUndecided ? " (undecided)" : ""),
                detail: pair.intervalText, emphasis: isUndecided ? .good : .none)
        }
    }

    /// The best cell of each backend in every sequential series except the main one, which claims about the main series
    /// do not cover; `nil` if there is none.
    static func otherSeries(_ summary: RunSummary) -> Section? {
        let cells = summary.cells.filter {
            $0.speed != nil && $0.cell.label == nil && $0.cell.workload == "sequential"
                && Series($0.cell) != summary.main
        }
        let best = cells.grouped { Series($0.cell) }.flatMap { _, cells in
            summary.backends.compactMap { name in RunSummary.fastest(in: cells.filter { $0.cell.backend == name }) }
        }
        guard !best.isEmpty else { return nil }
        let table = Table(
            "Other sequential reads: the best window of each backend.", of: best,
            [.series.titled("Read"), .backend, .window.titled("Best window"), .throughput])
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
                        "Published configurations and their alternatives.",
                        of: summary.comparisons.flatMap { [$0.published, $0.alternative] },
                        [
                            publishedName, .backend, .workload, .throughput, .latency.plain.titled("Median read"),
                            .latencyP99.titled("p99 read"), .fetched.titled("Fetched"), .growth,
                        ])),
            ]
        )
    }

    private static let publishedName = Figure(column: "Configuration") {
        let cell = $0.cell
        let shape = "\(cell.strategy), \(ByteCountText.size(cell.windowByteCount)) windows, \(cell.access)"
        return Table.Entry(cell.label ?? "by block instead", detail: shape)
    }
}
