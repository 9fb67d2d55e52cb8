import Results
internal import Support

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
            verdict.prefix(8).enumerated().map { "\($0.offset + 1). \(Self.short($0.element, 400))" }
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

    /// Returns text for Markdown with at most that many characters before it is escaped.
    static func short(_ text: String, _ length: Int) -> String {
        MarkupText.markdown(text.count > length ? text.prefix(length - 1) + "…" : text)
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
        var lines = ["**Without figures, or wrong:**", ""]
        lines += subjects.prefix(3).map { record in
            let first = record.failures.first.map { ", such as \($0.id): \($0.reason)" } ?? ""
            return "- "
                + Self.short(
                    "\(record.subject) failed \(record.failed) of \(record.passed + record.failed) reads\(first)", 250)
        }
        lines += missing.prefix(3).map { "- " + Self.short("\($0.cell.id): \($0.missingReason ?? "")", 250) }
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
        return "Again:\n\n```sh\n\(MarkupText.plain(command))\n```"
    }
}
