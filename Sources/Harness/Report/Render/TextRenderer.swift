import Results
import Support

/// Writes the parts of a document for a terminal: no markup, columns that line up.
enum TextRenderer {
    /// Returns one block; pictures have no place here.
    static func block(_ block: Document.Block) -> String {
        switch block {
        case .paragraph(let text): TextWrapping.text(plain(text), indent: "")
        case .list(let items):
            items.flatMap { TextWrapping.lines("- \(plain($0))", columns: TextTable.width, indent: "  ") }
                .joined(separator: "\n")
        case .facts(let facts): self.facts(facts)
        case .verbatim(let caption, let text): "\(plain(caption)):\n\(text)"
        case .chart(let chart, _): plain("\(chart.title). \(chart.description)")
        case .table(let content), .foldedTable(let content): table(content)
        }
    }

    /// Returns names with what they stand for.
    static func facts(_ facts: [(name: String, value: String)]) -> String {
        aligned(facts.map { [plain($0.name), plain($0.value)] }, isNumeric: [false, false])
    }

    /// Returns a table under its column heads, its caption after it, in 80 columns.
    static func table(_ table: Table) -> String {
        var rows = [table.columns.map(\.title)]
        rows += table.rows.map { row in
            row.map { entry in plain(entry.text) + (entry.detail.map { " (\(plain($0)))" } ?? "") }
        }
        return aligned(rows, isNumeric: table.columns.map(\.isNumeric)) + "\n"
            + TextWrapping.text(plain(table.caption), indent: "")
    }

    private static func aligned(_ rows: [[String]], isNumeric: [Bool]) -> String {
        TextTable(rows, rightAligned: Set(isNumeric.indices.filter { isNumeric[$0] })).text
    }

    /// Text of several lines, without what would drive a terminal.
    static func plainLines(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { plain(String($0)) }.joined(separator: "\n")
    }

    /// Text from a file, without what would drive a terminal.
    private static func plain(_ text: String) -> String {
        PlainText.line(text)
    }
}
