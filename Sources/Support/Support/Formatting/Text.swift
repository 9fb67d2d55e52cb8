/// Text from elsewhere, made fit for a line of a terminal or a log.
package enum PlainText {
    /// The text as one line: whatever would end the line, or drive what shows it, is a space.
    ///
    /// By scalars, since "\r\n" is one character in Swift. A log that is read line by line takes no order from it.
    package static func line(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { isControl($0) ? " " : $0 }))
    }

    /// Whether a scalar is none that is read, but drives what shows it: control characters, line and paragraph separators,
    /// and those that turn the direction of what follows, so that it looks like something else.
    ///
    /// - Source: Unicode Standard Annex #9, section 2.
    package static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F...0x9F, 0x2028, 0x2029, 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    /// Whether bytes are text in ASCII: letters, digits, marks, spaces, tabs and ends of lines.
    package static func isASCII(_ bytes: some Sequence<UInt8>) -> Bool {
        bytes.allSatisfy { (0x20..<0x7F).contains($0) || [0x09, 0x0A, 0x0D].contains($0) }
    }
}

/// Command lines as a POSIX shell takes them.
package enum ShellText {
    /// A word, in single quotes where it needs them.
    ///
    /// - Source: POSIX.1-2017, Shell Command Language, section 2.2.2.
    package static func quoted(_ word: String) -> String {
        let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=:,+@%".unicodeScalars)
        guard word.isEmpty || !word.unicodeScalars.allSatisfy(plain.contains) else { return word }
        // By scalars: with a combining mark behind it, a quotation mark is another character, and ends a word all the same.
        return "'" + word.unicodeScalars.map { $0 == "'" ? "'\\''" : String($0) }.joined() + "'"
    }

    /// What follows the first word of a command: its options, wherever the program lies.
    package static func options(of command: String) -> String {
        var rest = command[...]
        _ = firstWord(of: &rest)
        return String(rest.drop { $0 == " " })
    }

    /// The words of a command without the quotes around them or parts of them; what a shell would put in the place of `$` and
    /// the like is left as it is.
    package static func words(_ command: String) -> [String] {
        var (words, rest) = ([String](), command[...])
        while let word = firstWord(of: &rest) { words.append(word) }
        return words
    }

    /// Takes the first word from a command.
    private static func firstWord(of rest: inout Substring) -> String? {
        rest = rest.drop { $0 == " " }
        guard !rest.isEmpty else { return nil }
        var (word, quote) = ("", Character?.none)
        while let character = rest.first, quote != nil || character != " " {
            rest.removeFirst()
            if character == quote {
                quote = nil
            } else if quote == nil, "'\"".contains(character) {
                quote = character
            } else {
                word.append(character)
            }
        }
        return word
    }

    /// Words with spaces between.
    package static func joined(_ words: [String]) -> String {
        words.map(quoted).joined(separator: " ")
    }
}

/// Byte strings as the protocol and the command line write them.
package enum Hexadecimal {
    /// Decodes hexadecimal digits.
    ///
    /// - Parameters:
    ///   - text: The digits, two for each byte.
    ///   - allowsUpperCase: Whether `A` to `F` are taken as well; the protocol has lower case only.
    /// - Returns: The bytes, or `nil` if a character is no digit or their number is odd.
    package static func decode(_ text: some StringProtocol, allowsUpperCase: Bool = false) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digit(digits[index], allowsUpperCase), let low = digit(digits[index + 1], allowsUpperCase)
            else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    /// Encodes bytes in lower case.
    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func digit(_ character: UInt8, _ allowsUpperCase: Bool) -> UInt8? {
        switch character {
        case 0x30...0x39: character - 0x30
        case 0x61...0x66: character - 0x61 + 10
        case 0x41...0x46 where allowsUpperCase: character - 0x41 + 10
        default: nil
        }
    }
}
