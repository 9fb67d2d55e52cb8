/// Rows with aligned columns, within a max width.
///
/// If the rows are too wide, long texts are broken into lines. If that would make the first column hard to read, it
/// goes on a line of its own above the others.
package struct TextTable: Sendable {
    private let rows: [[String]]
    private let rightAligned: Set<Int>
    private let limit: Int
    private let gap: Int

    /// The width that every terminal has, in columns.
    package static let width = 80

    /// A table of the given rows.
    ///
    /// - Parameters:
    ///   - rows: The cells of the table, headings first; a row may have fewer cells than others. A cell may have
    ///     several lines.
    ///   - rightAligned: The columns of numbers.
    ///   - limit: The max number of characters of a line.
    package init(_ rows: [[String]], rightAligned: Set<Int> = [], limit: Int = width) {
        let count = rows.map(\.count).max() ?? 0
        self.rows = rows.map { $0 + [String](repeating: "", count: count - $0.count) }
        self.rightAligned = rightAligned
        self.limit = limit
        gap = 2
    }

    /// Figures below their names, with narrower gaps if that keeps them on one line.
    private init(figures: [[String]], of table: TextTable) {
        rows = figures
        rightAligned = Set(table.rightAligned.map { $0 - 1 })
        limit = table.limit
        let needed = Self.widths(of: figures).reduce(0, +)
        let gaps = (figures.first?.count ?? 1) - 1
        gap = needed + 2 * gaps > limit && needed + gaps <= limit ? 1 : 2
    }

    /// The table, without a line break at its end.
    package var text: String {
        let natural = Self.widths(of: rows)
        if width(natural) <= limit { return lines(rows, natural).joined(separator: "\n") }
        let shrunk = shrink(natural, breaksNumbers: false)
        guard let first = shrunk.first, first < min(Self.minFirst, natural[0]), shrunk.count > 1 else {
            return lines(rows, shrink(shrunk, breaksNumbers: true)).joined(separator: "\n")
        }
        return namesAbove
    }

    /// The min width of a first column; a narrower one cannot show names.
    private static let minFirst = 24

    private var namesAbove: String {
        let others = rows.map { Array($0.dropFirst()) }
        let table = TextTable(figures: others, of: self)
        let natural = Self.widths(of: others)
        let widths = table.width(natural) <= limit ? natural : table.shrink(natural, breaksNumbers: true)
        let indent = String(repeating: " ", count: min(2, max(0, limit - table.width(widths))))
        return rows.enumerated().flatMap { index, row in
            let figures = table.lines([others[index]], widths).map { indent + $0 }
            return TextWrapping.lines(row[0], columns: limit) + figures
        }.joined(separator: "\n")
    }

    /// Returns the widths of columns in which no line is broken.
    package static func widths(of rows: [[String]]) -> [Int] {
        (rows.first ?? []).indices.map { column in
            rows.lazy.flatMap { $0[column].split(separator: "\n") }.map(\.count).max() ?? 0
        }
    }

    private func width(_ widths: [Int]) -> Int {
        widths.reduce(0, +) + gap * max(0, widths.count - 1)
    }

    /// Narrows the widest columns that can be broken, columns of numbers only between words and after all others.
    private func shrink(_ natural: [Int], breaksNumbers: Bool) -> [Int] {
        var widths = natural
        let minimum = natural.indices.map { column in rows.map { TextWrapping.longestWord($0[column]) }.max() ?? 0 }
        while width(widths) > limit {
            let breakable = widths.indices.filter {
                widths[$0] > minimum[$0] && (breaksNumbers || !rightAligned.contains($0))
            }
            let words = breakable.filter { !rightAligned.contains($0) }
            // Breaks words, if necessary.
            let any = breakable.isEmpty ? widths.indices.filter { !rightAligned.contains($0) } : breakable
            let pool = words.isEmpty ? any : words
            guard let widest = pool.max(by: { (widths[$0], $0) < (widths[$1], $1) }), widths[widest] > 1 else { break }
            widths[widest] -= 1
        }
        return widths
    }

    private func lines(_ rows: [[String]], _ widths: [Int]) -> [String] {
        rows.flatMap { row in
            let cells = row.enumerated().map { column, text in
                text.split(separator: "\n", omittingEmptySubsequences: false)
                    .flatMap { TextWrapping.lines(String($0), columns: widths[column]) }
            }
            return (0..<(cells.map(\.count).max() ?? 0)).map { number in
                var line = cells.enumerated().map { column, lines in
                    let text = number < lines.count ? lines[number] : ""
                    let space = String(repeating: " ", count: max(0, widths[column] - text.count))
                    return rightAligned.contains(column) ? space + text : text + space
                }.joined(separator: String(repeating: " ", count: gap))
                while line.last == " " { line.removeLast() }
                return line
            }
        }
    }
}

/// Text broken into lines between words.
package enum TextWrapping {
    /// Breaks a text into lines; a word longer than a line is broken at its end. Multiple spaces within a line stay.
    ///
    /// - Parameters:
    ///   - text: The text, without line breaks.
    ///   - columns: The max number of characters of a line, at least 1.
    ///   - indent: The indentation of every line but the first.
    /// - Returns: The lines, at least one.
    package static func lines(_ text: String, columns: Int, indent: String = "") -> [String] {
        guard text.count > columns else { return [text] }
        var lines: [String] = []
        // The line, and its number of characters, which is slow to count.
        var (line, count) = ("", 0)
        var isEmpty = true
        func end() {
            while line.last == " " { line.removeLast() }
            lines.append(line)
            (line, count) = (indent, indent.count)
            isEmpty = true
        }
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            if word.isEmpty, !isEmpty {
                line += " "
                count += 1
            }
            var rest = word
            while !rest.isEmpty {
                let space = isEmpty ? "" : " "
                let added = space.count + rest.count
                if count + added <= columns {
                    line += space + rest
                    count += added
                    isEmpty = false
                    break
                }
                if isEmpty {
                    let width = max(1, columns - count)
                    line += rest.prefix(width)
                    rest = rest.dropFirst(width)
                }
                end()
            }
        }
        if !isEmpty || lines.isEmpty { end() }
        return lines
    }

    /// Breaks every line of a text, except lines that start with a space.
    package static func text(_ text: String, columns: Int = TextTable.width, indent: String = "  ") -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).flatMap { line in
            line.hasPrefix(" ") ? [String(line)] : lines(String(line), columns: columns, indent: indent)
        }.joined(separator: "\n")
    }

    /// Returns the length of the longest word.
    static func longestWord(_ text: String) -> Int { text.split { " \n".contains($0) }.map(\.count).max() ?? 0 }
}
