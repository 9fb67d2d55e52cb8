import Testing

@testable import Report

@Suite("documents for a terminal")
struct TextRendererTests {
    private func text(_ table: Table) -> String { text(.table(table)) }

    private func text(_ block: Document.Block, allIn option: String? = nil) -> String {
        TextRenderer.render(Document(title: "", sections: [.init(blocks: [block])]), allIn: option)
    }

    private func table(_ name: String, rowCount: Int, isWhole: Bool = false) -> Table {
        Table(
            caption: "Rates.", columns: [.text("Name"), .number("Rate")],
            rows: (1...rowCount).map { [Table.Entry(name, detail: "words"), Table.Entry("\($0)", detail: "0 to 99")] },
            isWhole: isWhole)
    }

    @Test("details stand behind numbers, or below them where lines would be too long")
    func details() {
        #expect(
            text(table("short", rowCount: 1)) == """
                Name          Rate
                short  1 (0 to 99)
                Rates.
                """)
        let long = String(repeating: "w", count: 68)
        #expect(
            text(table(long, rowCount: 1)).hasSuffix(
                long + "        1\n" + String(repeating: " ", count: 70) + "0 to 99\nRates."))
    }

    @Test("of a long table a short text has the beginning, and the number of other rows; nothing else is cut")
    func long() {
        let lines = text(.table(table("short", rowCount: 20)), allIn: "--format markdown").split(separator: "\n")
        #expect(lines.count == 15 && lines[13] == "and 8 more; --format markdown has all")
        let items = text(.list((1...20).map(String.init)), allIn: "--all").split(separator: "\n")
        #expect(items.count == 20 && items.last == "- 20")
        let whole = text(.table(table("short", rowCount: 20, isWhole: true)), allIn: "--all")
        #expect(whole == text(table("short", rowCount: 20, isWhole: true)))
        #expect(text(table("short", rowCount: 20)).split(separator: "\n").count == 22)
    }

    @Test("alternatives that do not fit side by side stand below each other, all with the first column")
    func alternatives() {
        let names = ["a", "b", "c"].map { String(repeating: $0, count: 30) }
        let table = Table(
            caption: "", columns: [.text("")] + names.map { .text($0) },
            rows: [[Table.Entry("property")] + ["1", "2", "3"].map { Table.Entry($0) }])
        let parts = text(table).split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        #expect(parts == [[names[0], names[1]], ["property", "1", "2"], [names[2]], ["property", "3"]])
    }

    @Test("headings are capital, foreign text drives no terminal and gives a runner of CI no orders")
    func document() {
        let words = String(repeating: "w", count: 75) + " ::error::x"
        let document = Document(
            title: "A title", subtitle: words, warnings: [Warning(plain: "this is not whole.")], verdict: ["Take it."],
            sections: [
                .init(title: "History: host", blocks: [.paragraph(words), .list([words + "\u{1B}\n::error::y"])]),
                .init(
                    title: "Facts",
                    blocks: [.facts([("Name", "a"), ("Other name", "b"), ("::z", " ::x"), ("x", "##[error]y")])]),
            ])
        let lines = TextRenderer.render(document).split(separator: "\n").map(String.init)
        for line in [
            "A title", "warning: Before you read on: this is not whole.", "Take it.", "HISTORY: host", "FACTS",
            "Name        a", "Other name  b",
        ] {
            #expect(lines.contains(line), "\(line)")
        }
        #expect(!lines.contains { $0.drop(while: \.isWhitespace).hasPrefix("::") || $0.contains("##[") })
        #expect(!lines.contains { $0.contains("\u{1B}") || $0.count > 80 })
    }
}
