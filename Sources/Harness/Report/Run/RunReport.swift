package import Results

/// The report of a run in all its forms, which are made of one summary.
package struct RunReport: Sendable {
    let summary: RunSummary
    private let warnings: [Warning]
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
        warnings = Warning.all(in: summary)
        self.keys = keys
        var document = Document(summary, warnings: warnings, keys: keys)
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
    ///
    /// The same results give the same bytes: no clock, locale, disk or order of a hash table is involved.
    package var files: [ReportFile] {
        ReportFormat.allCases.map(file)
            + document.charts.map { ReportFile(name: "\($0.name).svg", text: $0.standalone) }
    }

    package func file(_ format: ReportFormat) -> ReportFile {
        switch format {
        case .html: ReportFile(name: format.fileName, text: HTMLRenderer.render(document))
        case .fullMarkdown: ReportFile(name: format.fileName, text: MarkdownRenderer.render(document))
        case .markdown: ReportFile(name: format.fileName, text: summary.pullRequestMarkdown(verdict))
        case .json: ReportFile(name: format.fileName, parts: summary.jsonParts(verdict, warnings, keys))
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

/// A file of a report: a name, which has folders only in results for asv, and its content, which is made when it is asked for.
package struct ReportFile: Sendable {
    /// The file's name, such as `index.html`, or its path in the report's folder.
    package var name: String

    private let content: Content

    private enum Content: Sendable {
        case text(String)
        case parts(@Sendable (_ part: ([UInt8]) throws -> Void) throws -> Void)
    }

    /// Creates a file from text, which is UTF-8 in the file.
    init(name: String, text: String) {
        self.name = name
        content = .text(text)
    }

    /// Creates a file from parts, so that a long one is never in memory as a whole.
    ///
    /// - Parameters:
    ///   - name: The file's name.
    ///   - parts: Calls its argument with each part in order, and throws what that throws.
    init(name: String, parts: @escaping @Sendable (_ part: ([UInt8]) throws -> Void) throws -> Void) {
        self.name = name
        content = .parts(parts)
    }

    /// Hands out the content, part by part.
    ///
    /// - Parameter sink: Takes each part, which is valid during the call only.
    /// - Throws: What `sink` throws.
    package func write(to sink: (UnsafeRawBufferPointer) throws -> Void) throws {
        switch content {
        case .text(var text): try text.withUTF8 { try sink(UnsafeRawBufferPointer($0)) }
        case .parts(let parts): try parts { try $0.withUnsafeBytes(sink) }
        }
    }

    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        // Appending to a list throws nothing.
        try? write { bytes.append(contentsOf: $0) }
        return bytes
    }
}

extension ReportFile: Equatable {
    /// Whether two files have the same name and the same bytes.
    package static func == (one: ReportFile, other: ReportFile) -> Bool {
        one.name == other.name && one.bytes == other.bytes
    }
}

/// The forms of a report.
package enum ReportFormat: String, CaseIterable, Sendable {
    /// A page that needs nothing beside it.
    case html
    /// All that the page says; pictures are files beside it.
    case fullMarkdown = "full-markdown"
    /// What fits a comment on a pull request, with pictures of letters.
    case markdown
    case json
    case csv
    /// A case a cell, for CI systems.
    case junit

    /// The name of the report's file in this form.
    package var fileName: String {
        switch self {
        case .html: "index.html"
        case .fullMarkdown: "report.md"
        case .markdown: "summary.md"
        case .json: "results.json"
        case .csv: "results.csv"
        case .junit: "report.xml"
        }
    }
}
