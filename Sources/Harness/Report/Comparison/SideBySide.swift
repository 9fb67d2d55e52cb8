package import Results
import Support

/// Several runs on one page: runs of one host beside each other, and figures of hosts never averaged.
package struct SideBySide: Sendable {
    /// The runs: grouped by host, in the order in which hosts are first named, and sorted by start within a host.
    let runSet: RunSet<RunSummary>
    /// The same runs with the labels of their columns.
    let runs: [Run]
    /// The fleet, if the runs are the hosts of a merged run.
    private let fleet: Fleet?

    struct Run: Sendable {
        /// The label of its columns: a number and the host.
        var label: String
        let summary: RunSummary
        /// The verdict's sentences.
        let verdict: [String]
        /// The sentence with the choice.
        let headline: String

        init(label: String, summary: RunSummary) {
            let verdict = Verdict(summary)
            (self.label, self.summary, self.verdict, headline) = (label, summary, verdict.lines, verdict.headline)
        }
    }

    /// Summarizes runs.
    ///
    /// - Parameter runs: The runs, each with the name that the user gave it.
    package init(_ runs: [(name: String, results: RunResults)]) {
        fleet = nil
        runSet = RunSet(runs.map { RunSummary($0.results, named: $0.name) }).groupedByHost
        self.runs = runSet.runs.enumerated().map { index, summary in
            Run(label: "\(index + 1) · \(summary.header.host.name)", summary: summary)
        }
    }

    /// Summarizes the results of the hosts of a merged run, and frees each host's once they are summarized.
    package init(hosts: consuming [RunResults]) {
        var counts: [String: Int] = [:]
        var summaries: [RunSummary] = []
        hosts.reverse()
        while let host = hosts.popLast() {
            let name = host.header.host.label
            counts[name, default: 0] += 1
            summaries.append(RunSummary(host, named: counts[name] == 1 ? name : "\(name) (\(counts[name] ?? 0))"))
        }
        fleet = Fleet(summaries)
        runSet = RunSet(summaries)
        runs = summaries.map { Run(label: $0.name, summary: $0) }
    }

    var hostCount: Int { fleet?.hosts.count ?? runSet.hosts.count }

    /// The title, such as `2 runs on 1 host side by side`.
    var title: String {
        if let fleet { return "\(RatioText.count(hostCount, "host")) of \(RatioText.count(fleet.kinds.count, "kind"))" }
        return "\(RatioText.count(runs.count, "run")) on \(RatioText.count(hostCount, "host")) side by side"
    }

    /// The findings that no reader should miss: the first finding of each run, and a note that nothing is averaged.
    package var verdict: [String] {
        fleet?.verdict ?? runs.map { "\($0.label): \($0.headline)" } + [
            hostCount > 1
                ? "Figures of different hosts stand side by side; they are neither averaged nor judged against each "
                    + "other."
                : "All runs come from one host, at different times; they are not averaged."
        ]
    }

    /// The caveats that a reader must know before any figure.
    var warnings: [String] {
        if let fleet { return fleet.warnings }
        var warnings: [String] = []
        for run in runs {
            if !run.summary.isComplete {
                warnings.append(
                    "\(run.label) (\(run.summary.name)): the run did not come to its end, cells are missing.")
            }
            warnings += run.summary.omittedTexts.map { "\(run.label) (\(run.summary.name)): \($0)" }
        }
        for (index, run) in runs.enumerated() {
            if let other = runs[..<index].first(where: { $0.summary.header == run.summary.header }) {
                warnings.append("\(other.label) and \(run.label) are the same run, given twice.")
            }
        }
        return warnings
    }

    /// The files: the page, Markdown in full and for a comment, and the figures of all runs as JSON, CSV and JUnit.
    package var files: [ReportFile] {
        let document = document
        return ReportFormat.allCases.map { file($0, document) }
            + document.charts.map { ReportFile(name: "\($0.name).svg", text: $0.standalone) }
    }

    package func file(_ format: ReportFormat) -> ReportFile { file(format, document) }

    private var document: Document {
        fleet.map { Document($0, title: title, warnings: $0.warnings, verdict: $0.verdict) } ?? Document(self)
    }

    private func file(_ format: ReportFormat, _ document: Document) -> ReportFile {
        switch format {
        case .html: ReportFile(name: format.fileName, text: HTMLRenderer.render(document))
        case .fullMarkdown: ReportFile(name: format.fileName, text: MarkdownRenderer.render(document))
        case .markdown: ReportFile(name: format.fileName, text: pullRequestMarkdown)
        case .json: ReportFile(name: format.fileName, parts: writeJSON)
        case .csv: ReportFile(name: format.fileName, parts: writeCSV)
        case .junit: ReportFile(name: format.fileName, parts: writeJUnit)
        }
    }

    @Sendable private func writeJSON(_ part: ([UInt8]) throws -> Void) throws {
        let members: [String: JSONValue] = [
            "schema": "chunkwise-side-by-side-1", "hostCount": JSONValue(count: hostCount),
            "verdict": JSONValue(strings: verdict),
        ]
        try JSONValue.write(
            members, list: "runs", count: runs.count, atOnce: 1, elements: { runs[$0].map { json($0).elementText } },
            to: part)
    }

    private func json(_ run: Run) -> JSONValue {
        var members = run.summary.jsonMembers(run.verdict, Warning.all(in: run.summary))
        members["name"] = .string(run.summary.name)
        members["label"] = .string(run.label)
        members["cells"] = .array(run.summary.cells.map(\.json))
        return .object(members)
    }

    @Sendable private func writeJUnit(_ part: ([UInt8]) throws -> Void) throws {
        try JUnitDocument(suites: runs.lazy.flatMap { $0.summary.junit(prefix: "\($0.label): ") }).write(to: part)
    }

    @Sendable private func writeCSV(_ part: ([UInt8]) throws -> Void) throws {
        try part(RunSummary.csvLine(["run", "file", "host", "startedAt"] + RunSummary.csvHeads))
        for (index, run) in runs.enumerated() {
            let header = run.summary.header
            try run.summary.writeCSVRows(
                after: ["\(index + 1)", run.summary.name, header.host.name, header.startedAt], to: part)
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
                RunSummary.short(run.label, 40), RunSummary.short(run.summary.header.host.cpuModel, 40),
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
