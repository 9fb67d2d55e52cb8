package import Results

extension GateResult {
    /// The result for a comment on a pull request and for a job's summary.
    ///
    /// A GitHub comment is limited to 65,536 characters. If there are very many cells, those that passed are left out
    /// first.
    package var markdown: String { MarkdownRenderer.render(document(isRecording: false), level: 3) }

    /// Returns the result for a terminal. A recording has no verdict.
    package func text(isRecording: Bool) -> String { TextRenderer.render(document(isRecording: isRecording)) }

    /// Returns the verdict, the tables with remarks, a forest plot, and the command that repeats the run.
    private func document(isRecording: Bool) -> Document {
        var blocks: [Document.Block] = []
        func add(_ table: Table, _ remarks: [String]) {
            blocks += [.table(table)] + (remarks.isEmpty ? [] : [.list(remarks)])
        }
        if !cells.isEmpty || control != nil {
            add(cellTable(isRecording: isRecording), remarks)
            let left = cells.count - shownIndices.count
            blocks.append(
                left == 0
                    ? .verbatim(caption: Self.plotCaption, text: forestPlot)
                    : .paragraph("\(RatioText.count(left, "more cell")) not shown, none of them slower or wrong."))
        }
        if let memory {
            add(memoryTable(memory), memory.cells.compactMap { cell in cell.reason.map { "\(cell.name): \($0)" } })
        }
        if let counts {
            let reasons = counts.cells.compactMap { cell in cell.reason.map { "\(cell.name): \($0)" } }
            add(Self.countTable(counts), counts.tooLong.map { "\($0): an iteration takes over 20 ms" } + reasons)
        }
        for anchor in anchors ?? [] { add(anchor.anchorTable, anchor.remarks) }
        if let layoutRemark, !isRecording { blocks.append(.paragraph(layoutRemark + ".")) }
        if !notCompared.isEmpty {
            blocks.append(.paragraph("Not compared:"))
            blocks.append(.list(notCompared.prefix(50).map { "\($0.name): \($0.reason)" }))
        }
        blocks.append(.facts(facts))
        if !command.isEmpty { blocks.append(.verbatim(caption: "To repeat it", text: commandLine)) }
        let isRecorded = isRecording && isFitToRecord
        return Document(
            title: isRecorded ? "Recorded: \(RatioText.count(cells.count, "cell"))" : "Gate: \(title)",
            subtitle: isRecorded ? "" : headline + ".", sections: [.init(blocks: blocks)])
    }

    private static let plotCaption =
        "Change of time by the table's rows; : marks the tolerance, │ no change, < and > what lies beyond the picture"

    private static let maxRows = 100

    /// The indices of the cells that are shown: all, or the interesting ones if there are too many.
    private var shownIndices: [Int] {
        guard cells.count > Self.maxRows else { return Array(cells.indices) }
        let passed: Set<GateVerdict> = [.same, .faster]
        let ordered =
            cells.indices.filter { !passed.contains(cells[$0].verdict) }
            + cells.indices.filter { passed.contains(cells[$0].verdict) }
        return ordered.prefix(Self.maxRows).sorted()
    }

    private func cellTable(isRecording: Bool) -> Table {
        let rows = shownIndices.map { ("\($0 + 1) · ", cells[$0]) } + (control.map { [("", $0)] } ?? [])
        return Table(
            caption: "Change of time, candidate over baseline; all intervals together hold with "
                + "\(GateText.percent(confidence)).",
            columns: [
                .text("Cell"), .text("Verdict"), .number(isRecording ? "To reference" : "Time"), .number("Interval"),
                .number("Blocks"), .number("Measured"),
            ],
            rows: rows.map { number, cell in
                let isRecorded = isRecording && !cell.verdict.isBroken && cell.injected == nil
                return [
                    Table.Entry(number + markedName(cell)),
                    Table.Entry(
                        isRecorded ? "recorded" : GateText.word(cell), emphasis: isBlamed(cell) ? .bad : .none),
                    Table.Entry(GateText.change(cell.slowdown)),
                    Table.Entry(GateText.interval(cell.low, cell.high)), Table.Entry("\(cell.blockCount)"),
                    Table.Entry(GateText.seconds(min(cell.seconds, 1e12))),
                ]
            })
    }

    /// The reasons for the verdicts on the shown cells and the control.
    private var remarks: [String] {
        (shownIndices.map { cells[$0] } + [control].compactMap(\.self)).compactMap { cell in
            var remark = [cell.reason, GateText.settling(cell)].compactMap(\.self).joined(separator: "; ")
            if cell.verdict == .inconclusive, remark.isEmpty { remark = GateText.finding(cell) }
            if remark.count > 300 { remark = remark.prefix(299) + "…" }
            return remark.isEmpty ? nil : "\(cell.name): \(remark)"
        }
    }

    private var anchorTable: Table {
        var table = cellTable(isRecording: false)
        table.caption = "Against the anchor, with a budget of \(GateText.percent(tolerance)) for all changes together."
        return table
    }

    private static func countTable(_ counts: GateCounts) -> Table {
        Table(
            caption: "Counts an iteration, which repeat; \(GateText.percent(counts.limit)) more is allowed.",
            columns: [
                .text("Cell"), .text("Verdict"), .text("Count"), .number("Baseline"), .number("Candidate"),
                .number("Change"),
            ],
            rows: counts.cells.prefix(maxRows).flatMap { cell in
                cell.counts.map { count in
                    [
                        Table.Entry(cell.name),
                        Table.Entry(count.verdict.rawValue, emphasis: count.verdict == .grew ? .bad : .none),
                        Table.Entry(count.quantity.words),
                    ] + GateText.figures(count).map { Table.Entry($0) }
                }
            })
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
            ],
            rows: memory.cells.prefix(Self.maxRows).map { cell in
                [
                    Table.Entry(cell.name),
                    Table.Entry(cell.verdict.rawValue, emphasis: cell.verdict == .grew ? .bad : .none),
                    side(cell.baseline), side(cell.candidate),
                    Table.Entry(ByteCountText.measured(cell.limitByteCount)),
                ]
            })
    }

    private var facts: [(name: String, value: String)] {
        func side(_ side: GateSide) -> String { "\(side.command) (\(side.name), version \(side.version))" }
        return [
            ("Baseline", side(baseline)), ("Candidate", side(candidate)), ("Tolerance", GateText.percent(tolerance)),
            ("Host", "\(host.cpuModel), \(RatioText.count(host.cpuCount, "CPU"))"),
            ("Took", GateText.seconds(seconds)), ("Seed", "\(seed)"),
        ]
    }

    /// The intervals as a picture made of letters: one row per cell, in the order of the table.
    ///
    /// The axis is the change of time in percent. It reaches as far as the widest interval, but at least to twice and
    /// at most to four times the tolerance. `<` and `>` mark an interval that continues beyond the axis, `:` the
    /// tolerance, and `│` no change.
    package var forestPlot: String {
        let rows =
            cells.enumerated().map { ("\($0.offset + 1)", $0.element) } + (control.map { [("control", $0)] } ?? [])
        let measured = rows.filter { $0.1.slowdown != nil }
        guard !measured.isEmpty else { return "no interval to show" }
        let axis = ForestAxis(
            reach: measured.flatMap { [$0.1.low, $0.1.high, $0.1.slowdown] }.compactMap { $0.map { abs($0 - 1) } }.max()
                ?? 0,
            tolerance: tolerance)
        let width = rows.map(\.0.count).max() ?? 0
        let lines = measured.map { name, cell in
            let space = String(repeating: " ", count: width - name.count)
            return "\(space)\(name)  \(axis.row(low: cell.low, estimate: cell.slowdown ?? 1, high: cell.high))"
        }
        return ([String(repeating: " ", count: width + 2) + axis.heads] + lines).joined(separator: "\n")
    }
}

/// The axis of a forest plot made of letters; 0 % is in its middle.
struct ForestAxis {
    private static let halfWidth = 24

    private let reach: Double
    private let tolerance: Double

    /// An axis for the given data.
    ///
    /// - Parameters:
    ///   - reach: The maximum distance of any figure from no change.
    ///   - tolerance: The tolerance, marked on both sides.
    init(reach: Double, tolerance: Double) {
        let unit = max(tolerance, 0.001)
        self.reach = min(max(reach.isFinite ? reach : .greatestFiniteMagnitude, 2 * unit), 4 * unit)
        self.tolerance = tolerance
    }

    /// The ends and the middle of the axis, in a line above the rows.
    var heads: String {
        let (left, right) = (GateText.change(1 - reach), GateText.change(1 + reach))
        let half = Self.halfWidth
        return left + String(repeating: " ", count: max(1, half - left.count)) + "0"
            + String(repeating: " ", count: max(1, half - right.count)) + right
    }

    /// Returns the row of an interval; an interval without an end continues beyond the axis.
    func row(low: Double?, estimate: Double, high: Double?) -> String {
        let half = Self.halfWidth
        var letters = [Character](repeating: " ", count: 2 * half + 1)
        letters[column(1 - tolerance)] = ":"
        letters[column(1 + tolerance)] = ":"
        letters[half] = "│"
        let (from, to) = (column(low ?? 0), column(high ?? .infinity))
        if from <= to {
            for index in from...to { letters[index] = "─" }
            letters[from] = isBeyond(low ?? 0) ? "<" : "├"
            letters[to] = isBeyond(high ?? .infinity) ? ">" : "┤"
        }
        letters[column(estimate)] = isBeyond(estimate) ? (estimate < 1 ? "<" : ">") : "●"
        var text = String(letters)
        while text.last == " " { text.removeLast() }
        return text
    }

    private func isBeyond(_ ratio: Double) -> Bool { abs(ratio - 1) > reach }

    private func column(_ ratio: Double) -> Int {
        let offset = (ratio - 1) / reach * Double(Self.halfWidth)
        return Self.halfWidth + Int(min(max(offset, -Double(Self.halfWidth)), Double(Self.halfWidth)).rounded())
    }
}
