/// How a history is shown.
package enum TrendFormat: String, CaseIterable, Sendable {
    /// For a terminal.
    case text
    /// A page that needs nothing beside it.
    case html
    /// GitHub-flavoured Markdown; pictures are lines of letters.
    case markdown
    /// One object.
    case json
}

extension History {
    /// The history in one form, as a file of that name.
    package func file(_ format: TrendFormat, name: String = "trend") -> ReportFile {
        switch format {
        case .text: ReportFile(name: name, text: TrendText.render(self) + "\n")
        case .html: ReportFile(name: name, text: HTMLRenderer.render(Document(self)))
        case .markdown: ReportFile(name: name, text: MarkdownRenderer.render(Document(self).withoutCharts))
        case .json: ReportFile(name: name, text: json.text + "\n")
        }
    }
}

extension Document {
    /// The document for a place where there are no files for its pictures.
    fileprivate var withoutCharts: Document {
        var document = self
        for index in document.sections.indices {
            document.sections[index].blocks.removeAll { if case .chart = $0 { true } else { false } }
        }
        return document
    }
}
