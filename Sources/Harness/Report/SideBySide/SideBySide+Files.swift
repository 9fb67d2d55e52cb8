import Support

extension SideBySide {
    /// The page, Markdown in full and for a comment, and the figures of all runs as JSON, CSV and JUnit.
    package var files: [ReportFile] {
        let document = Document(self)
        return ReportFormat.allCases.map { file($0, document) }
            + document.charts.map { ReportFile(name: "\($0.name).svg", text: $0.standalone) }
    }

    /// One form of the report.
    package func file(_ format: ReportFormat) -> ReportFile { file(format, Document(self)) }

    private func file(_ format: ReportFormat, _ document: Document) -> ReportFile {
        switch format {
        case .html: ReportFile(name: format.fileName, text: HTMLRenderer.render(document))
        case .fullMarkdown: ReportFile(name: format.fileName, text: MarkdownRenderer.render(document))
        case .markdown: ReportFile(name: format.fileName, text: pullRequestMarkdown)
        case .json: ReportFile(name: format.fileName, parts: writeJSON)
        case .csv: ReportFile(name: format.fileName, parts: writeCSV)
        case .junit:
            ReportFile(
                name: format.fileName,
                text: JUnitDocument(suites: runs.flatMap { $0.summary.junit(prefix: "\($0.label): ").suites }).text)
        }
    }

    @Sendable private func writeJSON(_ part: ([UInt8]) throws -> Void) throws {
        let members: [String: JSONValue] = [
            "schema": "chunkwise-side-by-side-1", "hostCount": JSONValue(count: hostCount),
            "verdict": JSONValue(strings: verdict),
        ]
        try JSONValue.write(
            members, list: "runs", count: runs.count, elements: { runs[$0].map { json($0).elementText } },
            to: part)
    }

    private func json(_ run: Run) -> JSONValue {
        var members = run.summary.jsonMembers(verdict: run.verdict)
        members["name"] = .string(run.name)
        members["label"] = .string(run.label)
        members["cells"] = .array(run.summary.cells.map(\.json))
        return .object(members)
    }

    @Sendable private func writeCSV(_ part: ([UInt8]) throws -> Void) throws {
        try part(RunSummary.csvLine(["run", "file", "host", "startedAt"] + RunSummary.csvHeads))
        for (index, run) in runs.enumerated() {
            let header = run.summary.results.header
            try run.summary.writeCSVRows(
                after: ["\(index + 1)", run.name, header.host.name, header.startedAt], to: part)
        }
    }

    /// The runs as a comment on a pull request.
    private var pullRequestMarkdown: String {
        let maxRuns = 8
        var parts = ["### Chunkwise: \(title)"]
        parts += warnings.prefix(3).map { "> **Warning:** \(RunSummary.short($0, 200))" }
        let rows = runs.prefix(maxRuns).map { run in
            let best = run.summary.best
            return [
                RunSummary.short(run.label, 40), RunSummary.short(run.summary.results.header.host.cpuModel, 40),
                best.map { RunSummary.short("\($0.cell.backend), \(ByteCountText.size($0.cell.windowByteCount))", 60) }
                    ?? "–",
                best?.speed.map { "\(ByteCountText.rate($0.bytesPerSecond)) (\($0.rangeText))" } ?? "–",
                "\(run.summary.cells.count { $0.speed != nil }) of \(run.summary.cells.count)",
            ]
        }
        parts.append(
            (["| Run | CPU | Fastest sequential | Throughput | Cells |", "| --- | --- | --- | ---: | ---: |"]
                + rows.map { "| \($0.joined(separator: " | ")) |" }).joined(separator: "\n"))
        if runs.count > maxRuns { parts.append("\(runs.count - maxRuns) more runs are in the full report.") }
        parts += verdict.suffix(1).map { MarkupText.markdown($0) }
        parts.append(
            "Full report: [index.html](\(ReportFormat.html.fileName)) or "
                + "[report.md](\(ReportFormat.fullMarkdown.fileName)).")
        return parts.joined(separator: "\n\n") + "\n"
    }
}
