/// Writes a document as one HTML page that loads nothing and is complete without its script.
enum HTMLRenderer {
    static func render(_ document: Document) -> String {
        let title = MarkupText.markup(document.title)
        let links = document.sections.map { "<li><a href=\"#\($0.name)\">\(MarkupText.markup($0.title))</a></li>" }
        let hasVerdict = !document.verdict.isEmpty
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <meta http-equiv="Content-Security-Policy" content="\(PageScript.policy)">
            <title>\(title)</title>
            <style>
            \(PageStyle.text)</style>
            </head>
            <body>
            \(hasVerdict ? "<a class=\"skip\" href=\"#verdict\">Skip to the verdict</a>\n" : "")\
            <header>
            <p class="brand">Chunkwise report</p>
            <h1>\(title)</h1>
            <p class="subtitle">\(MarkupText.markup(document.subtitle))</p>
            </header>
            <main>
            \(document.warnings.map(warning).joined())\
            \(hasVerdict ? verdict(document.verdict) : "")\
            <nav aria-label="Sections"><ul>\(links.joined())</ul></nav>
            \(document.sections.map(section).joined())</main>
            <script>\(PageScript.text)</script>
            </body>
            </html>

            """
    }

    private static func warning(_ warning: Warning) -> String {
        "<p class=\"warning\"><strong>Warning: \(MarkupText.markup(warning.title)).</strong> "
            + "\(MarkupText.markup(NonBreakingUnits.glued("\(warning.sentence) \(warning.advice)")))</p>\n"
    }

    private static func verdict(_ sentences: [String]) -> String {
        let items = sentences.map { "<li>\(MarkupText.markup(NonBreakingUnits.glued($0)))</li>\n" }
        return """
            <section id="verdict" class="verdict" aria-labelledby="verdict-heading">
            <h2 id="verdict-heading">Verdict</h2>
            <ol>
            \(items.joined())</ol>
            </section>

            """
    }

    private static func section(_ section: Document.Section) -> String {
        """
        <section id="\(section.name)" aria-labelledby="\(section.name)-heading">
        <h2 id="\(section.name)-heading">\(MarkupText.markup(section.title))</h2>
        \(section.blocks.map(block).joined())</section>

        """
    }

    private static func block(_ block: Document.Block) -> String {
        switch block {
        case .paragraph(let text): return "<p>\(MarkupText.markup(text))</p>\n"
        case .list(let items):
            return "<ul>\n\(items.map { "<li>\(MarkupText.markup($0))</li>\n" }.joined())</ul>\n"
        case .facts(let facts):
            let pairs = facts.map { "<dt>\(MarkupText.markup($0.name))</dt><dd>\(MarkupText.markup($0.value))</dd>\n" }
            return "<dl>\n\(pairs.joined())</dl>\n"
        case .verbatim(let caption, let text):
            // The parser drops a line break right after <pre>. A text that begins with a line break therefore needs
            // another one.
            let label = MarkupText.markup(caption)
            return "<figure class=\"verbatim\"><figcaption>\(label)</figcaption>"
                + "<pre tabindex=\"0\" role=\"region\" "
                + "aria-label=\"\(label)\">\n\(MarkupText.markup(text))</pre></figure>\n"
        case .chart(let chart, let narrow): return figure(chart, narrow: narrow)
        case .table(let content): return HTMLTable.render(content)
        case .foldedTable(let content):
            return "<details>\n<summary>Table: \(MarkupText.markup(content.caption))</summary>\n"
                + "\(HTMLTable.render(content))</details>\n"
        }
    }

    /// Returns a picture and its description. A picture without a narrow version scrolls sideways in a box. Of two
    /// versions, the page shows the one that fits.
    private static func figure(_ chart: Chart, narrow: Chart?) -> String {
        let caption = "\(chart.name)-caption"
        let words =
            "<figcaption id=\"\(caption)\">\(MarkupText.markup(NonBreakingUnits.glued(chart.description)))</figcaption>"
        let pictures: String
        if let narrow {
            pictures =
                "\(chart.inline(class: "wide", caption: caption))\n\(narrow.inline(class: "narrow", caption: caption))"
        } else {
            let label = MarkupText.markup(chart.title + " (picture)")
            pictures =
                "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"\(label)\">\n"
                + "\(chart.inline(caption: caption))\n</div>"
        }
        return "<figure class=\"picture\">\n\(pictures)\n\(words)\n</figure>\n"
    }
}

/// Writes a table with its caption, and with scopes for screen readers.
enum HTMLTable {
    /// Returns the table in a box that scrolls sideways on a narrow page.
    static func render(_ table: Table) -> String {
        let label = MarkupText.markup(table.caption)
        let heads = table.columns.map { column in
            // An empty column head is not a heading.
            column.title.isEmpty
                ? "<td></td>"
                : "<th scope=\"col\"\(column.isNumeric ? " class=\"number\"" : "")>"
                    + "\(MarkupText.markup(column.title))</th>"
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
