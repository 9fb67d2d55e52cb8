import Support
import Testing

@Suite("tables for a terminal") struct TextTableTests {
    @Test("columns line up, numbers to the right")
    func plain() {
        let table = TextTable([["name", "n"], ["a", "1"], ["long", "100"]], rightAligned: [1])
        #expect(table.text == "name    n\na       1\nlong  100")
    }

    @Test("texts that are too long are broken between words")
    func wrapped() {
        let table = TextTable([["who", "what"], ["a", "some words that are many"], ["b", "few"]], limit: 16)
        #expect(table.text == "who  what\na    some words\n     that are\n     many\nb    few")
    }

    @Test("a first column that would be too narrow stands above")
    func above() {
        let name = "a name of a configuration that is long"
        let table = TextTable([["name", "x", "y"], [name, "10 MiB/s", "20 MiB/s"]], rightAligned: [1, 2], limit: 40)
        #expect(
            table.text == """
                name
                         x         y
                a name of a configuration that is long
                  10 MiB/s  20 MiB/s
                """)
    }

    @Test("no line is longer than allowed, whatever the rows", arguments: 0..<200)
    func width(seed: Int) {
        var state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15
        func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        let columns = 1 + next(6)
        let rows = (0..<1 + next(5)).map { _ in
            (0..<next(columns + 1)).map { _ in
                (0..<next(8)).map { _ in String(repeating: "w", count: 1 + next(next(20) == 0 ? 90 : 9)) }
                    .joined(separator: " ")
            }
        }
        let text = TextTable(rows).text
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 }, "\(text)")
        // Nothing is lost.
        let letters = rows.joined().joined().count { $0 == "w" }
        #expect(text.count { $0 == "w" } == letters)
    }

    @Test("paragraphs", arguments: [1, 10, 20, 80])
    func paragraph(columns: Int) {
        let text = "Fastest sequential: libgcrypt, 1 MiB windows; nothing-ties-with-it-however-long-one-looks."
        let lines = TextWrapping.lines(text, columns: columns)
        #expect(lines.allSatisfy { $0.count <= columns && !$0.isEmpty })
        #expect(lines.joined().filter { $0 != " " } == text.filter { $0 != " " })
        #expect(TextWrapping.lines("", columns: columns) == [""])
    }
}
