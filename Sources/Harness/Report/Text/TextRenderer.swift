import Results
import Support

/// Text for a terminal from parts of a document: no markup, aligned columns.
enum TextRenderer {
    /// Returns one block as text; of a picture, its title and description.
    static func block(_ block: Document.Block) -> String {
        switch block {
        case .paragraph(let text): TextWrapping.text(plain(text), indent: "")
        case .list(let items):
            items.flatMap { TextWrapping.lines("- \(plain($0))", columns: TextTable.width, indent: "  ") }
                .joined(separator: "\n")
        case .facts(let facts): self.facts(facts)
        case .verbatim(let caption, let text): "\(plain(caption)):\n\(plainLines(text))"
        case .chart(let chart, _): plain("\(chart.title). \(chart.description)")
        case .table(let content), .foldedTable(let content): table(content)
        }
    }

    /// Returns names with their values.
    static func facts(_ facts: [(name: String, value: String)]) -> String {
        aligned(facts.map { [plain($0.name), plain($0.value)] }, isNumeric: [false, false])
    }

    /// Returns a table under its column heads, its caption after it, in 80 columns.
    static func table(_ table: Table) -> String {
        var rows = [table.columns.map(\.title)]
        rows += table.rows.map { row in
            row.map { entry in plain(entry.text) + (entry.detail.map { " (\(plain($0)))" } ?? "") }
        }
        return aligned(rows, isNumeric: table.columns.map(\.isNumeric)) + "\n"
            + TextWrapping.text(plain(table.caption), indent: "")
    }

    private static func aligned(_ rows: [[String]], isNumeric: [Bool]) -> String {
        TextTable(rows, rightAligned: Set(isNumeric.indices.filter { isNumeric[$0] })).text
    }

    /// Returns text of several lines without terminal control characters.
    static func plainLines(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { plain(String($0)) }.joined(separator: "\n")
    }

    /// Returns text from a file without terminal control characters.
    private static func plain(_ text: String) -> String {
        PlainText.line(text)
    }
}

/// Text for a terminal of 80 columns.
enum WrappedText {
    /// The columns of a terminal of the default width.
    static let width = 80

    /// Breaks text between words so that no line is longer than `width`, unless a single word is.
    ///
    /// - Parameters:
    ///   - text: The text; terminal control characters become spaces.
    ///   - first: The beginning of the first line.
    ///   - indent: The number of spaces at the beginning of the other lines; by default the length of `first`.
    /// - Returns: The lines, without a break after the last one.
    static func lines(_ text: String, first: String = "", indent: Int? = nil) -> String {
        let space = String(repeating: " ", count: indent ?? first.count)
        var lines: [String] = []
        var line = first
        var isEmpty = true
        for word in PlainText.line(text).split(separator: " ") {
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

    /// Returns text padded with spaces to a width: on the left if `isNumeric`, otherwise on the right.
    static func padded(_ text: String, to width: Int, isNumeric: Bool = false) -> String {
        let space = String(repeating: " ", count: max(width - text.count, 0))
        return isNumeric ? space + text : text + space
    }
}

/// A line of letters that shows how values rise and fall: `▁▃▅▇█`, on a logarithmic scale.
struct Sparkline: Sendable {
    private static let letters: [Character] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]

    /// The character for a missing value.
    static let absent: Character = "·"

    let low: Double
    let high: Double

    /// A scale from the minimum to the maximum of some values; `nil` if none of them is above 0.
    init?(covering values: some Sequence<Double>) {
        let usable = values.filter { $0 > 0 && $0.isFinite }
        guard let low = usable.min(), let high = usable.max() else { return nil }
        (self.low, self.high) = (low, high)
    }

    /// The factor between the values of one letter and the next.
    var step: Double {
        let ratio = high / low
        var (lower, upper) = (1.0, max(ratio, 1))
        for _ in 0..<60 {
            let middle = (lower + upper) / 2
            if LogScale.power(Self.letters.count - 1, base: middle) < ratio { lower = middle } else { upper = middle }
        }
        return upper
    }

    func text(_ values: [Double?]) -> String {
        String(values.map(letter))
    }

    private var doublings: Double { LogScale.position(of: high / low, base: 2) }

    private func letter(_ value: Double?) -> Character {
        guard let value, value > 0, value.isFinite else { return Self.absent }
        let letters = Self.letters
        guard high > low else { return letters[letters.count / 2] }
        let share = LogScale.position(of: max(value / low, 1), base: 2) / doublings
        return letters[Int((min(max(share, 0), 1) * Double(letters.count - 1)).rounded())]
    }
}
