/// Foreign text, made safe for a line of a terminal or a log.
package enum PlainText {
    /// Returns the text as one line: line breaks and control characters become spaces.
    ///
    /// It works on scalars, since "\r\n" is one character in Swift. So foreign text cannot add a line to a log.
    package static func line(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { isControl($0) ? " " : $0 }))
    }

    /// Returns whether a scalar controls the display: control characters, line and paragraph separators, and characters
    /// that change the direction of the following text, so that it looks like something else.
    ///
    /// - Source: Unicode Standard Annex #9, section 2.
    package static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F...0x9F, 0x2028, 0x2029, 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    /// Returns whether bytes are ASCII text: letters, digits, punctuation, spaces, tabs and line breaks.
    package static func isASCII(_ bytes: some Sequence<UInt8>) -> Bool {
        bytes.allSatisfy { (0x20..<0x7F).contains($0) || [0x09, 0x0A, 0x0D].contains($0) }
    }
}

extension Collection where Element: CustomStringConvertible {
    /// Returns the elements as "a, b and c", with a word such as "and" before the last one.
    package func listed(_ word: String) -> String {
        let others = dropLast().map(\.description).joined(separator: ", ")
        return (others.isEmpty ? "" : "\(others) \(word) ") + suffix(1).map(\.description).joined()
    }
}

/// Command lines in the notation of a POSIX shell.
package enum ShellText {
    /// Returns a word, in single quotes if necessary.
    ///
    /// - Source: POSIX.1-2017, Shell Command Language, section 2.2.2.
    package static func quoted(_ word: String) -> String {
        let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=:,+@%".unicodeScalars)
        guard word.isEmpty || !word.unicodeScalars.allSatisfy(plain.contains) else { return word }
        // By scalars: a quotation mark with a combining mark is another character, but ends a word all the same.
        return "'" + word.unicodeScalars.map { $0 == "'" ? "'\\''" : String($0) }.joined() + "'"
    }

    /// Returns a command without its first word, so that the program's path does not matter.
    package static func options(of command: String) -> String {
        var rest = command[...]
        _ = firstWord(of: &rest)
        return String(rest.drop { $0 == " " })
    }

    /// Returns the words of a command without quotes; variables and other expansions of a shell stay as they are.
    package static func words(_ command: String) -> [String] {
        var (words, rest) = ([String](), command[...])
        while let word = firstWord(of: &rest) { words.append(word) }
        return words
    }

    /// Removes and returns the first word of a command.
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

    /// Returns words with spaces in between.
    package static func joined(_ words: [String]) -> String {
        words.map(quoted).joined(separator: " ")
    }
}

/// Byte strings in the notation of the protocol and the command line.
package enum Hexadecimal {
    /// Decodes hexadecimal digits.
    ///
    /// - Parameters:
    ///   - text: The digits, two per byte.
    ///   - allowsUpperCase: True to accept `A` to `F` as well; the protocol has lower case only.
    /// - Returns: The bytes; `nil` if a character is not a digit or the number of digits is odd.
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
