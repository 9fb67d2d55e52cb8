import ArgumentParser
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
        abstract: "Renders results as a page, Markdown, CSV, JSON, JUnit and SVG.",
        discussion: helpText(
            """
            The files are index.html, report.md, summary.md (fits a comment on a pull request), results.json,
            results.csv, report.xml (JUnit) and the charts. Several results are shown side by side, each host
            separately; nothing is averaged. Results of keys measure and keys load in the folder become a section of the
            page; without other results, they are the page. The report of a killed run says that the rest is missing.

            The formats hyperfine, criterion (a file for critcmp), bencher (Bencher Metric Format) and asv (a results
            folder) are for other programs, with the cells whose plaintext was right, and one value per process.

            EXAMPLES
              chunkwise report reports/2026-11-21-host
              chunkwise report reports/2026-11-21-host --format markdown
              chunkwise report reports/2026-11-21-host --history reports
              chunkwise report mine theirs --output hosts
              chunkwise report mine --format asv --commit $(git rev-parse HEAD) --output results

            EXIT CODES
              0 rendered, whatever the results say; 2 nothing to export; 65 a file is damaged, of another
              schema, of several hosts, or without cells; 66 a file is missing; 74 the report cannot be written
            """),
        subcommands: [Compare.self, History.self])

    @Argument(help: "Folders of runs or sweeps, or their results.jsonl.", completion: .file())
    var results: [String] = []

    @Option(
        help: .taking("folder", "Also show each cell over time, from older results."), completion: .directory)
    var history: String?

    @OptionGroup var reference: ReferenceOptions

    @Option(name: .customLong("format"), help: .taking("format", "Print this format instead of writing files."))
    var form: ReportForm?

    @Option(help: .taking("hash", "The full hash of the commit, for --format asv."))
    var commit: String?

    @Option(
        help: .taking(
            "path",
            """
            The folder to write into; with --format, the file, or the folder for asv. (default: the run's own folder; \
            for several, side-by-side)
            """), completion: .file())
    var output: String?

    @OptionGroup var color: ColorOptions

    /// The form, if it is a report's.
    private var format: ReportFormat? { if case .report(let format) = form { format } else { nil } }

    func validate() throws {
        try requireValid(!results.isEmpty, "no results: expected a run's folder, or several")
        if case .export(let export) = form {
            try requireValid(
                results.count == 1 && history == nil,
                "--format \(export.rawValue): expected the results of one run, and no --history")
            try requireValid(
                export != .asv || output != nil && commit.map(Self.isHash) == true,
                "--format asv: expected --output FOLDER and --commit HASH, of 40 or 64 hexadecimal digits")
        }
        try requireValid(commit == nil || form == .export(.asv), "--commit: expected it with --format asv")
        try requireValid(
            history == nil || results.count == 1, "--history with \(results.count) results: expected one")
        try requireValid(reference.backend == nil || history != nil, "--reference without --history: expected both")
    }

    func run() throws {
        if form != nil, form != .export(.asv) { try ReportWriting.requireOther(output, than: results) }
        if case .export(let export) = form { return try run(export, try ResultFiles(results[0])) }
        if results.count == 1, let folder = try keyFolder(results[0]) { return try runKeys(folder) }
        guard results.count == 1 else {
            let runs = try results.map { ($0, try ResultFiles($0).results) }
            return try run(SideBySide(runs), into: FilePath("side-by-side"))
        }
        var input = try ResultFiles(results[0], allowingHosts: true)
        guard input.hosts.count > 1 else { return try run(input) }
        try require(
            history == nil, "--history with \(input.file), of \(input.hosts.count) hosts: expected results of one")
        try run(SideBySide(hosts: input.takeHosts()), into: input.folder)
    }

    private func run(_ input: ResultFiles) throws {
        let folder = output.map { format == nil ? FilePath($0) : FilePath($0).removingLastComponent() } ?? input.folder
        let history = try history.map { try HistoryReading.read($0, linkingFrom: folder, reference: reference.backend) }
        let report = RunReport(input.results, keys: try KeyResultFiles.read(input.folder), history: history)
        if let format { return try ReportWriting.write(report.file(format), toFile: output) }
        try color.write(report.files, saying: report.verdict, to: folder)
    }

    /// Writes a format for another program.
    private func run(_ export: ExportFormat, _ input: ResultFiles) throws {
        let report = RunReport(input.results)
        try require(
            report.exportedCount > 0, .noAnswer,
            "no cell of \(input.file) was timed with the right plaintext: expected at least one to export")
        if export == .criterion, report.cellsWithoutIntervalCount > 0 {
            let count = report.cellsWithoutIntervalCount
            try require(
                count < report.exportedCount, .noAnswer,
                "no cell of \(input.file) has an interval: expected three processes at least for --format criterion")
            Terminal.warn("\(count) of \(report.exportedCount) cells have no interval, and criterion no place for them")
        }
        guard export == .asv, let output, let commit else {
            return try ReportWriting.write(report.export(export), toFile: output)
        }
        try ReportWriting.write(report.asvFiles(commit: commit.lowercased()), to: FilePath(output))
    }

    private static func isHash(_ text: String) -> Bool {
        [40, 64].contains(text.utf8.count) && text.allSatisfy { $0.isASCII && $0.isHexDigit }
    }

    /// The folder of this name if it holds only results on keys; `nil` otherwise.
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
        try require(!keys.isEmpty, .badData, "\(folder) holds no cells: expected at least one on keys")
        let report = KeyReport(keys)
        if let format {
            let file = try require(
                report.file(format),
                .usage, "--format \(format.rawValue) of keys alone: expected html, full-markdown or json")
            return try ReportWriting.write(file, toFile: output)
        }
        let target = output.map { FilePath($0) } ?? folder
        try color.write(report.files, saying: report.verdict, to: target)
    }

    private func run(_ sideBySide: SideBySide, into folder: FilePath) throws {
        if let format { return try ReportWriting.write(sideBySide.file(format), toFile: output) }
        let folder = output.map { FilePath($0) } ?? folder
        try color.write(sideBySide.files, saying: sideBySide.verdict, to: folder)
    }
}

/// The value of `--format`: a format of a report, or one for another program.
enum ReportForm: Hashable, ExpressibleByArgument {
    case report(ReportFormat)
    case export(ExportFormat)

    init?(argument: String) {
        if let format = ReportFormat(rawValue: argument) {
            self = .report(format)
        } else if let format = ExportFormat(rawValue: argument) {
            self = .export(format)
        } else {
            return nil
        }
    }

    static var allValueStrings: [String] {
        ReportFormat.allCases.map(\.rawValue) + ExportFormat.allCases.map(\.rawValue)
    }
}

extension ReportCommand {
    /// `chunkwise report compare`
    struct Compare: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "compare",
            abstract: "Compares two runs: the ratio of each cell.",
            discussion: helpText(
                """
                A and B are results of run, sweep or measure: a folder, or its results.jsonl. A ratio is the throughput
                of B divided by the throughput of A, with a 95 % interval (Welch's, on the logarithms of the processes'
                medians; Biometrika 34, 1947, §8.3). Runs of different hosts are shown without a verdict.

                This is not the gate: the two runs were made at different times, so a change of the machine looks like a
                change of the program. A slower B is not a failure here; chunkwise gate measures both at once and
                decides.

                EXAMPLES
                  chunkwise report compare reports/2026-11-20-host reports/2026-11-21-host
                  chunkwise report compare a/results.jsonl b/results.jsonl --format json

                EXIT CODES
                  0 compared, whatever the result; 2 no cell has figures in both; 65 a file is damaged or of another
                  schema; 66 a file is missing; 74 the report cannot be written
                """))

        @Argument(help: "The results to compare with: a folder, or its results.jsonl.", completion: .file())
        var a: String

        @Argument(help: "The results to compare: a folder, or its results.jsonl.", completion: .file())
        var b: String

        @Option(help: .taking("format", "Print this format instead of writing files."))
        var format: ComparisonFormat?

        @Option(
            help: .taking("path", "The folder to write into, or with --format the file. (default: comparison)"),
            completion: .file())
        var output: String?

        @OptionGroup var color: ColorOptions

        func run() throws {
            if format != nil { try ReportWriting.requireOther(output, than: [a, b]) }
            let comparison = RunComparison(
                try ResultFiles(a, requiringCells: false).results, named: a,
                with: try ResultFiles(b, requiringCells: false).results, named: b)
            switch format {
            case nil:
                try color.write(
                    comparison.files, saying: comparison.warnings + comparison.findings,
                    to: FilePath(output ?? "comparison"))
            case .text where output == nil: color.show(comparison.text)
            case let format?: try ReportWriting.write(comparison.file(format), toFile: output)
            }
            try requirePairs(comparison)
        }

        /// Checks that at least one cell was compared: without one, there is no answer.
        private func requirePairs(_ comparison: RunComparison) throws {
            guard comparison.pairs.isEmpty else { return }
            throw CommandFailure(
                .noAnswer,
                "\(a) and \(b) have no cell with figures in both (\(comparison.onlyInA.count) only in A, "
                    + "\(comparison.onlyInB.count) only in B, \(comparison.withoutFigures.count) without figures): "
                    + "expected at least one")
        }
    }

    /// `chunkwise report history`
    struct History: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "history",
            abstract: "Draws each cell over time, and marks changes of level.",
            discussion: helpText(
                """
                The folder is searched, with its subfolders, for .jsonl and .json files. Each cell is divided by the
                same configuration of a reference backend in the same run, so that slow days cancel out. Hosts are kept
                apart. Files that cannot be read are skipped with a message.

                EXAMPLES
                  chunkwise report history reports
                  chunkwise report history reports --output history
                  chunkwise report history reports --reference libgcrypt --format json

                EXIT CODES
                  0 drawn, whatever changed; 2 no file in the folder could be read; 66 the folder is missing; 74 the
                  output cannot be written
                """))

        @Argument(help: "The folder of results.", completion: .directory)
        var folder: String

        @OptionGroup var reference: ReferenceOptions

        @Option(help: .taking("format", "Print this format. (default: text, or a page with --output)"))
        var format: HistoryFormat?

        @Option(
            help: .taking("path", "The folder for a page, or with --format the file. (default: standard output)"),
            completion: .file())
        var output: String?

        @OptionGroup var color: ColorOptions

        func run() throws {
            if format != nil { try ReportWriting.requireOther(output, than: HistoryReading.resultFiles(in: folder)) }
            let target = output.map { format == nil ? FilePath($0) : FilePath($0).removingLastComponent() }
            let history = try HistoryReading.read(
                folder, linkingFrom: target ?? FilePath(""), reference: reference.backend)
            if format == nil, let target {
                return try color.write(
                    [history.file(.html, name: "index.html")], saying: history.findings, to: target)
            }
            try ReportWriting.write(history.file(format ?? .text), toFile: output)
        }
    }
}

/// The option `--reference` of a history.
struct ReferenceOptions: ParsableArguments {
    @Option(
        name: .customLong("reference"),
        help: .taking(
            "backend", "The backend that others are divided by in the history. (default: one of all runs)"),
        completion: .backends)
    var backend: String?
}

extension ColorOptions {
    /// Writes a report into a folder, and prints its findings.
    fileprivate func write(_ files: [ReportFile], saying findings: [String], to folder: FilePath) throws {
        try ReportWriting.write(files, to: folder)
        for line in findings { show(TextWrapping.text(line)) }
        print("report: \(folder.appending("index.html"))")
    }
}

extension ReportWriting {
    /// Refuses an output that is one of the results, each a file or a folder with one.
    fileprivate static func requireOther(_ output: String?, than results: [String]) throws {
        guard let output else { return }
        let files = results.flatMap { [$0, RunFolder(path: FilePath($0)).resultFile.string] }
        try OutputFile.requireOther(output, than: files.map { ("a result", $0) })
    }

    /// Writes a report to a file, or to standard output if there is none.
    fileprivate static func write(_ file: ReportFile, toFile path: String?) throws {
        guard let path else { return try print(file) }
        try write(file, to: FilePath(path))
    }
}

extension ComparisonFormat: ExpressibleByArgument {}
extension HistoryFormat: ExpressibleByArgument {}
