import Support

/// Joins the lines of each paragraph of a command's discussion, so that the parser wraps them at the terminal's width.
///
/// - Parameter text: Paragraphs. A heading in capitals stays on its own line. Indented text is wrapped here, to 80
///   columns. Under a heading that begins with `EXAMPLE`, each line is a command, and is continued with backslashes.
///   Elsewhere, the lines are a paragraph.
/// - Returns: The text for `CommandConfiguration`.
func helpText(_ text: String) -> String {
    var lines: [String] = []
    var (paragraph, indented) = ("", "")
    var isExample = false
    func end() {
        if !paragraph.isEmpty { lines.append(paragraph) }
        if !indented.isEmpty { lines += brokenParagraph(indented) }
        (paragraph, indented) = ("", "")
    }
    // Every start of the program runs this for all commands: bytes are much faster than characters.
    for line in text.utf8.split(separator: newline, omittingEmptySubsequences: false).map({ String($0)! }) {
        let isIndented = line.utf8.first == space
        let isHeading = line.utf8.allSatisfy { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 || $0 == space }
        // A line of another kind begins a new paragraph.
        if isHeading || (isIndented ? !paragraph.isEmpty : !indented.isEmpty) { end() }
        if isHeading {
            lines.append(line)
            if !line.isEmpty { isExample = line.hasPrefix("EXAMPLE") }
        } else if isIndented, isExample {
            lines += brokenExample(line)
        } else if isIndented {
            indented += (indented.isEmpty ? "" : " ") + withoutIndent(line)
        } else {
            paragraph += (paragraph.isEmpty ? "" : " ") + line
        }
    }
    end()
    return lines.joined(separator: "\n")
}

private let indent = "  "
private let (newline, space) = (UInt8(ascii: "\n"), UInt8(ascii: " "))

private func withoutIndent(_ line: String) -> String { String(line.utf8.drop { $0 == space })! }

/// Wraps a paragraph so that its last line has more than one word.
private func brokenParagraph(_ text: String) -> [String] {
    let widest = TextTable.width - 1 - indent.count
    let lines = TextWrapping.lines(text, columns: widest)
    let candidates = (widest / 2...widest).reversed().lazy.map { TextWrapping.lines(text, columns: $0) }
    let even = candidates.first { $0.count == lines.count && $0.last?.contains(" ") == true }
    return (even ?? lines).map { indent + $0 }
}

/// Wraps a command so that a shell takes it as one. If its explanation does not fit beside it, that goes on a line
/// below.
private func brokenExample(_ line: String) -> [String] {
    guard line.utf8.count > TextTable.width - 1 else { return [line] }
    let text = withoutIndent(line)
    let gap = text.firstRange(of: "   ")
    let command = gap.map { String(text[..<$0.lowerBound]) } ?? text
    // Does not break in quotes or between an option and its value, where this byte stands for the space.
    let bound: UInt8 = 1
    var quote: UInt8?
    let quoted = command.utf8.map { byte in
        if byte == quote { quote = nil } else if quote == nil, byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") {
            quote = byte
        }
        return quote != nil && byte == space ? bound : byte
    }
    var joined: [UInt8] = []
    var isOption = false
    for word in quoted.split(separator: space) {
        let isValue = isOption && (word.first != UInt8(ascii: "-") || word.count == 1)
        if !joined.isEmpty { joined.append(isValue ? bound : space) }
        joined += word
        isOption = word.count > 2 && word.starts(with: "--".utf8)
    }
    let parts = TextWrapping.lines(
        String(decoding: joined, as: UTF8.self), columns: TextTable.width - 3 - indent.count, indent: "    "
    ).map { part in String(decoding: part.utf8.map { $0 == bound ? space : $0 }, as: UTF8.self) }
    let explanation = gap.map { [indent + "    " + withoutIndent(String(text[$0.upperBound...]))] } ?? []
    return parts.enumerated().map { index, part in indent + part + (index + 1 < parts.count ? " \\" : "") }
        + explanation
}

/// Changes to the parser's help before it is printed.
enum HelpText {
    /// Wraps the usage line of a help text at the terminal's width, because the parser does not.
    static func wrappedUsage(_ text: String, columns: Int) -> String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line -> String in
            guard line.hasPrefix("USAGE: "), line.count > columns else { return String(line) }
            var lines = [""]
            for part in line.matches(of: /\[[^\]]*\]|--\S+ <[^>]+>|\S+/).map(\.output) {
                if lines[lines.count - 1].count + 1 + part.count >= columns { lines.append("      ") }
                lines[lines.count - 1] += (lines == [""] ? "" : " ") + part
            }
            return lines.joined(separator: "\n")
        }
        return lines.joined(separator: "\n")
    }
}
