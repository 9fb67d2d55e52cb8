import ArgumentParser
import Support

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

/// Rows with columns that line up, in 80 columns: the first to the left, numbers to the right.
func table(_ rows: [[String]], rightAligned: Set<Int> = []) -> String {
    TextTable(rows, rightAligned: rightAligned).text
}
