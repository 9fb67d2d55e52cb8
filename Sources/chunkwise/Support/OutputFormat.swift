import ArgumentParser
import JSON

/// How a result is printed.
enum OutputFormat: String, CaseIterable, ExpressibleByArgument {
    case text
    case json
}

/// The option `--format`.
struct FormatOptions: ParsableArguments {
    @Option(help: ArgumentHelp("How to print the result: text or json.", valueName: "format"))
    var format: OutputFormat = .text
}

/// Rows with columns that line up: the first to the left, numbers to the right.
func table(_ rows: [[String]], rightAligned: Set<Int> = []) -> String {
    let columnCount = rows.map(\.count).max() ?? 0
    let widths = (0..<columnCount).map { column in
        rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
    }
    return rows.map { row in
        row.enumerated().map { column, text in
            let space = String(repeating: " ", count: widths[column] - text.count)
            if rightAligned.contains(column) { return space + text }
            return column == row.count - 1 ? text : text + space
        }.joined(separator: "  ")
    }.joined(separator: "\n")
}
