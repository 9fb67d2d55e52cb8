import Support

/// Joins the lines of each paragraph of a command's discussion, so that the parser wraps them at the terminal's width.
///
/// - Parameter text: Paragraphs. A heading in capitals stays on its own line. Indented text is wrapped here, to 80
///   columns. Under a heading that begins with `EXAMPLE`, each line is a command, and is continued with backslashes.
///   Elsewhere, the lines are a paragraph.
/// - Returns: The text for `CommandConfiguration`; the text as it is if the command line prints no help.
func helpText(_ text: String) -> String {
    guard HelpText.isWanted else { return text }
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
        // A line of another kind begins a new paragraph.
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
    guard line.count > TextTable.width - 1 else { return [line] }
    let text = String(line.drop { $0 == " " })
    let gap = text.firstRange(of: "   ")
    let command = gap.map { String(text[..<$0.lowerBound]) } ?? text
    // Does not break in quotes or between an option and its value.
    let space: Character = "\u{A0}"
    var quote: Character?
    let quoted = command.map { character in
        if character == quote { quote = nil } else if quote == nil, "'\"".contains(character) { quote = character }
        return quote != nil && character == " " ? space : character
    }
    var joined = ""
    var isOption = false
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

/// Changes to the parser's help before it is printed.
enum HelpText {
    /// True if the command line may print help or a completion script. To prepare these texts for all commands would
    /// take a sixth of the program's start.
    static let isWanted = isWanted(CommandLine.arguments.dropFirst())

    /// Returns whether a command line, without the program's name, may print help. A command line of one word may be a
    /// group, which prints its help.
    static func isWanted(_ arguments: some Collection<String>) -> Bool {
        arguments.count < 2
            || arguments.contains { argument in
                argument == "help" || argument == "--"
                    || ["-h", "--help", "--experimental-", "--generate-"].contains(where: argument.hasPrefix)
            }
    }

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
