import Results
import Support

extension RunSummary {
    /// The run as a comment on a pull request: a few thousand characters, however many cells there are.
    ///
    /// - Parameter verdict: The verdict's lines.
    /// - Returns: The comment.
    func pullRequestMarkdown(_ verdict: [String]) -> String {
        let header = results.header
        var parts = [
            "### Chunkwise: \(Self.short(header.host.cpuModel, 80)), \(RatioText.count(header.host.cpuCount, "CPU")), "
                + Self.short(header.startedAt, 40)
        ]
        parts += pullRequestWarnings.map { "> **Warning:** \($0)" }
        parts.append(
            verdict.prefix(10).enumerated().map { "\($0.offset + 1). \(Self.short($0.element, 400))" }
                .joined(separator: "\n"))
        parts += PullRequestTable(self).map { [$0.markdown] } ?? []
        parts += whatFailed
        parts.append(
            "Full report: [index.html](\(ReportFormat.html.fileName)) or "
                + "[report.md](\(ReportFormat.fullMarkdown.fileName)); all figures: "
                + "[results.csv](\(ReportFormat.csv.fileName)), [results.json](\(ReportFormat.json.fileName)).")
        parts.append(repetition)
        return parts.joined(separator: "\n\n") + "\n"
    }

    /// Returns text escaped for Markdown, of at most `length` characters before escaping.
    static func short(_ text: String, _ length: Int) -> String {
        MarkupText.markdownBlock(text.count > length ? text.prefix(length - 1) + "…" : text)
    }

    private var pullRequestWarnings: [String] {
        var warnings = leftOutTexts
        if !results.isComplete {
            warnings.append("The run did not come to its end: cells are missing.")
        }
        if !cells.contains(where: { $0.speed != nil }) { warnings.append("No cell has trusted figures.") }
        return warnings
    }

    private var whatFailed: [String] {
        let subjects = results.conformance.filter { $0.failed > 0 }
        let missing = cellsWithoutFigures
        guard !subjects.isEmpty || !missing.isEmpty else {
            return cells.isEmpty ? [] : ["Nothing failed: all \(RatioText.count(cells.count, "cell")) have figures."]
        }
        let bad = missing.filter(\.isBad)
        var lines = [subjects.isEmpty && bad.isEmpty ? "**Not timed yet:**" : "**Failed, or without figures:**", ""]
        lines += subjects.prefix(3).map { record in
            let first = record.failures.first.map { ", such as \($0.id): \($0.reason)" } ?? ""
            return "- "
                + Self.short(
                    "\(record.subject) failed \(record.failed) of \(record.passed + record.failed) reads\(first)", 250)
        }
        lines += (bad + missing.filter { !$0.isBad }).prefix(3).map {
            "- " + Self.short("\($0.cell.name): \($0.missingReason ?? "")", 250)
        }
        let more = max(subjects.count - 3, 0) + max(missing.count - 3, 0)
        if more > 0 { lines.append("- and \(SignificantDigits.grouped(UInt64(more))) more") }
        return [lines.joined(separator: "\n")]
    }

    private var repetition: String {
        let command = ShellText.joined(results.header.command)
        guard !command.isEmpty else { return "The result file does not say by which command it came about." }
        guard command.count <= 400, !command.contains("`"), !command.contains(where: \.isNewline) else {
            return "Again: the command that stands at the end of report.md."
        }
        return "Again:\n\n" + MarkdownRenderer.fenced(command, language: "sh")
    }
}

/// The one table of a comment: a row per backend, with its throughput by window as a line of letters.
struct PullRequestTable {
    private static let maxRows = 12
    private static let maxWindows = 24

    /// The table with a legend for its letters.
    let markdown: String

    /// Returns `nil` if no cell has a speed.
    init?(_ summary: RunSummary) {
        guard let made = Self.ofBackends(summary) ?? Self.ofCells(summary) else { return nil }
        markdown = made
    }

    /// The backends in the sequential read that most cells share.
    private static func ofBackends(_ summary: RunSummary) -> String? {
        guard let main = summary.main else { return nil }
        let all = summary.grid.windows
        let windows = thinned(all)
        let names = summary.grid.backends
        func rates(_ name: String) -> [Double?] {
            windows.map { window in
                summary.grid[name, window]?.speed.map { Double($0.bytesPerSecond) }
            }
        }
        guard let first = windows.first, let last = windows.last,
            let line = Sparkline(covering: names.flatMap(rates).compactMap { $0 })
        else { return nil }
        let rows = names.prefix(maxRows).compactMap { name -> [String]? in
            guard let best = RunSummary.fastest(in: summary.grid.cells(of: name)), let speed = best.speed else {
                return nil
            }
            return [
                RunSummary.short(name, 40), ByteCountText.size(best.cell.windowByteCount),
                ByteCountText.rate(speed.bytesPerSecond), speed.rangeText,
                best.memory.map { ByteCountText.growth($0.growthByteCount) } ?? "–",
                best.firstByte.map { DurationText.text(nanoseconds: $0.p50) } ?? "–",
                line.text(rates(name)),
            ].map(escaped)
        }
        var legend =
            "Throughput by window from \(ByteCountText.size(first)) to \(ByteCountText.size(last)), logarithmic: "
            + "▁ is \(ByteCountText.rate(UInt64(nearest: line.low))), █ "
            + "\(ByteCountText.rate(UInt64(nearest: line.high))), one step \(RatioText.times(line.step)). "
            + "\(Sparkline.absent) was not measured."
        if windows.count < all.count { legend += " \(windows.count) of \(all.count) windows are drawn." }
        if names.count > maxRows { legend += " \(names.count - maxRows) more backends are in the full report." }
        return """
            \(RunSummary.short(main.description, 200)), sequential, each backend's fastest window:

            | Backend | Window | Throughput | 95 % | Memory | First byte | By window |
            | --- | ---: | ---: | ---: | ---: | ---: | --- |
            \(rows.map { "| \($0.joined(separator: " | ")) |" }.joined(separator: "\n"))

            \(legend)
            """
    }

    /// The first cells, for a run without an ordinary sequential read.
    private static func ofCells(_ summary: RunSummary) -> String? {
        let cells = summary.cells.filter { $0.speed != nil }
        guard !cells.isEmpty else { return nil }
        let rows = cells.prefix(maxRows).map { cell in
            [
                RunSummary.short(
                    [cell.cell.label, cell.cell.name].compactMap { $0 }.joined(separator: ": "), 160),
                cell.speed.map { ByteCountText.rate($0.bytesPerSecond) } ?? "–",
                cell.latency.map { DurationText.text(nanoseconds: $0.p50) } ?? "–",
                cell.memory.map { ByteCountText.growth($0.growthByteCount) } ?? "–",
            ].map(escaped)
        }
        let hidden = cells.dropFirst(maxRows).map(\.cell)
        let more = hidden.isEmpty ? "" : "\n\n" + RunSummary.short(hiddenText(hidden, of: cells.map(\.cell)), 600)
        return """
            | Cell | Throughput | Median read, closed loop | Memory |
            | --- | ---: | ---: | ---: |
            \(rows.map { "| \($0.joined(separator: " | ")) |" }.joined(separator: "\n"))\(more)
            """
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

    /// Escapes a leading `<`: `< 256 KiB` would otherwise begin an HTML element.
    private static func escaped(_ text: String) -> String {
        text.hasPrefix("< ") ? "&lt;" + text.dropFirst() : text
    }
}
