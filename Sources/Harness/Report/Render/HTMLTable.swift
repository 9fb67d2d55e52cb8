/// Writes a table with its caption and the scopes that screen readers announce.
enum HTMLTable {
    /// Returns the table in a box that scrolls sideways where the page is narrow.
    static func render(_ table: Table) -> String {
        let label = MarkupText.markup(table.caption)
        let heads = table.columns.map { column in
            // A head that names nothing is no head.
            column.title.isEmpty
                ? "<td></td>"
                : "<th scope=\"col\"\(column.isNumeric ? " class=\"number\"" : "")>\(MarkupText.markup(column.title))</th>"
        }
        let rows = table.rows.map { entries in
            let cells = zip(table.columns, entries).enumerated().map { index, pair in
                cell(pair.1, isNumeric: pair.0.isNumeric, isRowHead: index == 0)
            }
            return "<tr>\(cells.joined())</tr>\n"
        }
        return """
            <div class="scroll" tabindex="0" role="region" aria-label="\(label)">
            <table>
            <caption><span>\(label)</span></caption>
            <thead><tr>\(heads.joined())</tr></thead>
            <tbody>
            \(rows.joined())</tbody>
            </table>
            </div>

            """
    }

    private static func cell(_ entry: Table.Entry, isNumeric: Bool, isRowHead: Bool) -> String {
        let classes = [isNumeric ? "number" : nil, name(of: entry.emphasis)].compactMap { $0 }
        let attribute = classes.isEmpty ? "" : " class=\"\(classes.joined(separator: " "))\""
        let detail = entry.detail.map { "<small>\(MarkupText.markup($0))</small>" } ?? ""
        let text = MarkupText.markup(entry.text)
        let content = (entry.link.map { "<a href=\"\(LinkText.reference($0))\">\(text)</a>" } ?? text) + detail
        return isRowHead ? "<th scope=\"row\"\(attribute)>\(content)</th>" : "<td\(attribute)>\(content)</td>"
    }

    private static func name(of emphasis: Table.Emphasis) -> String? {
        switch emphasis {
        case .none: nil
        case .good: "good"
        case .bad: "bad"
        }
    }
}
