/// Writes a document as one HTML page that loads nothing else and needs no script.
enum HTMLRenderer {
    /// Returns the page.
    static func render(_ document: Document) -> String {
        let title = MarkupText.markup(document.title)
        let links = document.sections.map { "<li><a href=\"#\($0.name)\">\(MarkupText.markup($0.title))</a></li>" }
        let warnings = document.warnings.map {
            "<p class=\"warning\"><strong>Warning.</strong> \(MarkupText.markup($0))</p>\n"
        }
        let verdict = document.verdict.map { "<li>\(MarkupText.markup(UnitGlue.glued($0)))</li>\n" }
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(title)</title>
            <style>
            \(PageStyle.text)</style>
            </head>
            <body>
            <a class="skip" href="#verdict">Skip to the verdict</a>
            <header>
            <p class="brand">Chunkwise report</p>
            <h1>\(title)</h1>
            <p class="subtitle">\(MarkupText.markup(document.subtitle))</p>
            </header>
            <main>
            \(warnings.joined())<section id="verdict" class="verdict" aria-labelledby="verdict-heading">
            <h2 id="verdict-heading">Verdict</h2>
            <ol>
            \(verdict.joined())</ol>
            </section>
            <nav aria-label="Sections"><ul>\(links.joined())</ul></nav>
            \(document.sections.map(section).joined())</main>
            </body>
            </html>

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
            // A line break right after <pre> is dropped by the parser, so that one the text begins with must be its second.
            return "<figure class=\"verbatim\"><figcaption>\(MarkupText.markup(caption))</figcaption>"
                + "<pre tabindex=\"0\">\n\(MarkupText.markup(text))</pre></figure>\n"
        case .chart(let chart, let narrow): return figure(chart, narrow: narrow)
        case .table(let content): return HTMLTable.render(content)
        case .foldedTable(let content):
            return "<details>\n<summary>\(MarkupText.markup(content.caption))</summary>\n"
                + "\(HTMLTable.render(content))</details>\n"
        }
    }

    /// Returns a picture in a box that scrolls sideways; a narrow one needs none, and the page shows one or the other.
    private static func figure(_ chart: Chart, narrow: Chart?) -> String {
        let label = MarkupText.markup(chart.title + " (picture)")
        let name = narrow == nil ? "scroll" : "scroll wide"
        let box = "<div class=\"\(name)\" tabindex=\"0\" role=\"region\" aria-label=\"\(label)\">"
        let small = narrow.map { $0.inline(class: "narrow") + "\n" } ?? ""
        return "<figure class=\"picture\">\(box)\n\(chart.inline())\n</div>\n\(small)</figure>\n"
    }
}
