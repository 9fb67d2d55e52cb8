import Support

/// A command's explanation as it stands in the source, its paragraphs made one line each, so that the parser breaks them
/// where the terminal ends.
///
/// - Parameter text: Paragraphs. A heading in capitals stays a line of its own; so does a line that starts with a space,
///   which is broken here where 80 columns do not hold it, a command with a backslash.
/// - Returns: The text for `CommandConfiguration`.
package func helpText(_ text: String) -> String {
    var lines: [String] = []
    var isParagraph = false
    for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
        let isIndented = line.hasPrefix(" ")
        let isHeading = !line.isEmpty && line.allSatisfy { $0.isUppercase || $0 == " " }
        if isIndented {
            lines += brokenExample(line)
        } else if isParagraph, !line.isEmpty, !isHeading {
            lines[lines.count - 1] += " " + line
        } else {
            lines.append(line)
        }
        isParagraph = !isIndented && !isHeading && !line.isEmpty
    }
    return lines.joined(separator: "\n")
}

private func brokenExample(_ line: String) -> [String] {
    let text = String(line.drop { $0 == " " })
    let indent = String(repeating: " ", count: line.count - text.count)
    guard line.count > TextTable.width - 1 else { return [line] }
    // What stands behind a command after some space explains it.
    if let gap = text.firstRange(of: "   ") {
        let comment = text[gap.upperBound...].drop { $0 == " " }
        return [indent + text[..<gap.lowerBound], indent + "    " + comment]
    }
    let isCommand = text.hasPrefix("chunkwise ")
    let columns = TextTable.width - 1 - indent.count - (isCommand ? 2 : 0)
    let parts = TextWrapping.lines(text, columns: columns, indent: isCommand ? "    " : "")
    return parts.enumerated().map { index, part in
        indent + part + (isCommand && index + 1 < parts.count ? " \\" : "")
    }
}
