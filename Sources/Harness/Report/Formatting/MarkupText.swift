/// Text from a result file, made safe to stand in a page, a picture or a table. Whatever it holds, it stays text.
enum MarkupText {
    /// Returns text for HTML and SVG, in content and in quoted attributes.
    ///
    /// Control characters that XML forbids become U+FFFD: one of them would make a whole picture unreadable.
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

    /// Returns text for a line or a table cell of GitHub-flavoured Markdown; line breaks become spaces, and nobody is
    /// mentioned or linked to by an `@` or `#`.
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

    /// Returns text as it is, but for control characters.
    static func plain(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { isForbidden($0) && $0 != "\n" && $0 != "\t" ? "\u{FFFD}" : $0 }))
    }

    /// Most texts are letters, digits and a few signs that mean nothing anywhere; they are told apart quickly.
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
        scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) || scalar.value & 0xFFFE == 0xFFFE
    }
}
