package import Results

/// Renders the evidence of a verification: a page, Markdown, JSON and JUnit, all from the same model.
///
/// The same evidence gives the same bytes.
/// - Returns: `index.html`, `evidence.md`, `evidence.json` and `junit.xml`; if there is an integrity matrix, `tamper.json`
///   with each of its cases.
package func renderEvidence(_ evidence: Evidence) -> [ReportFile] {
    let document = Document(evidence)
    return [
        ReportFile(name: "index.html", text: HTMLRenderer.render(document)),
        ReportFile(name: "evidence.md", text: MarkdownRenderer.render(document)),
        ReportFile(name: "evidence.json", text: evidence.json.text + "\n"),
        ReportFile(name: "junit.xml", text: JUnitRenderer.render(evidence)),
    ]
        + (evidence.tampering.map { [ReportFile(name: "tamper.json", text: TamperRecord.json($0).text + "\n")] } ?? [])
}
