import Results
import Support
import Testing

@testable import Report

/// Text of result files that somebody else wrote, in what is made of them.
@Suite("text from foreign files") struct ForeignTextTests {
    @Test("Markdown from a file stays text: it begins no block, ends no fence, and drives no terminal")
    func foreignMarkdown() throws {
        var results = Fixture.small
        results.header.command = ["chunkwise", "a\n```\n# b\u{1B}[2J\u{202E}"]
        let file = try #require(renderReport(results).first { $0.name == "report.md" })
        let text = String(decoding: file.bytes, as: UTF8.self)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.contains("````") && lines.contains { $0.hasPrefix("# b\u{FFFD}[2J\u{FFFD}") })
        #expect(text.unicodeScalars.allSatisfy { $0 == "\n" || !PlainText.isControl($0) })
        for (text, escaped) in [
            ("# a", "\\# a"), ("- a", "\\- a"), ("+ a", "\\+ a"), ("===", "\\==="), ("1. a", "1\\. a"),
            ("12) a", "12\\) a"), ("1.", "1\\."), ("1.5 s", "1.5 s"), ("a # b", "a # b"),
            ("> a", "&gt; a"), ("* a", "\\* a"),
        ] {
            #expect(MarkdownRenderer.block(.paragraph(text)) == escaped)
            #expect(MarkdownRenderer.block(.list([text])) == "- " + escaped)
        }
    }
}
