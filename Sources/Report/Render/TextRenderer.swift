import Results

/// Writes the parts of a document for a terminal: no markup, columns that line up.
enum TextRenderer {
    /// Returns one block; pictures have no place here.
    static func block(_ block: Document.Block) -> String {
        switch block {
        case .paragraph(let text): plain(text)
        case .list(let items): items.map { "- \(plain($0))" }.joined(separator: "\n")
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

    /// Returns a table under its column heads, its caption after it.
    ///
    /// A first column of long names goes last, so that figures are in sight.
    static func table(_ table: Table) -> String {
        var rows = [table.columns.map(\.title)]
        rows += table.rows.map { row in
            row.map { entry in plain(entry.text) + (entry.detail.map { " (\(plain($0)))" } ?? "") }
        }
        var isNumeric = table.columns.map(\.isNumeric)
        if rows.contains(where: { ($0.first?.count ?? 0) > longestFirstName }), let first = isNumeric.first {
            rows = rows.map { Array($0.dropFirst() + $0.prefix(1)) }
            isNumeric = isNumeric.dropFirst() + [first]
        }
        return aligned(rows, isNumeric: isNumeric) + "\n\(plain(table.caption))"
    }

    private static let longestFirstName = 40

    private static func aligned(_ rows: [[String]], isNumeric: [Bool]) -> String {
        let widths = isNumeric.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            var line = row.enumerated().map { column, text in
                let space = String(repeating: " ", count: widths[column] - text.count)
                return isNumeric[column] ? space + text : text + space
            }.joined(separator: "  ")
            while line.last == " " { line.removeLast() }
            return line
        }.joined(separator: "\n")
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
