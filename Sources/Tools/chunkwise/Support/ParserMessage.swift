import Support

/// The parser's messages in the style of this program: the given value and what was expected, in one sentence.
enum ParserMessage {
    /// Rewords a message.
    ///
    /// - Parameters:
    ///   - message: The parser's message.
    ///   - full: The message with the help and the usage that the parser adds.
    /// - Returns: One sentence, without a full stop.
    static func line(_ message: String, full: String) -> String {
        let help = (full.firstMatch(of: /See '(.+) --help' for/).map { String($0.1) } ?? "chunkwise") + " --help"
        if let found = message.wholeMatch(of: /(?s)The value '(.*)' is invalid for '([^' ]+)[^']*'(.*)/) {
            let (_, value, name, rest) = found.output
            return "\(name) \"\(value)\": \(expectation(of: value, rest))"
        }
        if let found = message.wholeMatch(of: /Unknown option '(.+?)'(?:\. Did you mean '(.+)'\?)?/) {
            let meant = found.2.map { "\($0), or another" } ?? "one"
            return "unknown option \(found.1): expected \(meant) that \(help) lists"
        }
        if let found = message.wholeMatch(of: /Missing value for '(\S+)(.*)'/) {
            return "\(found.1) without a value: expected \(found.1)\(found.2)"
        }
        if let found = message.wholeMatch(of: /Missing expected argument '(.+)'/) {
            return "no \(found.1): expected \(abstract(in: full) ?? "it, as \(help) says")"
        }
        if let found = message.wholeMatch(of: /(?s)Unexpected argument '(.*)'/) {
            return "unexpected argument \"\(found.1)\": expected no more than \(help) says"
        }
        if let found = message.wholeMatch(of: /(?s)(\d+ unexpected arguments): (.*)/) {
            return "\(found.1) \(found.2): expected no more than \(help) says"
        }
        if let found = message.wholeMatch(of: /(?s)The option '(\S+)' does not take any value, but '(.*)' was.*/) {
            return "\(found.1) \"\(found.2)\": expected \(found.1) without a value"
        }
        return message.contains("expected") ? message : "\(sentence(message)): expected what \(help) says"
    }

    /// The expectation for a value: the option's own reason, its list of values, or else a number.
    private static func expectation(of value: Substring, _ rest: Substring) -> String {
        if rest.hasPrefix(": ") { return String(rest.dropFirst(2)) }
        let values =
            rest.contains("\n")
            ? rest.matches(of: /- (\S+)/).map { $0.output.1 } : rest.matches(of: /'([^']+)'/).map { $0.output.1 }
        if !values.isEmpty { return "expected \(values.listed("or"))" }
        guard Double(value) != nil else { return "expected a number" }
        if value.hasPrefix("-") { return "expected a number that is not negative" }
        return value.allSatisfy(\.isNumber) ? "expected a smaller number" : "expected a whole number"
    }

    /// The help of the missing option or argument.
    private static func abstract(in full: String) -> String? {
        full.firstMatch(of: /(?m)^Help: +\S+(?: <[^>]*>)?  (.+)$/).map { sentence(String($0.1)) }
    }

    /// A sentence in the form for the middle of another sentence.
    private static func sentence(_ text: String) -> String {
        text.prefix(1).lowercased() + (text.hasSuffix(".") ? text.dropLast() : text[...]).dropFirst()
    }
}
