package import Results
import Support

/// The report of a folder that holds results on keys and of no run.
package struct KeyReport: Sendable {
    private let keys: KeyResults
    private let document: Document

    /// Sums up results.
    package init(_ keys: KeyResults) {
        self.keys = keys
        let host = keys.waits.map { "\($0.host.cpuModel), \(RatioText.count($0.host.cpuCount, "CPU"))" }
        let clients = (keys.load ?? keys.loopback).map { KeyText.clients($0.clientCount) }
        document = Document(
            title: "Keys: what players wait for, and what servers are asked",
            subtitle: [host, clients].compactMap { $0 }.joined(separator: " · "), warnings: [],
            verdict: keys.findings, sections: [Document.keys(keys, findings: [])].compactMap { $0 })
    }

    /// What was found, in a few lines.
    package var verdict: [String] { document.verdict }

    /// All files of the report: `index.html`, `report.md`, `results.json`, and the pictures that there are data for.
    package var files: [ReportFile] {
        ReportFormat.allCases.compactMap(file)
            + document.charts.map { ReportFile(name: "\($0.name).svg", text: $0.standalone) }
    }

    /// One form of the report, or `nil` for one that only runs have.
    package func file(_ format: ReportFormat) -> ReportFile? {
        switch format {
        case .html: ReportFile(name: format.fileName, text: HTMLRenderer.render(document))
        case .fullMarkdown: ReportFile(name: format.fileName, text: MarkdownRenderer.render(document))
        case .json: ReportFile(name: format.fileName, text: json.text + "\n")
        case .markdown, .csv, .junit: nil
        }
    }

    private var json: JSONValue {
        let members: [String: JSONValue] = ["schema": "chunkwise-key-report-1", "verdict": JSONValue(strings: verdict)]
        return .object(members.merging(keys.jsonMembers) { $1 })
    }
}

extension KeyResults {
    /// What `results.json` says of keys.
    var jsonMembers: [String: JSONValue] {
        [
            "keyWaits": waits?.json ?? .null, "keyLoad": load?.json ?? .null,
            "keyLoadLoopback": loopback?.json ?? .null,
        ]
    }
}
