/// Text for a terminal of 80 columns.
enum WrappedText {
    /// The columns of a terminal that nobody has made wider.
    static let width = 80

    /// Breaks text between words so that no line is longer than `width`, if its words are not.
    ///
    /// - Parameters:
    ///   - text: The text; what would drive a terminal becomes a space.
    ///   - first: What the first line begins with.
    ///   - indent: The spaces that the other lines begin with; as many as `first` has characters by default.
    /// - Returns: The lines, without a break after the last one.
    static func lines(_ text: String, first: String = "", indent: Int? = nil) -> String {
        let space = String(repeating: " ", count: indent ?? first.count)
        var lines: [String] = []
        var line = first
        var isEmpty = true
        for word in plain(text).split(separator: " ") {
            if !isEmpty, line.count + 1 + word.count > width {
                lines.append(line)
                line = space
                isEmpty = true
            }
            line += (isEmpty ? "" : " ") + word
            isEmpty = false
        }
        return (lines + [line]).joined(separator: "\n")
    }

    /// Text from a file, without what would drive a terminal.
    static func plain(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) ? " " : $0 }))
    }

    /// Text in a column: followed, or where it `isNumeric` preceded, by spaces up to a width.
    static func padded(_ text: String, to width: Int, isNumeric: Bool = false) -> String {
        let space = String(repeating: " ", count: max(width - text.count, 0))
        return isNumeric ? space + text : text + space
    }
}
