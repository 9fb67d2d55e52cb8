import ArgumentParser
import CommandOptions
import Report
import SystemPackage

/// `chunkwise trend`
struct TrendCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trend",
        abstract: "Draws each cell over time from a folder of results, and marks where its level changed.",
        discussion: helpText(
            """
            A history is a folder of result files and nothing more: it is searched for .jsonl and .json files, folders in it
            included. Each cell is put over the same configuration of a reference backend in the same run, so that slow days
            fall out; hosts are kept apart. Files that cannot be read are named and skipped.

            EXAMPLES
              chunkwise trend reports
              chunkwise trend reports --format html --output trend.html
              chunkwise trend reports --reference libgcrypt --format json

            EXIT CODES
              0 drawn, whatever changed; 2 no file in the folder could be read; 66 the folder is missing; 74 the output
              cannot be written
            """))

    @Argument(help: "The folder.", completion: .directory)
    var folder: String

    @Option(
        help: ArgumentHelp(
            "The backend that others are put over. (default: one that all runs have, openssl if it is among them)",
            valueName: "backend"), completion: .backends)
    var reference: String?

    @Option(help: ArgumentHelp("How to show it: text, html, markdown or json.", valueName: "format"))
    var format = TrendFormat.text

    @Option(help: ArgumentHelp("The file to write. (default: standard output)", valueName: "file"), completion: .file())
    var output: String?

    func run() throws {
        let page = output.map { FilePath($0).removingLastComponent() } ?? FilePath("")
        let history = try HistoryReading.read(folder, linkingFrom: page, reference: reference)
        let file = history.file(format)
        guard let output else { return try ReportWriting.print(file) }
        try ReportWriting.write(file, to: FilePath(output))
        for line in history.findings { print(line) }
        print("trend: \(output)")
    }
}

extension TrendFormat: ExpressibleByArgument {}
