extension RunComparison {
    /// The comparison as a page, Markdown and JSON.
    package var files: [ReportFile] {
        let document = Document(self)
        return [
            ReportFile(name: "index.html", text: HTMLRenderer.render(document)),
            ReportFile(name: "report.md", text: markdown + "\n"),
            ReportFile(name: "comparison.json", text: json.text + "\n"),
        ] + document.charts.map { ReportFile(name: "\($0.name).svg", text: $0.standalone) }
    }

    /// One form of the comparison, or `nil` where there is no such form.
    package func file(_ format: ReportFormat) -> ReportFile? {
        switch format {
        case .html: ReportFile(name: "index.html", text: HTMLRenderer.render(Document(self)))
        case .markdown, .fullMarkdown: ReportFile(name: "report.md", text: markdown + "\n")
        case .json: ReportFile(name: "comparison.json", text: json.text + "\n")
        case .csv, .junit: nil
        }
    }
}

extension Document {
    /// The page of a comparison.
    init(_ comparison: RunComparison) {
        title = "Two runs side by side"
        subtitle = "\(comparison.nameA) and \(comparison.nameB)"
        warnings = comparison.warnings.map(Warning.init(plain:))
        verdict = comparison.findings
        sections =
            [Section(name: "runs", title: "Runs", blocks: [.facts(comparison.runs)])]
            + comparison.sections.map { section in
                guard section.name == "cells", let chart = comparison.forestChart else { return section }
                var section = section
                section.blocks.insert(.chart(chart.chart(), narrow: chart.chart(width: 420)), at: 1)
                return section
            }
    }
}
