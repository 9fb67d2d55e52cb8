package import Results

/// The report of a run in all its forms, which are made of one summary.
package struct RunReport: Sendable {
    private let summary: RunSummary
    private let document: Document
    private let keys: KeyResults

    /// Sums up a run.
    ///
    /// - Parameters:
    ///   - results: The run.
    ///   - keys: What lies beside it on keys.
    ///   - history: Earlier and later runs of its machine, to be shown on the page.
    package init(_ results: RunResults, keys: KeyResults = KeyResults(), history: History? = nil) {
        summary = RunSummary(results)
        self.keys = keys
        var document = Document(summary, keys: keys)
        if let history { document.sections += Document.history(history.only(results.header.host)) }
        self.document = document
    }

    /// What of a run is not in its report, in sentences.
    package static func warnings(of results: RunResults) -> [String] {
        let isCutBetweenRecords = !results.isComplete && results.leftOut.cutByteCount == 0
        return results.leftOut.texts
            + (isCutBetweenRecords ? ["The run was broken off or goes on: the result file has no end record."] : [])
    }

    /// What the run found, in a few lines.
    package var verdict: [String] { document.verdict }

    /// All files of the report: `index.html`, `report.md`, `summary.md`, `results.json`, `results.csv`, `report.xml`, and
    /// those of `throughput.svg` and the other pictures that there are data for.
    package var files: [ReportFile] {
        ReportFormat.allCases.map(file)
            + document.charts.map { ReportFile(name: "\($0.name).svg", text: $0.standalone) }
    }

    /// One form of the report.
    package func file(_ format: ReportFormat) -> ReportFile {
        switch format {
        case .html: ReportFile(name: format.fileName, text: HTMLRenderer.render(document))
        case .fullMarkdown: ReportFile(name: format.fileName, text: MarkdownRenderer.render(document))
        case .markdown: ReportFile(name: format.fileName, text: summary.pullRequestMarkdown(verdict))
        case .json: ReportFile(name: format.fileName, parts: summary.jsonParts(verdict: verdict, keys: keys))
        case .csv: ReportFile(name: format.fileName, parts: summary.csvParts)
        case .junit: ReportFile(name: format.fileName, text: summary.junit().text)
        }
    }
}

extension Document {
    /// The pictures, in the order in which they stand in the document.
    var charts: [Chart] {
        sections.flatMap(\.blocks).compactMap { block in
            if case .chart(let chart, _) = block { chart } else { nil }
        }
    }
}
