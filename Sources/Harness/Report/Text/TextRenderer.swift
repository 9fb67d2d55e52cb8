import Results
import Support

/// Writes a document for a terminal of 80 columns, without markup and pictures.
enum TextRenderer {
    /// The number of rows that a short document shows of a table.
    private static let maxRows = 12

    /// Writes a document, without a line break at its end.
    ///
    /// - Parameters:
    ///   - document: The document.
    ///   - option: The option that shows the ends of long tables, which are left out; `nil` to show them.
    /// - Returns: The text.
    static func render(_ document: Document, allIn option: String? = nil) -> String {
        let warnings = document.warnings.map { "warning: \($0.text)" }
        let head = [document.title, document.subtitle] + warnings + document.verdict
        var parts = head.filter { !$0.isEmpty }.map { wrapped($0, indent: "  ") }
        for section in document.sections {
            let blocks = section.blocks.filter { if case .chart = $0 { false } else { true } }
                .map { block($0, allIn: option) }.joined(separator: "\n\n")
            parts.append(section.title.isEmpty ? blocks : heading(section.title) + "\n" + blocks)
        }
        return parts.joined(separator: "\n\n")
    }

    /// Returns a heading in capital letters, but for names behind a colon.
    private static func heading(_ title: String) -> String {
        let colon = title.firstIndex(of: ":") ?? title.endIndex
        return wrapped(title[..<colon].uppercased() + title[colon...])
    }

    /// Returns one block as text; of a picture, its title and description.
    static func block(_ block: Document.Block, allIn option: String? = nil) -> String {
        switch block {
        case .paragraph(let text): wrapped(text)
        case .list(let items): items.map { wrapped("- \($0)", indent: "  ") }.joined(separator: "\n")
        case .facts(let facts): self.facts(facts)
        case .verbatim(let caption, let text): wrapped(caption + ":") + "\n" + plainLines(text)
        case .chart(let chart, _): plain("\(chart.title). \(chart.description)")
        case .foldedTable(let content) where option != nil:
            wrapped("\(content.caption) See \(option ?? "").")
        case .table(let content), .foldedTable(let content): table(content, allIn: option)
        }
    }

    /// Returns names with their values.
    static func facts(_ facts: [(name: String, value: String)]) -> String {
        TextTable(facts.map { [plain($0.name), plain($0.value)] }).text
    }

    /// Returns a table under its column heads, its caption after it.
    ///
    /// Details stand behind numbers, or below them if the lines would be too long, unless the table's end is left out.
    /// Columns of alternatives that do not fit side by side are several tables.
    static func table(_ table: Table, allIn option: String? = nil) -> String {
        let count = option == nil || table.isWhole ? table.rows.count : min(table.rows.count, maxRows)
        func rows(_ detail: (String) -> String) -> [[String]] {
            let rows = table.rows.prefix(count).map { row in
                zip(row, table.columns).map { entry, column in
                    plain(entry.text) + (column.isNumeric ? entry.detail.map { detail(plain($0)) } ?? "" : "")
                }
            }
            return [table.columns.map { plain($0.title) }] + rows
        }
        func width(_ widths: [Int]) -> Int { widths.reduce(-2) { $0 + $1 + 2 } }
        let flat = rows { " (\($0))" }
        let hidden = table.rows.count - count
        let more = hidden > 0 ? "\nand \(hidden) more; \(option ?? "") has all" : ""
        let fits = width(TextTable.widths(of: flat)) <= TextTable.width
        let shown = fits ? flat : rows { more.isEmpty ? "\n\($0)" : "" }
        let widths = TextTable.widths(of: shown)
        var groups: [[Int]] = [[0]]
        for column in widths.indices.dropFirst() {
            let others = groups[groups.count - 1] + [column]
            let isTooWide = others.count > 2 && width(others.map { widths[$0] }) > TextTable.width
            if isTooWide, table.columns[0].title.isEmpty {
                groups.append([0, column])
            } else {
                groups[groups.count - 1] = others
            }
        }
        var parts = groups.map { columns in
            TextTable(
                shown.map { row in columns.map { row[$0] } },
                rightAligned: Set(columns.indices.filter { table.columns[columns[$0]].isNumeric })
            ).text
        }
        parts[parts.count - 1] += more
        return parts.joined(separator: "\n\n") + (table.caption.isEmpty ? "" : "\n" + wrapped(table.caption))
    }

    /// Returns text of several lines without terminal control characters.
    static func plainLines(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { plain(String($0)) }.joined(separator: "\n")
    }

    /// Returns a text in lines.
    private static func wrapped(_ text: String, indent: String = "") -> String {
        TextWrapping.lines(plain(text), columns: TextTable.width, indent: indent)
            .joined(separator: "\n")
    }

    /// Returns text from a file without terminal control characters, and with an invisible character in what GitHub's
    /// runner takes for an order: `::` at a line's start behind any spaces, and `##[` anywhere.
    private static func plain(_ text: String) -> String {
        let words = PlainText.line(text).split(separator: " ", omittingEmptySubsequences: false)
        return words.map { $0.hasPrefix("::") ? ":\u{200B}" + $0.dropFirst() : String($0) }.joined(separator: " ")
            .replacing("##[", with: "##\u{200B}[")
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
