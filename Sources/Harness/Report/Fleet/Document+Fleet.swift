import Results

extension Document {
    /// A list of more names than this does not help.
    private static let maxNames = 12

    /// The report of a merged run, with a column for each kind of host.
    init(_ fleet: Fleet, title: String, warnings: [String], verdict: [String]) {
        self.title = title
        subtitle = "A column for each kind of host. Nothing is averaged over hosts."
        self.warnings = warnings.map(Warning.init(plain:))
        self.verdict = verdict
        let records = ConformanceRecord.sums(of: fleet.hosts.flatMap(\.results.conformance))
        sections = [
            Self.hosts(fleet), Self.laws(fleet), Self.outliers(fleet),
            Self.cells(fleet, .throughput, title: "Throughput", caption: "Median throughput with its 95 % interval"),
            Self.cells(fleet, .growth.plain, title: "Memory", caption: "How far the peak of memory rose"),
            records.isEmpty ? nil : Self.conformance(records), Self.failures(fleet),
        ].compactMap { $0 }
    }

    private static func hosts(_ fleet: Fleet) -> Section {
        let rows = fleet.kinds.map { kind in
            let names = kind.hosts.map { fleet.hosts[$0].name }
            let shards = Set(kind.hosts.flatMap { fleet.hosts[$0].header.merge?.shards ?? [] }).count
            let more = names.count > maxNames ? " and \(names.count - maxNames) more" : ""
            return [
                Table.Entry(kind.name), Table.Entry(kind.cpuModel), Table.Entry(kind.microcode ?? "unknown"),
                Table.Entry("\(kind.cpuCount)"), Table.Entry("\(kind.hosts.count)"), Table.Entry("\(shards)"),
                Table.Entry(names.prefix(maxNames).joined(separator: ", ") + more),
            ]
        }
        let differing = RunDifference.between(fleet.hosts.prefix(maxNames).map(\.header))
            .filter { !["host", "node", "command"].contains($0.name) }
        let table = Table(
            caption: "What hosts of one kind do not share, of the first \(maxNames).",
            columns: [.text("What")] + fleet.hosts.prefix(maxNames).map { .text($0.name) },
            rows: differing.map { fact in [Table.Entry(fact.name)] + fact.values.map { Table.Entry($0) } })
        return Section(
            name: "hosts", title: "Hosts",
            blocks: [
                .table(
                    Table(
                        caption: "Kinds of hosts: the same CPU, microcode, and number and kind of CPUs to use.",
                        columns: [
                            .text("Kind"), .text("CPU"), .text("Microcode"), .number("CPUs"), .number("Hosts"),
                            .number("Shards"), .text("Names"),
                        ], rows: rows))
            ] + (differing.isEmpty ? [] : [.table(table)]))
    }

    private static func laws(_ fleet: Fleet) -> Section? {
        guard !fleet.laws.isEmpty else { return nil }
        let tables = fleet.laws.compactMap { law -> Block? in
            guard case .different = law.finding else { return nil }
            return .table(
                Table(
                    caption: "\(law.name): what each choice costs on each kind of host, as a part of its own choice's "
                        + "throughput; of three hosts or more, the middle one's loss with its 95 % interval over "
                        + "hosts.",
                    columns: [.text("Kind")] + law.distinct.map { .number(law.label($0)) },
                    rows: law.choices.map { choice in
                        [Table.Entry(fleet.kinds[choice.kind].label)]
                            + law.distinct.map { entry($0, law, on: choice) }
                    }))
        }
        return Section(
            name: "scaling", title: "What holds on which hosts",
            blocks: [.list(fleet.laws.map { $0.sentence(fleet.kinds, fleet.hosts) })] + tables)
    }

    private static func entry(_ candidate: Candidate, _ law: BestPerHostKind, on choice: BestPerHostKind.Choice)
        -> Table.Entry
    {
        if candidate.id == choice.candidate.id {
            let rates = choice.hosts.compactMap { host in
                host.candidates.first { $0.id == candidate.id }?.bytesPerSecond
            }
            return Table.Entry("best", detail: rates.min().map(ByteCountText.rate), emphasis: .good)
        }
        guard let ratio = law.cost(of: candidate, on: choice) else { return .absent }
        if ratio.isTie { return Table.Entry("nothing", detail: "a tie") }
        return ratio.ratio < 1 ? Table.Entry(ratio.lossText) : Table.Entry("nothing", detail: "not slower")
    }

    private static func outliers(_ fleet: Fleet) -> Section? {
        guard !fleet.outliers.isEmpty else { return nil }
        let rows = fleet.outliers.map { outlier in
            [
                Table.Entry(fleet.hosts[outlier.host].name, emphasis: .bad),
                Table.Entry("\(outlier.cellCount) of \(outlier.comparedCount)"), Table.Entry(outlier.ratio.text),
                Table.Entry(fleet.hosts[outlier.other].name), Table.Entry(outlier.cell.name),
            ]
        }
        return Section(
            name: "outliers", title: "Hosts that differ from others of their kind",
            blocks: [
                .table(
                    Table(
                        caption:
                            "Hosts that are shown, with 95 % confidence for all hosts of their kind, to be more than "
                            + "\(RatioText.percent(Fleet.outlierMargin)) faster or slower than the middle one; in how "
                            + "many cells their intervals say so, and the cell with the largest difference.",
                        columns: [
                            .text("Host"), .number("Cells"), .number("Throughput ÷ the other's"), .text("The other"),
                            .text("Cell"),
                        ], rows: rows))
            ])
    }

    /// Returns a table with a row per cell and a column per kind of host. A figure of several hosts shows their minimum
    /// and maximum.
    private static func cells(_ fleet: Fleet, _ figure: Figure, title: String, caption: String) -> Section? {
        guard fleet.cells.contains(where: { $0.figures.contains { figure.value(fleet.summary($0)) != nil } }) else {
            return nil
        }
        let names = CellNames(fleet.cells.map(\.cell))
        let rows = fleet.cells.prefix(maxCells).map { cell, figures in
            [Table.Entry(names.name(of: cell), detail: cell.label)]
                + fleet.kinds.map { kind -> Table.Entry in
                    let members = Set(kind.hosts)
                    let summaries = figures.filter { members.contains($0.host) }.map(fleet.summary)
                    let values = summaries.compactMap(figure.value).sorted { $0.number < $1.number }
                    guard values.count > 1 else {
                        return summaries.first { figure.value($0) != nil }.map(figure.entry)
                            ?? summaries.first.map(Figure.status.entry) ?? .absent
                    }
                    let ends = [values[0], values[values.count - 1]].map(figure.unit.text).unique
                    return Table.Entry(ends.joined(separator: " to "), detail: "\(values.count) hosts")
                }
        }
        let table = Table(
            caption: caption
                + ", a row a cell and a column a kind of host; of several hosts, the least and the greatest.",
            columns: [.text("Cell")] + fleet.kinds.map { .number($0.label) }, rows: rows)
        let blocks = cellBlocks(table, shared: names.shared, cellCount: fleet.cells.count)
        return Section(name: title.lowercased(), title: title, blocks: blocks)
    }

    private static func failures(_ fleet: Fleet) -> Section? {
        failures(fleet.hosts.flatMap { host in host.cellsWithoutFigures.map { (host.name, $0) } }, owners: "Host")
    }
}
