/// Writes a document as GitHub-flavoured Markdown; pictures are files beside it.
enum MarkdownRenderer {
    /// Writes a document whose title is a heading of a level; other headings are one level below.
    static func render(_ document: Document, level: Int = 1) -> String {
        let mark = String(repeating: "#", count: level)
        var parts = ["\(mark) \(MarkupText.markdown(document.title))"]
        if !document.subtitle.isEmpty { parts.append(MarkupText.markdownBlock(document.subtitle)) }
        parts += document.warnings.map { "> **Warning:** \(MarkupText.markdown($0.text))" }
        let verdict = document.verdict.enumerated().map { "\($0.offset + 1). \(MarkupText.markdownBlock($0.element))" }
        if !verdict.isEmpty { parts += ["\(mark)# Verdict", verdict.joined(separator: "\n")] }
        for section in document.sections {
            if !section.title.isEmpty { parts.append("\(mark)# \(MarkupText.markdown(section.title))") }
            parts += section.blocks.map(block)
        }
        return parts.joined(separator: "\n\n") + "\n"
    }

    static func block(_ block: Document.Block) -> String {
        switch block {
        case .paragraph(let text): MarkupText.markdownBlock(text)
        case .list(let items): items.map { "- \(MarkupText.markdownBlock($0))" }.joined(separator: "\n")
        case .facts(let facts):
            facts.map { "- **\(MarkupText.markdown($0.name)):** \(MarkupText.markdown($0.value))" }
                .joined(separator: "\n")
        case .verbatim(let caption, let text): "\(MarkupText.markdownBlock(caption)):\n\n\(fenced(text))"
        case .chart(let chart, _):
            "![\(MarkupText.markdown("\(chart.title). \(chart.description)"))](\(chart.name).svg)"
        case .table(let content): table(content)
        case .foldedTable(let content):
            "<details>\n<summary>\(MarkupText.markup(content.caption))</summary>\n\n\(rows(content))\n\n</details>"
        }
    }

    private static func table(_ table: Table) -> String {
        "\(MarkupText.markdownBlock(table.caption))\n\n\(rows(table))"
    }

    private static func rows(_ table: Table) -> String {
        let head = table.columns.map { MarkupText.markdown($0.title) }
        let rule = table.columns.map { $0.isNumeric ? "---:" : "---" }
        return ([head, rule] + table.rows.map { $0.map(entry) })
            .map { "| \($0.joined(separator: " | ")) |" }
            .joined(separator: "\n")
    }

    private static func entry(_ entry: Table.Entry) -> String {
        var text = MarkupText.markdown(entry.text)
        if let link = entry.link { text = "[\(text)](\(LinkText.reference(link)))" }
        let detail = entry.detail.map { "<br><sub>\(MarkupText.markdown($0))</sub>" } ?? ""
        return (entry.emphasis == .none ? text : "**\(text)**") + detail
    }

    /// Returns a code block. Its fence is longer than any run of backticks in the text.
    private static func fenced(_ text: String) -> String {
        let text = MarkupText.plain(text)
        var (longest, current) = (0, 0)
        for character in text.utf8 {
            current = character == UInt8(ascii: "`") ? current + 1 : 0
            longest = max(longest, current)
        }
        let fence = String(repeating: "`", count: max(3, longest + 1))
        return "\(fence)\n\(text)\(text.hasSuffix("\n") ? "" : "\n")\(fence)"
    }
}
