/// The meaning of a word, shown by a colour in addition to the word, never by the colour alone.
package enum Tone: Sendable {
    case good
    case bad
    case unclear

    /// The SGR parameter: the terminal's own green, red and yellow, which its theme keeps readable.
    ///
    /// - Source: ECMA-48, §8.3.117.
    private var parameter: String {
        switch self {
        case .good: "32"
        case .bad: "1;31"
        case .unclear: "33"
        }
    }

    /// Colours words that are an answer: at the start of a line, or of a table's column.
    ///
    /// - Parameters:
    ///   - text: The text, with its final layout.
    ///   - words: The meanings of the words.
    /// - Returns: The text with escape sequences around the words.
    package static func paint(_ text: String, _ words: [String: Tone]) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            var painted = ""
            var rest = line
            while !rest.isEmpty {
                let word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "-" }
                let isAnswer = painted.isEmpty || painted.hasSuffix("  ")
                if !word.isEmpty, isAnswer, let tone = words[String(word)] {
                    painted += "\u{1B}[\(tone.parameter)m\(word)\u{1B}[0m"
                } else {
                    painted += word
                }
                rest = rest.dropFirst(word.count)
                painted += rest.prefix(1)
                rest = rest.dropFirst(1)
            }
            return painted
        }.joined(separator: "\n")
    }
}

/// The user's choice of coloured output.
package enum ColorChoice: String, CaseIterable, Sendable {
    /// Colours on a terminal, unless the environment disables them.
    case auto
    /// Colours even in a pipe.
    case always
    /// No colours.
    case never

    /// Returns whether to write colours.
    ///
    /// - Parameters:
    ///   - isTerminal: True if the output is a terminal.
    ///   - variable: Reads the environment.
    /// - Returns: The answer. `NO_COLOR` disables colours if it is set and not empty, except with ``always``. A
    ///   terminal named `dumb` has no colours.
    /// - Source: https://no-color.org.
    package func isColored(isTerminal: Bool, variable: (String) -> String?) -> Bool {
        switch self {
        case .always: true
        case .never: false
        case .auto: isTerminal && (variable("NO_COLOR") ?? "").isEmpty && variable("TERM") != "dumb"
        }
    }
}
