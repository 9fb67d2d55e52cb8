import Support

/// Text from a result file, escaped for a page, a picture or a table. Whatever it contains, it stays text.
enum MarkupText {
    /// Returns text for HTML and SVG, in content and in quoted attributes.
    ///
    /// Control characters that XML forbids become U+FFFD: a single one would make a whole picture unreadable.
    /// - Source: XML 1.0 (fifth edition), §2.2 and §2.4.
    static func markup(_ text: String) -> String {
        if text.utf8.allSatisfy(isPlain) { return text }
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            case "\t", "\n": escaped.unicodeScalars.append(scalar)
            default: escaped.unicodeScalars.append(isForbidden(scalar) ? "\u{FFFD}" : scalar)
            }
        }
        return escaped
    }

    /// Returns text for a line or a table cell of GitHub-flavoured Markdown. Line breaks become spaces, and an `@` or
    /// `#` neither mentions a user nor links to an issue.
    ///
    /// - Source: GitHub Flavored Markdown 0.29, §2.4 (backslash escapes) and §4.10 (tables).
    static func markdown(_ text: String) -> String {
        if text.utf8.allSatisfy(isPlain) { return text }
        var escaped = ""
        var isReference = false
        for scalar in text.unicodeScalars {
            if isReference, scalar.properties.isAlphabetic || scalar.properties.numericType != nil {
                escaped += "&#8203;"
            }
            isReference = scalar == "@" || scalar == "#"
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\\", "`", "*", "_", "[", "]", "|", "~":
                escaped.unicodeScalars.append("\\")
                escaped.unicodeScalars.append(scalar)
            case "\t", "\n", "\r", "\u{85}", "\u{2028}", "\u{2029}": escaped += " "
            default: escaped.unicodeScalars.append(isForbidden(scalar) ? "\u{FFFD}" : scalar)
            }
        }
        return escaped
    }

    /// Returns text for the beginning of a Markdown block, a paragraph or an item of a list. It never begins another
    /// kind of block, such as a heading, another list or a thematic break.
    ///
    /// - Source: GitHub Flavored Markdown 0.29, §4.1 to §4.3 (lines and headings) and §5.2 (lists).
    static func markdownBlock(_ text: String) -> String {
        let escaped = markdown(text)
        let digits = escaped.prefix { ("0"..."9").contains($0) }
        let rest = escaped[digits.endIndex...]
        guard let mark = rest.first else { return escaped }
        // A number with a point or a parenthesis begins a list if a space or nothing follows.
        let isEnd = (rest.dropFirst().first ?? " ") == " "
        let begins = digits.isEmpty ? "#-+=".contains(mark) : isEnd && ".)".contains(mark)
        return begins ? String(digits) + "\\" + String(rest) : escaped
    }

    /// Returns a field of comma-separated values that a spreadsheet takes for text.
    ///
    /// Excel, LibreOffice and Google Sheets run a field that begins with one of `= + - @`. This also holds after a tab,
    /// a line break or a semicolon, which some of them take for field separators. A leading apostrophe makes the field
    /// text in all three. Control characters become U+FFFD.
    ///
    /// - Source: OWASP, "CSV Injection".
    static func csv(_ text: String) -> String {
        if text.utf8.allSatisfy(isPlain), !["=", "-"].contains(text.first) { return text }
        var field = ""
        var begins = true
        for scalar in plain(text).unicodeScalars {
            if begins, "=+-@\u{FF1D}\u{FF0B}\u{FF0D}\u{FF20}".unicodeScalars.contains(scalar) { field += "'" }
            begins = "\t\n;\"".unicodeScalars.contains(scalar)
            field.unicodeScalars.append(scalar)
        }
        return field
    }

    /// Returns text with control characters, except line breaks and tabs, replaced by U+FFFD.
    static func plain(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { isForbidden($0) && $0 != "\n" && $0 != "\t" ? "\u{FFFD}" : $0 }))
    }

    /// Most texts consist of letters, digits and a few signs without a special meaning; this test finds them quickly.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: " "), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: "="), UInt8(ascii: "/"), UInt8(ascii: "%"):
            true
        default: false
        }
    }

    private static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
        PlainText.isControl(scalar) || scalar.value & 0xFFFE == 0xFFFE
    }
}

/// Links to files beside a document.
package enum LinkText {
    /// Returns a path as a relative reference. Whatever characters the path has, the reference names a file and no
    /// other URL.
    ///
    /// - Source: RFC 3986, §2.3 (unreserved characters) and §4.2 (a first segment with a colon needs `./` before it).
    static func reference(_ path: String) -> String {
        var encoded = ""
        for byte in path.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"), UInt8(ascii: "/"):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let hex = String(byte, radix: 16, uppercase: true)
                encoded += hex.count < 2 ? "%0\(hex)" : "%\(hex)"
            }
        }
        return encoded
    }

    /// Returns the relative path from a folder to a file. Both paths are absolute and contain no `.` or `..`.
    package static func path(from folder: String, to file: String) -> String {
        let (from, to) = (folder.split(separator: "/"), file.split(separator: "/"))
        let shared = zip(from, to).prefix { $0 == $1 }.count
        let up = [Substring](repeating: "..", count: from.count - shared)
        return (up + to.dropFirst(shared)).joined(separator: "/")
    }
}

/// Text in which a number and its unit stay on one line of a page.
enum NonBreakingUnits {
    private static let units: Set<Substring> = [
        "B", "kB", "MB", "GB", "KiB", "MiB", "GiB", "TiB", "ns", "µs", "ms", "s", "%",
    ]

    /// Returns the text with a no-break space between each number and the unit after it.
    static func glued(_ text: String) -> String {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        var glued = ""
        for (index, word) in words.enumerated() {
            if index > 0 {
                let isNumber = words[index - 1].last.map { ("0"..."9").contains($0) } ?? false
                let unit = word.prefix { $0.isLetter || $0 == "%" }
                glued += isNumber && units.contains(unit) ? "\u{A0}" : " "
            }
            glued += word
        }
        return glued
    }
}
