import ArgumentParser
import CommandOptions
import Glibc
import Measurement
import Report
import Results
import Support
import SystemPackage

/// `chunkwise report`
struct ReportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Renders results: a page, Markdown, CSV, JSON, JUnit, and the charts as SVG.",
        discussion: helpText(
            """
            The files are index.html, report.md, summary.md (fits a comment on a pull request), results.json, results.csv,
            report.xml (JUnit) and the charts. All are written before the first replaces an old one.

            EXAMPLES
              chunkwise report reports/2026-11-21-host
              chunkwise report reports/2026-11-21-host --format markdown
              chunkwise report reports/2026-11-20-host reports/2026-11-20-other --output hosts
              chunkwise report --compare reports/2026-11-20-host reports/2026-11-21-host --output comparison
              chunkwise report reports/2026-11-21-host --history reports

            Several results stand side by side, each host by itself; nothing is averaged. --compare puts each cell of NEW
            over that of OLD, as compare does.

            What key-client measure and chunkwise-keys load left beside a run's results with --output is a section of its
            report; a folder that holds nothing else has a page (html, full-markdown, json) with just that.

            What a killed run left is reported as far as it is whole, and the cut is said.

            EXIT CODES
              0 rendered, whatever the results say; 2 nothing to compare; 65 a file is damaged, of another schema, of several hosts, or without
              cells; 66 a file is missing; 74 the report cannot be written
            """))

    @Argument(
        help: "Folders of runs or sweeps, or their results.jsonl; several are put side by side.", completion: .file())
    var results: [String] = []

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("Two results, OLD and NEW, whose cells are put over each other.", valueName: "results"),
        completion: .file())
    var compare: [String] = []

    @Option(
        help: ArgumentHelp(
            "A folder of results of other days, from which the page shows each cell over time; see trend.",
            valueName: "folder"), completion: .directory)
    var history: String?

    @Option(
        help: ArgumentHelp(
            "The backend that others are put over in the history. (default: one that all runs have)",
            valueName: "backend"), completion: .backends)
    var reference: String?

    @Option(
        help: ArgumentHelp(
            "Print one form instead, and write no other: html, markdown (fits a comment), full-markdown, json, csv or "
                + "junit.", valueName: "format"))
    var format: ReportFormat?

    @Option(
        help: ArgumentHelp(
            "The folder to write into; with --format, the file. (default: the run's own folder; for several side-by-side, "
                + "for --compare comparison)", valueName: "path"), completion: .file())
    var output: String?

    @OptionGroup var color: ColorOptions

    func validate() throws {
        guard compare.isEmpty else {
            guard compare.count == 2, results.isEmpty, history == nil else {
                throw ValidationError(
                    "--compare \(compare.joined(separator: " ")): expected OLD and NEW and no other results")
            }
            return
        }
        guard !results.isEmpty else { throw ValidationError("no results: expected a run's folder, or several") }
        guard history == nil || results.count == 1 else {
            throw ValidationError("--history with \(results.count) results: expected one")
        }
        guard reference == nil || history != nil else {
            throw ValidationError("--reference without --history: expected both")
        }
    }

    func run() throws {
        if !compare.isEmpty { return try runComparison() }
        if results.count == 1, let folder = try keyFolder(results[0]) { return try runKeys(folder) }
        let inputs = try results.map { try ResultFiles($0) }
        if inputs.count > 1 { return try runSideBySide(inputs) }
        for input in inputs { try run(input) }
    }

    private func run(_ input: ResultFiles) throws {
        let folder = output.map { format == nil ? FilePath($0) : FilePath($0).removingLastComponent() } ?? input.folder
        let history = try history.map { try HistoryReading.read($0, linkingFrom: folder, reference: reference) }
        let report = RunReport(input.results, keys: try KeyResultFiles.read(input.folder), history: history)
        if let format { return try write(report.file(format)) }
        try ReportWriting.write(report.files, to: folder)
        for line in report.verdict { color.show(TextWrapping.text(line)) }
        print("report: \(folder.appending("index.html"))")
    }

    /// The folder of this name, if results on keys are all that it holds.
    private func keyFolder(_ name: String) throws -> FilePath? {
        let folder = FilePath(name)
        guard history == nil, access(RunFolder(path: folder).resultFile.string, F_OK) != 0, errno == ENOENT else {
            return nil
        }
        let names = [KeyWaitsRecord.fileName, KeyLoadRecord.fileName, KeyLoadRecord.loopbackFileName]
        return names.contains { access(folder.appending($0).string, F_OK) == 0 } ? folder : nil
    }

    private func runKeys(_ folder: FilePath) throws {
        let keys = try KeyResultFiles.read(folder)
        guard !keys.isEmpty else {
            throw CommandFailure(.badData, "\(folder) holds no cells: expected at least one on keys")
        }
        let report = KeyReport(keys)
        if let format {
            guard let file = report.file(format) else {
                throw CommandFailure(
                    .usage, "--format \(format.rawValue) of keys alone: expected html, full-markdown or json")
            }
            return try write(file)
        }
        let target = output.map { FilePath($0) } ?? folder
        try ReportWriting.write(report.files, to: target)
        for line in report.verdict { color.show(TextWrapping.text(line)) }
        print("report: \(target.appending("index.html"))")
    }

    private func runSideBySide(_ inputs: [ResultFiles]) throws {
        let sideBySide = SideBySide(zip(results, inputs).map { ($0, $1.results) })
        if let format { return try write(sideBySide.file(format)) }
        let folder = FilePath(output ?? "side-by-side")
        try ReportWriting.write(sideBySide.files, to: folder)
        for line in sideBySide.verdict { color.show(TextWrapping.text(line)) }
        print("report: \(folder.appending("index.html"))")
    }

    private func runComparison() throws {
        let (old, new) = (try ResultFiles(compare[0]), try ResultFiles(compare[1]))
        let comparison = RunComparison(old.results, named: compare[0], with: new.results, named: compare[1])
        if let format {
            guard let file = comparison.file(format) else {
                throw CommandFailure(
                    .usage, "--format \(format.rawValue) of a comparison: expected html, markdown or json")
            }
            try write(file)
        } else {
            let folder = FilePath(output ?? "comparison")
            try ReportWriting.write(comparison.files, to: folder)
            for line in comparison.findings { color.show(TextWrapping.text(line)) }
            print("report: \(folder.appending("index.html"))")
        }
        try comparison.requirePairs()
    }

    private func write(_ file: ReportFile) throws {
        guard let output else { return try ReportWriting.print(file) }
        try ReportWriting.write(file, to: FilePath(output))
    }
}

extension ReportFormat: ExpressibleByArgument {}
