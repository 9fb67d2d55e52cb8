import Support

extension RunComparison {
    /// The comparison for a terminal.
    package var text: String {
        var parts = [TextRenderer.facts(runs)]
        parts += warnings.map { TextWrapping.text("warning: \($0)") }
        for section in sections {
            parts.append(section.title.uppercased())
            parts += section.blocks.map(TextRenderer.block)
        }
        return parts.joined(separator: "\n\n")
    }

    /// The comparison as GitHub-flavoured Markdown.
    package var markdown: String {
        var parts = ["# Two runs side by side", MarkdownRenderer.block(.facts(runs))]
        parts += warnings.map { "> **Warning:** \(MarkupText.markdown($0))" }
        for section in sections {
            parts.append("## \(MarkupText.markdown(section.title))")
            parts += section.blocks.map(MarkdownRenderer.block)
        }
        return parts.joined(separator: "\n\n")
    }
}
