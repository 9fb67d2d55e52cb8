/// The forms of a report.
package enum ReportFormat: String, CaseIterable, Sendable {
    /// A page that needs nothing beside it.
    case html
    /// All that the page says; pictures are files beside it.
    case fullMarkdown = "full-markdown"
    /// What fits a comment on a pull request, with pictures of letters.
    case markdown
    /// The figures and raw samples.
    case json
    /// A row a cell.
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
