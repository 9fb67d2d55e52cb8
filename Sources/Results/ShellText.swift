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

    /// Words with spaces between.
    package static func joined(_ words: [String]) -> String {
        words.map(quoted).joined(separator: " ")
    }
}
