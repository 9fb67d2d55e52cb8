import Support

/// A command's explanation as it stands in the source, its paragraphs made one line each, so that the parser breaks them
/// where the terminal ends.
///
/// - Parameter text: Paragraphs. A heading in capitals stays a line of its own; so does a line that starts with a space,
///   which is broken here where 80 columns do not hold it, a command with a backslash.
/// - Returns: The text for `CommandConfiguration`.
func helpText(_ text: String) -> String {
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

/// Names that were mistyped.
enum Spelling {
    /// The name that a word is most likely meant to be; `nil` if none is close.
    static func nearest(to word: String, in names: [String]) -> String? {
        let word = word.lowercased()
        let best = names.map { ($0, distance(word, $0)) }.min { $0.1 < $1.1 }
        guard let best, best.1 <= max(1, min(3, word.count / 3)) else {
            let begun = names.filter { word.count > 1 && $0.hasPrefix(word) }
            return begun.count == 1 ? begun[0] : nil
        }
        return best.0
    }

    /// How many characters are inserted, deleted, replaced, or swapped with their neighbour between two words.
    ///
    /// - Source: The optimal string alignment distance, after Damerau, "A technique for computer detection and correction
    ///   of spelling errors", CACM 7 (1964).
    private static func distance(_ first: String, _ second: String) -> Int {
        let (a, b) = (Array(first), Array(second))
        var rows = [Array(0...b.count)]
        for i in 0..<a.count {
            var row = [i + 1]
            for j in 0..<b.count {
                var value = min(row[j] + 1, rows[i][j + 1] + 1, rows[i][j] + (a[i] == b[j] ? 0 : 1))
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { value = min(value, rows[i - 1][j - 1] + 1) }
                row.append(value)
            }
            rows.append(row)
        }
        return rows[a.count][b.count]
    }
}
