import ArgumentParser
import Measurement
import Report
import SystemPackage

/// `chunkwise report`
struct ReportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Renders results: index.html, report.md, results.json, results.csv and the charts as SVG.",
        discussion: """
            EXAMPLE
              chunkwise report reports/2026-11-21-host

            What a killed run left is reported as far as it is whole, and the cut is said.
            """)

    @Argument(help: "The folder of a run or sweep, with its results.jsonl.")
    var folder: String

    func run() throws {
        let folder = RunFolder(path: FilePath(folder))
        let (results, isCut) = try attemptInput { try ResultLog.read(folder.resultFile) }
        if isCut {
            Terminal.writeError("chunkwise: warning: the last line of \(folder.resultFile) is cut short and left out")
        }
        guard !results.cells.isEmpty || !results.conformance.isEmpty else {
            throw CommandFailure(.noAnswer, "\(folder.resultFile) holds no results: expected at least one cell")
        }
        try ReportWriting.write(renderReport(results), to: folder.path)
        for line in Verdict(results).lines { print(line) }
        print("report: \(folder.path.appending("index.html"))")
    }
}
