package import Results

/// Renders the report of a run: a page, Markdown with its pictures, and the data as JSON and CSV.
///
/// The same results give the same bytes: no clock, locale, disk or order of a hash table is involved. Pictures for which
/// there are no data are left out, and so are their files.
/// - Returns: `index.html`, `report.md`, `results.json` and `results.csv`, and those of `throughput.svg`, `memory.svg`
///   and `ranges.svg` that there are data for.
package func renderReport(_ results: RunResults) -> [ReportFile] {
    let summary = RunSummary(results)
    let document = Document(summary)
    let charts = document.sections.flatMap(\.blocks).compactMap { block in
        if case .chart(let chart, _) = block { chart } else { nil }
    }
    return [
        ReportFile(name: "index.html", text: HTMLRenderer.render(document)),
        ReportFile(name: "report.md", text: MarkdownRenderer.render(document)),
        ReportFile(name: "results.json", text: summary.json.text + "\n"),
        ReportFile(name: "results.csv", text: summary.csv),
    ] + charts.map { ReportFile(name: "\($0.name).svg", text: $0.standalone) }
}
