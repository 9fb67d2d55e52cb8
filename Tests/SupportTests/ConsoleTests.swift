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

    @Test("a cell may have lines of its own, and numbers are broken after all else")
    func lines() {
        let rows = [["what", "rate"], ["some words", "10 MiB/s\n9–11 MiB/s"]]
        #expect(
            TextTable(rows, rightAligned: [1]).text == """
                what              rate
                some words    10 MiB/s
                            9–11 MiB/s
                """)
        #expect(TextTable([["10 MiB/s"]], rightAligned: [0], limit: 5).text == "   10\nMiB/s")
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

@Suite("colour") struct ColorTests {
    @Test(
        "only on a terminal, and as the user says",
        arguments: [
            (.auto, true, [:], true), (.auto, false, [:], false), (.auto, true, ["NO_COLOR": "1"], false),
            (.auto, true, ["NO_COLOR": ""], true), (.auto, true, ["TERM": "dumb"], false),
            (.always, false, ["NO_COLOR": "1", "TERM": "dumb"], true), (.never, true, [:], false),
        ] as [(ColorChoice, Bool, [String: String], Bool)])
    func choice(choice: ColorChoice, isTerminal: Bool, environment: [String: String], isColored: Bool) {
        #expect(choice.isColored(isTerminal: isTerminal) { environment[$0] } == isColored)
    }

    @Test("words at the start of a line or column are painted, and nothing else changes")
    func paint() {
        let text = "FAILED x: not-FAILED, same\nsame: it is the same\na  same  FAILED-x"
        let painted = Tone.paint(text, ["FAILED": .bad, "same": .good])
        #expect(
            painted == """
                \u{1B}[1;31mFAILED\u{1B}[0m x: not-FAILED, same
                \u{1B}[32msame\u{1B}[0m: it is the same
                a  \u{1B}[32msame\u{1B}[0m  FAILED-x
                """)
        #expect(Tone.paint(text, [:]) == text)
    }
}

@Suite("a line of progress") struct ProgressLineTests {
    private let line = ProgressLine(
        position: "37/108 cells", name: "libgcrypt 256KiB sequential", stage: "round 2 of 5", rest: "about 3 min left")

    @Test(
        "fits, and gives up the name first",
        arguments: [
            (80, "37/108 cells · libgcrypt 256KiB sequential · round 2 of 5 · about 3 min left"),
            (76, "37/108 cells · libgcrypt 256KiB sequential · round 2 of 5 · about 3 min left"),
            (75, "37/108 cells · libgcrypt 256KiB sequenti… · round 2 of 5 · about 3 min left"),
            (57, "37/108 cells · libgcry… · round 2 of 5 · about 3 min left"),
            (56, "37/108 cells · round 2 of 5 · about 3 min left"), (40, "37/108 cells · about 3 min left"),
            (20, "37/108 cells"), (5, "37/10"), (0, ""), (-3, ""),
        ])
    func fits(columns: Int, text: String) {
        #expect(line.text(columns: columns) == text)
    }

    @Test("is never wider than allowed", arguments: 0..<100)
    func width(columns: Int) {
        #expect(line.text(columns: columns).count <= columns)
    }

    @Test("what is not known is left out, and what drives a terminal too")
    func parts() {
        #expect(ProgressLine(position: "1/2", name: "").text(columns: 80) == "1/2")
        #expect(ProgressLine(position: "1/2", name: "a\u{1B}[2J\nb").text(columns: 80) == "1/2 · a [2J b")
    }

    @Test("a log gets a line each tenth, not more often than each 5 s, and each 30 s in any case")
    func pace() {
        var pace = ProgressPace()
        let asked: [(Double, Double, Bool)] = [
            (0, 0, false), (0.5, 4, false), (0.5, 5, true), (0.55, 20, false), (0.6, 21, true), (0.9, 25, false),
            (0.9, 26, true), (0.91, 55, false), (0.91, 56, true), (.nan, 57, false), (1, 61, true),
        ]
        for (share, seconds, isDue) in asked {
            #expect(pace.isDue(share: share, seconds: seconds) == isDue, "\(share) after \(seconds) s")
        }
    }
}
