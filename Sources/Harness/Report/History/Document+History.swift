import Results
import Statistics

extension Document {
    init(_ history: History) {
        title = "Random-access decryption over time"
        let count = RatioText.count(history.runs.count, "run")
        let span = [history.runs.first, history.runs.last].compactMap { $0?.header.startedAt }
        subtitle = "\(count) on \(RatioText.count(history.hosts.count, "host")) · \(span.joined(separator: " to "))"
        warnings = history.skipped.isEmpty ? [] : [Warning(plain: history.skippedText)]
        verdict = history.findings
        sections =
            Self.historySections(history) + [Self.skippedFiles(history)].compactMap { $0 } + [Self.method(history)]
    }

    /// The history of a machine as sections of the report of one of its runs.
    static func history(_ history: History) -> [Section] {
        Self.historySections(history) + [Self.skippedFiles(history)].compactMap { $0 } + [method(history)]
    }

    private static func historySections(_ history: History) -> [Section] {
        history.hosts.enumerated().map { index, host in
            let pictures = TrendPictures(host, number: index + 1)
            var blocks: [Block] = [.paragraph(introduction(host, history))]
            blocks += turns(host).map { [.table($0)] } ?? []
            blocks += pictures.charts.map(Block.picture)
            if pictures.leftOutCount > 0 {
                blocks.append(
                    .paragraph(
                        "\(RatioText.count(pictures.leftOutCount, "more cell")) without a change are in the table."))
            }
            blocks += changes(host).map { [.foldedTable($0)] } ?? []
            blocks += [.foldedTable(cells(host)), .foldedTable(runs(host))]
            return Section(
                name: "history-\(index + 1)",
                title: "History: \(host.host.name), \(host.host.cpuModel)", blocks: blocks)
        }
    }

    private static func introduction(_ host: HostHistory, _ history: History) -> String {
        let count = RatioText.count(host.runs.count, "run")
        let days = [host.runs.first, host.runs.last].compactMap { $0?.header.startedAt }
        guard let reference = history.reference, let anchor = host.anchor else {
            let named = history.reference.map { " \($0)" } ?? ""
            return "\(count). None has figures of the reference backend\(named), so that there are no ratios."
        }
        return
            "\(count), from \(days.joined(separator: " to ")). Each cell is drawn as its throughput ÷ that of the same "
            + "configuration of \(reference) in the same run; cells without one, and those of \(reference) itself, ÷ "
            + "that of \(anchor.name). Runs stand in the order in which they started, at equal distances."
    }

    private static func turns(_ host: HostHistory) -> Table? {
        let rows = host.turns.map { turn in
            let run = host.runs[turn.run]
            let differences = (turn.entries.first?.change.differences ?? []).map {
                "\($0.name): \($0.values.joined(separator: " → "))"
            }
            return [
                Table.Entry(run.header.startedAt, detail: run.path, link: run.link),
                Table.Entry("\(turn.entries.count)"), Table.Entry(turn.rangeText), Table.Entry(turn.backendsText),
                differences.isEmpty
                    ? Table.Entry("nothing that is recorded") : Table.Entry(differences.joined(separator: "; ")),
            ]
        }
        guard !rows.isEmpty else { return nil }
        return Table(
            caption: "The runs from which on levels are other ones, and what differs from the run before.",
            columns: [
                .text("From this run on"), .number("Cells"), .number("Change"), .text("Of these backends"),
                .text("What else changed"),
            ], rows: rows)
    }

    private static func changes(_ host: HostHistory) -> Table? {
        let rows = host.changedCells.flatMap { cell in
            (cell.changes + [cell.drift].compactMap { $0 }).map { change in
                let run = host.runs[change.run]
                return [
                    Table.Entry(cell.cell.name),
                    Table.Entry(change.text, emphasis: change.factor < 1 ? .bad : .good),
                    cell.drift == nil
                        ? Table.Entry(run.header.startedAt, detail: run.path, link: run.link) : "a drift over all runs",
                    Table.Entry(RatioText.times(change.before)), Table.Entry(RatioText.times(change.after)),
                ]
            }
        }
        guard !rows.isEmpty else { return nil }
        return Table(
            caption: "Every change of a level and every drift, the cell with the largest first.",
            columns: [
                .text("Cell"), .number("Change"), .text("From this run on"), .number("Before"), .number("After"),
            ], rows: rows)
    }

    private static func cells(_ host: HostHistory) -> Table {
        let rows = host.cells.map { cell in
            let values = cell.ratios.compactMap { $0 }
            return [
                Table.Entry(cell.cell.name, detail: "÷ \(cell.reference.name)"),
                Table.Entry("\(values.count)"),
                values.first.map { Table.Entry(RatioText.times($0)) } ?? .absent,
                values.last.map { Table.Entry(RatioText.times($0)) } ?? .absent,
                values.min().map { Table.Entry(RatioText.times($0)) } ?? .absent,
                values.max().map { Table.Entry(RatioText.times($0)) } ?? .absent,
                Table.Entry(line(cell)), Table.Entry(cell.drift == nil ? "\(cell.changes.count)" : "drift"),
            ]
        }
        return Table(
            caption:
                "All \(RatioText.count(host.cells.count, "cell")) over time, each line of letters on a scale of its "
                + "own from its minimum (▁) to its maximum ratio (█); | marks a change of level.",
            columns: [
                .text("Cell"), .number("Runs"), .number("First"), .number("Latest"), .number("Minimum"),
                .number("Maximum"), .text("Over time"), .number("Changes"),
            ], rows: rows)
    }

    private static let maxLineLength = 28

    /// Returns a cell's ratios as letters, of many runs the middle one of each group of neighbours.
    private static func line(_ cell: CellHistory) -> String {
        let ratios = cell.ratios
        let length = min(ratios.count, maxLineLength)
        let shown = (0..<length).map { index -> Double? in
            let range = index * ratios.count / length..<(index + 1) * ratios.count / length
            return percentile(tenthsOfPercent: 500, of: ratios[range].compactMap { $0 })
        }
        guard let scale = Sparkline(covering: ratios.compactMap { $0 }) else { return "" }
        var line = Array(scale.text(shown))
        for change in cell.changes.reversed() { line.insert("|", at: change.run * length / ratios.count) }
        return String(line)
    }

    private static func runs(_ host: HostHistory) -> Table {
        Table(
            caption: "The \(RatioText.count(host.runs.count, "run")), in order.",
            columns: [
                .number("Run"), .text("Started"), .text("File"), .text("chunkwise"), .number("Cells"), .text("State"),
            ],
            rows: host.runs.enumerated().map { index, run in
                [
                    Table.Entry("\(index + 1)"), Table.Entry(run.header.startedAt, link: run.link),
                    Table.Entry(run.path), Table.Entry(run.header.programVersion), Table.Entry("\(run.cells.count)"),
                    run.isComplete ? "complete" : Table.Entry("broken off", emphasis: .bad),
                ]
            })
    }

    private static func skippedFiles(_ history: History) -> Section? {
        guard !history.skipped.isEmpty else { return nil }
        let table = Table(
            caption: "Files that are not part of the history, and why.", columns: [.text("File"), .text("Reason")],
            rows: history.skipped.map { [Table.Entry($0.path), Table.Entry($0.reason)] })
        return Section(name: "skipped", title: "Skipped files", blocks: [.table(table)])
    }

    private static func method(_ history: History) -> Section {
        Section(
            name: "history-method", title: "How changes are found", blocks: [.list(History.method)])
    }
}
