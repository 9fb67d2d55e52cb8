package import Results

extension GateResult {
    /// The result for a comment on a pull request, and for a job's summary: verdict, table, forest plot, and the command
    /// that repeats it.
    ///
    /// A comment on GitHub takes 65,536 characters, so that of very many cells those that passed are left out first.
    package var markdown: String {
        var parts = ["### Gate: **\(title)**", MarkupText.markdown(headline) + "."]
        if !cells.isEmpty || control != nil {
            parts.append(MarkdownRenderer.block(.table(cellTable)))
            let left = cells.count - shownIndices.count
            if left > 0 {
                parts.append("\(RatioText.count(left, "more cell")) not shown, none of them slower or wrong.")
            }
            if shownIndices.count == cells.count {
                parts.append(MarkdownRenderer.block(.verbatim(caption: Self.plotCaption, text: forestPlot)))
            }
        }
        if let memory { parts.append(MarkdownRenderer.block(.table(memoryTable(memory)))) }
        if !notCompared.isEmpty {
            parts.append("Not compared:")
            parts.append(
                MarkdownRenderer.block(.list(notCompared.prefix(50).map { "\($0.name): \($0.reason)" })))
        }
        parts.append(MarkdownRenderer.block(.facts(facts)))
        if !command.isEmpty {
            parts.append(MarkdownRenderer.block(.verbatim(caption: "To repeat it", text: commandLine)))
        }
        return parts.joined(separator: "\n\n") + "\n"
    }

    private static let plotCaption =
        "Change of time by the table's rows; : marks the tolerance, │ no change, < and > what lies beyond the picture"

    private static let maxRows = 100

    /// The cells that are shown: all, or the ones of interest where they are too many.
    private var shownIndices: [Int] {
        guard cells.count > Self.maxRows else { return Array(cells.indices) }
        let passed: Set<GateVerdict> = [.same, .faster]
        let ordered =
            cells.indices.filter { !passed.contains(cells[$0].verdict) }
            + cells.indices.filter { passed.contains(cells[$0].verdict) }
        return ordered.prefix(Self.maxRows).sorted()
    }

    private var cellTable: Table {
        var rows = shownIndices.map { row("\($0 + 1)", cells[$0].name, cells[$0]) }
        if let control { rows.append(row("control", control.name, control)) }
        return Table(
            caption: "Change of time, candidate over baseline; all intervals together hold with "
                + "\(GateWords.percent(confidence)).",
            columns: [
                .text("#"), .text("Cell"), .text("Verdict"), .number("Time"), .number("Interval"), .number("Blocks"),
                .number("Measured"), .text("Remark"),
            ], rows: rows)
    }

    private func row(_ number: String, _ name: String, _ cell: GateCell) -> [Table.Entry] {
        var remark = [cell.reason, GateWords.settling(cell)].compactMap(\.self).joined(separator: "; ")
        if cell.verdict == .inconclusive, remark.isEmpty { remark = GateWords.finding(cell) }
        if remark.count > 300 { remark = remark.prefix(299) + "…" }
        return [
            Table.Entry(number), Table.Entry(name),
            Table.Entry(GateWords.word(cell.verdict), emphasis: isBlamed(cell) ? .bad : .none),
            Table.Entry(GateWords.change(cell.slowdown)), Table.Entry(GateWords.interval(cell.low, cell.high)),
            Table.Entry("\(cell.blockCount)"), Table.Entry(GateWords.seconds(cell.seconds)), Table.Entry(remark),
        ]
    }

    private func memoryTable(_ memory: GateMemory) -> Table {
        func side(_ peaks: GateMemory.Peaks) -> Table.Entry {
            Table.Entry(
                ByteCountText.measured(peaks.median),
                detail: "\(ByteCountText.measured(peaks.minimum)) to \(ByteCountText.measured(peaks.maximum))")
        }
        return Table(
            caption: "Peak memory: medians of runs of their own, with their spread.",
            columns: [
                .text("Cell"), .text("Verdict"), .number("Baseline"), .number("Candidate"), .number("More allowed"),
                .text("Remark"),
            ],
            rows: memory.cells.prefix(Self.maxRows).map { cell in
                [
                    Table.Entry(cell.name),
                    Table.Entry(cell.verdict.rawValue, emphasis: cell.verdict == .grew ? .bad : .none),
                    side(cell.baseline), side(cell.candidate),
                    Table.Entry(ByteCountText.measured(cell.limitByteCount)), Table.Entry(cell.reason ?? ""),
                ]
            })
    }

    private var facts: [(name: String, value: String)] {
        func side(_ side: GateSide) -> String { "\(side.command) (\(side.name), version \(side.version))" }
        return [
            ("Baseline", side(baseline)), ("Candidate", side(candidate)), ("Tolerance", GateWords.percent(tolerance)),
            ("Host", "\(host.cpuModel), \(RatioText.count(host.cpuCount, "CPU"))"),
            ("Took", GateWords.seconds(seconds)), ("Seed", "\(seed)"),
        ]
    }
}
