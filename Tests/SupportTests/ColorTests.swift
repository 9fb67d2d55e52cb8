import Support
import Testing

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
