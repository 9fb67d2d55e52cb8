import Support

/// A command's explanation as it stands in the source, its paragraphs made one line each, so that the parser breaks them
/// where the terminal ends.
///
/// - Parameter text: Paragraphs. A heading in capitals stays a line of its own. What is indented is broken here, in 80
///   columns: under a heading that begins with `EXAMPLE`, each line is a command, which gets backslashes; elsewhere, the
///   lines are a paragraph.
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
    for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
        let isIndented = line.hasPrefix(" ")
        let isHeading = line.allSatisfy { $0.isUppercase || $0 == " " }
        // What goes on is of the same kind as what is there.
        if isHeading || (isIndented ? !paragraph.isEmpty : !indented.isEmpty) { end() }
        if isHeading {
            lines.append(line)
            if !line.isEmpty { isExample = line.hasPrefix("EXAMPLE") }
        } else if isIndented, isExample {
            lines += brokenExample(line)
        } else if isIndented {
            indented += (indented.isEmpty ? "" : " ") + line.drop { $0 == " " }
        } else {
            paragraph += (paragraph.isEmpty ? "" : " ") + line
        }
    }
    end()
    return lines.joined(separator: "\n")
}

private let indent = "  "

/// A paragraph whose last line is more than a word.
private func brokenParagraph(_ text: String) -> [String] {
    let widest = TextTable.width - 1 - indent.count
    let lines = TextWrapping.lines(text, columns: widest)
    let candidates = (widest / 2...widest).reversed().lazy.map { TextWrapping.lines(text, columns: $0) }
    let even = candidates.first { $0.count == lines.count && $0.last?.contains(" ") == true }
    return (even ?? lines).map { indent + $0 }
}

/// A command that a shell takes as one, with what explains it in a line below where both do not fit into one.
private func brokenExample(_ line: String) -> [String] {
    guard line.count > TextTable.width - 1 else { return [line] }
    let text = String(line.drop { $0 == " " })
    let gap = text.firstRange(of: "   ")
    let command = gap.map { String(text[..<$0.lowerBound]) } ?? text
    // Neither in quotes nor between an option and its value.
    let space: Character = "\u{A0}"
    var quote: Character?
    let quoted = command.map { character in
        if character == quote { quote = nil } else if quote == nil, "'\"".contains(character) { quote = character }
        return quote != nil && character == " " ? space : character
    }
    var joined = ""
    var isOption = false
    // Every start of the program comes here, for all commands: a regular expression would be a third of its time.
    for word in quoted.split(separator: " ") {
        let isValue = isOption && (word.first != "-" || word.count == 1)
        if !joined.isEmpty { joined.append(isValue ? space : " ") }
        joined += word
        isOption = word.count > 2 && word.starts(with: "--")
    }
    let parts = TextWrapping.lines(joined, columns: TextTable.width - 3 - indent.count, indent: "    ")
        .map { part in String(part.map { $0 == space ? " " : $0 }) }
    let explanation = gap.map { [indent + "    " + text[$0.upperBound...].drop { $0 == " " }] } ?? []
    return parts.enumerated().map { index, part in indent + part + (index + 1 < parts.count ? " \\" : "") }
        + explanation
}

/// What is done to the parser's help before it is printed.
enum HelpText {
    /// Breaks the usage line of a help text where the terminal ends; the parser leaves it as long as it is.
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
