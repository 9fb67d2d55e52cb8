/// Text broken into lines between words.
package enum TextWrapping {
    /// Breaks a text; words that are longer than a line are broken where it ends. Spaces between words of a line stay.
    ///
    /// - Parameters:
    ///   - text: The text, without line breaks.
    ///   - columns: The most characters of a line, 1 at least.
    ///   - indent: What stands before every line but the first.
    /// - Returns: The lines, one at least.
    package static func lines(_ text: String, columns: Int, indent: String = "") -> [String] {
        guard text.count > columns else { return [text] }
        var lines: [String] = []
        var line = ""
        var isEmpty = true
        func end() {
            while line.last == " " { line.removeLast() }
            lines.append(line)
            line = indent
            isEmpty = true
        }
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            if word.isEmpty, !isEmpty { line += " " }
            var rest = word
            while !rest.isEmpty {
                let space = isEmpty ? "" : " "
                if line.count + space.count + rest.count <= columns {
                    line += space + rest
                    isEmpty = false
                    break
                }
                if isEmpty {
                    let room = max(1, columns - line.count)
                    line += rest.prefix(room)
                    rest = rest.dropFirst(room)
                }
                end()
            }
        }
        if !isEmpty || lines.isEmpty { end() }
        return lines
    }

    /// Breaks every line of a text of several, and leaves those as they are that start with a space.
    package static func text(_ text: String, columns: Int = TextTable.width, indent: String = "  ") -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).flatMap { line in
            line.hasPrefix(" ") ? [String(line)] : lines(String(line), columns: columns, indent: indent)
        }.joined(separator: "\n")
    }

    /// The length of the longest word.
    static func longestWord(_ text: String) -> Int { text.split(separator: " ").map(\.count).max() ?? 0 }
}
