/// What a word means, shown by a colour beside the word, never by the colour alone.
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

    /// Colours words where they are an answer: at the start of a line, or of a table's column.
    ///
    /// - Parameters:
    ///   - text: The text, laid out already.
    ///   - words: What the words mean.
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

/// Whether output is coloured, as the user says it.
package enum ColorChoice: String, CaseIterable, Sendable {
    /// On a terminal, unless the environment says otherwise.
    case auto
    /// Also in a pipe.
    case always
    /// Never.
    case never

    /// Whether to write colours.
    ///
    /// - Parameters:
    ///   - isTerminal: Whether the output is a terminal.
    ///   - variable: Reads the environment.
    /// - Returns: The answer. `NO_COLOR` counts when it is set to anything but the empty string, and gives way to
    ///   ``always``; a terminal that calls itself `dumb` has no colours.
    /// - Source: https://no-color.org.
    package func isColored(isTerminal: Bool, variable: (String) -> String?) -> Bool {
        switch self {
        case .always: true
        case .never: false
        case .auto: isTerminal && (variable("NO_COLOR") ?? "").isEmpty && variable("TERM") != "dumb"
        }
    }
}
