import Results
import Support

extension RunSummary {
    /// The run as a comment on a pull request: a few thousand characters, however many cells there are.
    ///
    /// - Parameter verdict: The verdict's lines.
    /// - Returns: The comment.
    func pullRequestMarkdown(_ verdict: [String]) -> String {
        let header = results.header
        let document = Document(
            title: "Chunkwise: \(Self.cut(header.host.cpuModel, 80)), "
                + "\(RatioText.count(header.host.cpuCount, "CPU")), \(Self.cut(header.startedAt, 40))",
            warnings: pullRequestWarnings.map(Warning.init(plain:)),
            verdict: verdict.prefix(10).map { Self.cut($0, 400) },
            sections: [.init(blocks: (backendBlocks ?? cellBlocks) + whatFailed + [repetition])])
        return MarkdownRenderer.render(document, level: 3)
            + "\nFull report: [index.html](\(ReportFormat.html.fileName)) or "
            + "[report.md](\(ReportFormat.fullMarkdown.fileName)); all figures: "
            + "[results.csv](\(ReportFormat.csv.fileName)), [results.json](\(ReportFormat.json.fileName)).\n"
    }

    /// Returns text of at most `length` characters.
    private static func cut(_ text: String, _ length: Int) -> String {
        text.count > length ? text.prefix(length - 1) + "…" : text
    }

    /// Returns text escaped for Markdown, of at most `length` characters before escaping.
    static func short(_ text: String, _ length: Int) -> String { MarkupText.markdownBlock(cut(text, length)) }

    private var pullRequestWarnings: [String] {
        var warnings = omittedTexts
        if !results.isComplete {
            warnings.append("The run did not come to its end: cells are missing.")
        }
        if !cells.contains(where: { $0.speed != nil }) { warnings.append("No cell has trusted figures.") }
        return warnings
    }

    private var whatFailed: [Document.Block] {
        let subjects = results.conformance.filter { $0.failed > 0 }
        let missing = cellsWithoutFigures
        guard !subjects.isEmpty || !missing.isEmpty else {
            return cells.isEmpty
                ? [] : [.paragraph("Nothing failed: all \(RatioText.count(cells.count, "cell")) have figures.")]
        }
        let bad = missing.filter(\.isBad)
        var lines = subjects.prefix(3).map { record in
            let first = record.failures.first.map { ", such as \($0.id): \($0.reason)" } ?? ""
            return "\(record.subject) failed \(record.failed) of \(record.passed + record.failed) reads\(first)"
        }
        lines += (bad + missing.filter { !$0.isBad }).prefix(3).map { "\($0.cell.name): \($0.missingReason ?? "")" }
        lines = lines.map { Self.cut($0, 250) }
        let more = max(subjects.count - 3, 0) + max(missing.count - 3, 0)
        if more > 0 { lines.append("and \(SignificantDigits.grouped(UInt64(more))) more") }
        let title = subjects.isEmpty && bad.isEmpty ? "Not timed yet:" : "Failed, or without figures:"
        return [.paragraph(title), .list(lines)]
    }

    private var repetition: Document.Block {
        let command = ShellText.joined(results.header.command)
        guard !command.isEmpty else {
            return .paragraph("The result file does not say by which command it came about.")
        }
        guard command.count <= 400 else { return .paragraph("Again: the command that stands at the end of report.md.") }
        return .verbatim(caption: "Again", text: command)
    }

    private static let maxRows = 12
    private static let maxWindows = 24

    /// The backends in the sequential read that most cells share: a row per backend, with its throughput by window as a
    /// line of letters. `nil` without such cells.
    private var backendBlocks: [Document.Block]? {
        guard let main else { return nil }
        let all = grid.windows
        let windows = Self.thinned(all)
        let names = grid.backends
        func rates(_ name: String) -> [Double?] {
            windows.map { window in grid[name, window]?.speed.map { Double($0.bytesPerSecond) } }
        }
        guard let first = windows.first, let last = windows.last,
            let line = Sparkline(covering: names.flatMap(rates).compactMap { $0 })
        else { return nil }
        let rows = names.prefix(Self.maxRows).compactMap { name -> [Table.Entry]? in
            guard let best = Self.fastest(in: grid.cells(of: name)), let speed = best.speed else { return nil }
            return [
                Self.cut(name, 40), ByteCountText.size(best.cell.windowByteCount),
                ByteCountText.rate(speed.bytesPerSecond), speed.rangeText,
                best.memory.map { ByteCountText.growth($0.growthByteCount) } ?? "–",
                best.firstByte.map { DurationText.text(nanoseconds: $0.p50) } ?? "–",
                line.text(rates(name)),
            ].map { Table.Entry($0) }
        }
        var legend =
            "Throughput by window from \(ByteCountText.size(first)) to \(ByteCountText.size(last)), logarithmic: "
            + "▁ is \(ByteCountText.rate(UInt64(nearest: line.low))), █ "
            + "\(ByteCountText.rate(UInt64(nearest: line.high))), one step \(RatioText.times(line.step)). "
            + "\(Sparkline.absent) was not measured."
        if windows.count < all.count { legend += " \(windows.count) of \(all.count) windows are drawn." }
        let hidden = names.count - Self.maxRows
        if hidden > 0 { legend += " \(hidden) more backends are in the full report." }
        let table = Table(
            caption: "\(Self.cut(main.description, 200)), sequential, each backend's fastest window:",
            columns: [
                .text("Backend"), .number("Window"), .number("Throughput"), .number("95 %"), .number("Memory"),
                .number("First byte"), .text("By window"),
            ], rows: rows)
        return [.table(table), .paragraph(legend)]
    }

    /// The first cells, for a run without an ordinary sequential read; nothing if no cell has a speed.
    private var cellBlocks: [Document.Block] {
        let cells = cells.filter { $0.speed != nil }
        guard !cells.isEmpty else { return [] }
        let rows = cells.prefix(Self.maxRows).map { cell in
            [
                Self.cut([cell.cell.label, cell.cell.name].compactMap { $0 }.joined(separator: ": "), 160),
                cell.speed.map { ByteCountText.rate($0.bytesPerSecond) } ?? "–",
                cell.latency.map { DurationText.text(nanoseconds: $0.p50) } ?? "–",
                cell.memory.map { ByteCountText.growth($0.growthByteCount) } ?? "–",
            ].map { Table.Entry($0) }
        }
        let table = Table(
            caption: "The cells, in the order of the plan:",
            columns: [
                .text("Cell"), .number("Throughput"), .number("Median read, closed loop"), .number("Memory"),
            ], rows: rows)
        let hidden = cells.dropFirst(Self.maxRows).map(\.cell)
        return [.table(table)]
            + (hidden.isEmpty ? [] : [.paragraph(Self.cut(Self.hiddenText(hidden, of: cells.map(\.cell)), 600))])
    }

    /// Returns a sentence that names the cells that a table leaves out, by the parts that tell them from the others.
    private static func hiddenText(_ hidden: [Cell], of cells: [Cell]) -> String {
        let names = CellNames(cells)
        let shown = hidden.suffix(6).map(names.name)
        let rest = hidden.count - shown.count
        return "\(RatioText.count(hidden.count, "more cell")) in the full report: \(shown.joined(separator: "; "))"
            + (rest > 0 ? "; and \(rest) more." : ".")
    }

    /// Returns as many windows as there are letters for, including the first and the last.
    private static func thinned(_ windows: [UInt64]) -> [UInt64] {
        guard windows.count > maxWindows else { return windows }
        return (0..<maxWindows).map { windows[$0 * (windows.count - 1) / (maxWindows - 1)] }
    }
}
