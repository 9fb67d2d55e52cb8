package import Results

/// The report of a run in all its forms, all computed from one summary.
package struct RunReport: Sendable {
    let summary: RunSummary
    private let warnings: [Warning]
    private let document: Document
    private let keys: KeyResults

    /// Summarizes a run.
    ///
    /// - Parameters:
    ///   - results: The run.
    ///   - keys: The key results stored beside it.
    ///   - history: Earlier and later runs of its machine, to be shown on the page.
    package init(_ results: RunResults, keys: KeyResults = KeyResults(), history: History? = nil) {
        summary = RunSummary(results)
        warnings = Warning.all(in: summary)
        self.keys = keys
        var document = Document(summary, warnings: warnings, keys: keys)
        if let history { document.sections += Document.history(history.only(results.header.host)) }
        self.document = document
    }

    /// Returns sentences about the parts of a run that are not in its report.
    package static func warnings(of results: RunResults) -> [String] {
        let isCutBetweenRecords = !results.isComplete && results.omitted.cutByteCount == 0
        return results.omitted.texts
            + (isCutBetweenRecords ? ["The run was broken off or goes on: the result file has no end record."] : [])
    }

    /// The findings of the run, in a few lines.
    package var verdict: [String] { document.verdict }

    /// All files of the report: `index.html`, `report.md`, `summary.md`, `results.json`, `results.csv`, `report.xml`,
    /// and `throughput.svg` and the other pictures for which there are data.
    ///
    /// The same results give the same bytes: the files do not depend on clock, locale, disk or the order of a hash
    /// table.
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
        case .junit:
            ReportFile(name: format.fileName) { [summary] in try JUnitDocument(suites: summary.junit()).write(to: $0) }
        }
    }
}

extension Document {
    /// The pictures, in the order of the document.
    var charts: [Chart] {
        sections.flatMap(\.blocks).compactMap { block in
            if case .chart(let chart, _) = block { chart } else { nil }
        }
    }
}

/// A file of a report: a name and its content, which is generated on demand. Only names of results for asv contain
/// folders.
package struct ReportFile: Sendable {
    /// The file's name, such as `index.html`, or its path in the report's folder.
    package var name: String

    private let content: Content

    private enum Content: Sendable {
        case text(String)
        case parts(@Sendable (_ part: ([UInt8]) throws -> Void) throws -> Void)
    }

    /// A file with text as its content, encoded in UTF-8.
    init(name: String, text: String) {
        self.name = name
        content = .text(text)
    }

    /// A file whose content comes in parts, so that a long one is never in memory as a whole.
    ///
    /// - Parameters:
    ///   - name: The file's name.
    ///   - parts: Calls its argument with each part in order, and rethrows its errors.
    init(name: String, parts: @escaping @Sendable (_ part: ([UInt8]) throws -> Void) throws -> Void) {
        self.name = name
        content = .parts(parts)
    }

    /// Passes the content to `sink`, part by part.
    ///
    /// - Parameter sink: Receives each part. The buffer is valid only during the call.
    /// - Throws: The errors of `sink`.
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
    /// Returns whether two files have the same name and the same bytes.
    package static func == (one: ReportFile, other: ReportFile) -> Bool {
        one.name == other.name && one.bytes == other.bytes
    }
}

/// The forms of a report.
package enum ReportFormat: String, CaseIterable, Sendable {
    /// A page that needs no other files.
    case html
    /// The full content of the page; its pictures are files beside it.
    case fullMarkdown = "full-markdown"
    /// A summary that fits into a comment on a pull request, with charts made of letters.
    case markdown
    case json
    case csv
    /// One test case per cell, for CI systems.
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
