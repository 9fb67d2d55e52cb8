/// Command lines as a POSIX shell takes them.
package enum ShellText {
    /// A word, in single quotes where it needs them.
    ///
    /// - Source: POSIX.1-2017, Shell Command Language, section 2.2.2.
    package static func quoted(_ word: String) -> String {
        let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=:,+@%")
        guard word.isEmpty || !word.allSatisfy(plain.contains) else { return word }
        return "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }

    /// What follows the first word of a command: its options, wherever the program lies.
    package static func options(of command: String) -> String {
        var quote: Character?
        let end = command.drop { $0 == " " }.firstIndex { character in
            if character == quote {
                quote = nil
            } else if quote == nil, "'\"".contains(character) {
                quote = character
            }
            return quote == nil && character == " "
        }
        return end.map { command[$0...].drop { $0 == " " } }.map(String.init) ?? ""
    }

    /// Words with spaces between.
    package static func joined(_ words: [String]) -> String {
        words.map(quoted).joined(separator: " ")
    }
}
