import Results

extension Document {
    init(_ sideBySide: SideBySide) {
        title = sideBySide.title
        subtitle = "Each run by itself, with a column of its own. Nothing is averaged over hosts or runs."
        warnings = sideBySide.warnings.map(Warning.init(plain:))
        verdict = sideBySide.verdict
        sections =
            [Self.runs(sideBySide), Self.differences(sideBySide)]
            + sideBySide.runs.enumerated().map { Self.verdict($0.element, number: $0.offset + 1) }
            + [
                Self.figure(sideBySide, .throughput, "Throughput", "Median throughput with its 95 % interval"),
                Self.figure(sideBySide, .growth.plain, "Memory", "How far the peak of memory rose"),
                Self.failures(sideBySide),
            ].compactMap { $0 }
    }

    private static func runs(_ sideBySide: SideBySide) -> Section {
        let rows = sideBySide.runs.map { run in
            let header = run.summary.header
            return [
                Table.Entry(run.label), Table.Entry(header.host.cpuModel), Table.Entry(header.startedAt),
                Table.Entry(header.programVersion),
                Table.Entry("\(run.summary.cells.count { $0.speed != nil }) of \(run.summary.cells.count)"),
                run.summary.isComplete ? "complete" : Table.Entry("broken off", emphasis: .bad),
                Table.Entry(run.summary.name),
            ]
        }
        return Section(
            name: "runs", title: "Runs",
            blocks: [
                .table(
                    Table(
                        caption: "The runs; those of one host stand together, in the order of their starts.",
                        columns: [
                            .text("Run"), .text("CPU"), .text("Started"), .text("chunkwise"),
                            .number("Cells with figures"), .text("State"), .text("File"),
                        ], rows: rows))
            ])
    }

    private static func differences(_ sideBySide: SideBySide) -> Section {
        let differing = sideBySide.runSet.differences
        var blocks: [Block] = []
        if !differing.isEmpty {
            blocks.append(
                .table(
                    Table(
                        caption: "What the runs do not share.",
                        columns: [.text("What")] + sideBySide.runs.map { .text($0.label) },
                        rows: differing.map { fact in [Table.Entry(fact.name)] + fact.values.map { Table.Entry($0) } }))
            )
        }
        blocks.append(.paragraph("What all share:"))
        blocks.append(.facts(sideBySide.runSet.sharedFacts.map { ($0.name, $0.text) }))
        return Section(name: "differences", title: "What differs between the runs", blocks: blocks)
    }

    private static func verdict(_ run: SideBySide.Run, number: Int) -> Section {
        var blocks: [Block] = [.list(run.verdict)]
        if var chart = run.summary.throughputChart {
            chart.name = "throughput-\(number)"
            blocks.append(.picture(chart))
        }
        return Section(name: "run-\(number)", title: run.label, blocks: blocks)
    }

    /// Returns a section with a figure: a row per cell and a column per run, folded if it is long.
    private static func figure(
        _ sideBySide: SideBySide, _ figure: Figure, _ title: String, _ caption: String
    ) -> Section? {
        let matches = sideBySide.runSet.matches()
        guard !matches.isEmpty else { return nil }
        let names = CellNames(matches.map(\.cell))
        let rows = matches.prefix(maxCells).map { match in
            [Table.Entry(names.name(of: match.cell), detail: match.cell.label)]
                + match.figures.map { $0.map(figure.entry) ?? .absent }
        }
        let table = Table(
            caption: caption + ", a row a cell and a column a run.",
            columns: [.text("Cell")] + sideBySide.runs.map { .number($0.label) }, rows: rows)
        return Section(
            name: title.lowercased(), title: "\(title) side by side",
            blocks: cellBlocks(table, shared: names.shared, cellCount: matches.count))
    }

    private static func failures(_ sideBySide: SideBySide) -> Section? {
        failures(
            sideBySide.runs.flatMap { run in run.summary.cellsWithoutFigures.map { (run.label, $0) } }, owners: "Run")
    }
}
