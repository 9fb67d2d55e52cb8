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
        abstract: "Renders results as a page, Markdown, CSV, JSON, JUnit, and charts in SVG.",
        discussion: helpText(
            """
            The files are index.html, report.md, summary.md (fits a comment on a pull request), results.json,
            results.csv, report.xml (JUnit) and the charts. All are written before the first replaces an old one.

            EXAMPLES
              chunkwise report reports/2026-11-21-host
              chunkwise report reports/2026-11-21-host --format markdown
              chunkwise report reports/2026-11-20-host reports/2026-11-20-other --output hosts
              chunkwise report --compare reports/2026-11-20-host reports/2026-11-21-host --output comparison
              chunkwise report --history reports
              chunkwise report --history reports --output history
              chunkwise report reports/2026-11-21-host --history reports
              chunkwise report reports/2026-11-21-host --format bencher
              chunkwise report reports/2026-11-21-host --format asv --commit $(git rev-parse HEAD) --output results

            Several results are shown side by side, each host separately; nothing is averaged. --compare divides each
            cell of NEW by the same cell of OLD, and shows the 95 % interval of the ratio. --history draws each cell
            over time from a folder of results, and marks where its level changed. With a run, this is a section of the
            run's report.

            The files that keys measure and keys load write beside a run's results become a section of its report. A
            folder with only these files gets a page of its own (html, full-markdown, json).

            The formats hyperfine, criterion (a file for critcmp), bencher (Bencher Metric Format) and asv (a results
            folder) are for other programs. They contain the cells whose plaintext was right, with one value per
            process.

            The report of a killed run has the complete part of its results, and says that the rest is missing.

            EXIT CODES
              0 rendered, whatever the results say; 2 nothing to compare or to export; 65 a file is damaged, of another
              schema, of several hosts, or without cells; 66 a file is missing; 74 the report cannot be written
            """))

    @Argument(
        help: "Folders of runs or sweeps, or their results.jsonl; several are shown side by side.", completion: .file())
    var results: [String] = []

    @Option(
        parsing: .upToNextOption,
        help: .taking("results", "Compare two results, OLD and NEW, cell by cell."), completion: .file())
    var compare: [String] = []

    @Option(
        help: .taking("folder", "A folder with results of several days, to show each cell over time."),
        completion: .directory)
    var history: String?

    @Option(
        help: .taking(
            "backend", "The backend that others are divided by in the history. (default: one that all runs have)"),
        completion: .backends)
    var reference: String?

    @Option(
        name: .customLong("format"),
        help: .taking("format", "Print this format instead of writing files; markdown is short enough for a comment."))
    var form: ReportForm?

    @Option(help: .taking("hash", "The full hash of the measured commit, for --format asv."))
    var commit: String?

    @Option(
        help: .taking(
            "path",
            """
            The folder to write into; with --format, the file, or the folder for asv. (default: the run's own folder; \
            for several side-by-side, for --compare comparison; a history alone is printed)
            """), completion: .file())
    var output: String?

    @OptionGroup var color: ColorOptions

    /// The form, if it is a report's.
    private var format: ReportFormat? { if case .report(let format) = form { format } else { nil } }

    func validate() throws {
        if case .export(let export) = form {
            try requireValid(
                results.count == 1 && compare.isEmpty && history == nil,
                "--format \(export.rawValue): expected the results of one run, and no --compare and no --history")
            try requireValid(
                export != .asv || output != nil && commit.map(Self.isHash) == true,
                "--format asv: expected --output FOLDER and --commit HASH, of 40 or 64 hexadecimal digits")
        }
        try requireValid(commit == nil || form == .export(.asv), "--commit: expected it with --format asv")
        guard compare.isEmpty else {
            try requireValid(
                compare.count == 2 && results.isEmpty && history == nil,
                "--compare \(compare.joined(separator: " ")): expected OLD and NEW and no other results")
            return
        }
        try requireValid(
            !results.isEmpty || history != nil, "no results: expected a run's folder, several, --compare or --history")
        try requireValid(
            history == nil || results.count <= 1, "--history with \(results.count) results: expected at most one")
        try requireValid(reference == nil || history != nil, "--reference without --history: expected both")
    }

    func run() throws {
        if !compare.isEmpty { return try runComparison() }
        if results.isEmpty, let history { return try runHistory(history) }
        if case .export(let export) = form { return try run(export, try ResultFiles(results[0])) }
        if results.count == 1, let folder = try keyFolder(results[0]) { return try runKeys(folder) }
        let inputs = try results.map { try ResultFiles($0, allowingHosts: results.count == 1) }
        if inputs.count > 1 {
            return try run(SideBySide(zip(results, inputs).map { ($0, $1.results) }), into: FilePath("side-by-side"))
        }
        for input in inputs {
            if input.hosts.count > 1 {
                try requireNoHistory(input)
                try run(SideBySide(hosts: input.hosts), into: input.folder)
            } else {
                try run(input)
            }
        }
    }

    private func requireNoHistory(_ input: ResultFiles) throws {
        try require(
            history == nil, "--history with \(input.file), of \(input.hosts.count) hosts: expected results of one")
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
        guard export == .asv, let output, let commit else { return try write(report.export(export)) }
        try ReportWriting.write(report.asvFiles(commit: commit.lowercased()), to: FilePath(output))
    }

    private static func isHash(_ text: String) -> Bool {
        [40, 64].contains(text.utf8.count) && text.allSatisfy { $0.isASCII && $0.isHexDigit }
    }

    /// Writes a history without a run: as text, as a page in a folder, or in one format.
    private func runHistory(_ folder: String) throws {
        guard format != nil || output == nil else {
            let target = FilePath(output ?? "")
            let history = try HistoryReading.read(folder, linkingFrom: target, reference: reference)
            try ReportWriting.write([history.file(.html, name: "index.html")], to: target)
            for line in history.findings { color.show(TextWrapping.text(line)) }
            return print("report: \(target.appending("index.html"))")
        }
        let name = format?.rawValue ?? "text"
        guard let form = TrendFormat(rawValue: name) else {
            throw CommandFailure(.usage, "--format \(name) of a history: expected html, markdown or json")
        }
        try History.write(folder, reference: reference, form, to: output)
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
            return try write(file)
        }
        let target = output.map { FilePath($0) } ?? folder
        try ReportWriting.write(report.files, to: target)
        for line in report.verdict { color.show(TextWrapping.text(line)) }
        print("report: \(target.appending("index.html"))")
    }

    private func run(_ sideBySide: SideBySide, into folder: FilePath) throws {
        if let format { return try write(sideBySide.file(format)) }
        let folder = output.map { FilePath($0) } ?? folder
        try ReportWriting.write(sideBySide.files, to: folder)
        for line in sideBySide.verdict { color.show(TextWrapping.text(line)) }
        print("report: \(folder.appending("index.html"))")
    }

    private func runComparison() throws {
        let (old, new) = (try ResultFiles(compare[0]), try ResultFiles(compare[1]))
        let comparison = RunComparison(old.results, named: compare[0], with: new.results, named: compare[1])
        if let format {
            let file = try require(
                comparison.file(format),
                .usage, "--format \(format.rawValue) of a comparison: expected html, markdown or json")
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

/// `chunkwise compare`
struct CompareCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare",
        abstract: "Compares two result files: the differences between the runs, and the ratio of each cell.",
        discussion: helpText(
            """
            A and B are results of run, sweep or measure: a folder, or its results.jsonl. A ratio is the throughput of B
            divided by the throughput of A, with a 95 % interval (Welch's, on the logarithms of the processes' medians;
            Biometrika 34, 1947, §8.3). Runs of different hosts are shown without a verdict.

            This is not the gate: the two runs were made at different times, so a change of the machine looks like a
            change of the program. A slower B is not a failure here; chunkwise gate measures both at once and decides.

            EXAMPLES
              chunkwise compare reports/2026-11-20-host reports/2026-11-21-host
              chunkwise compare a/results.jsonl b/results.jsonl --format json

            EXIT CODES
              0 compared, whatever the result; 2 no cell has figures in both; 65 a file is damaged or of another schema;
              66 a file is missing
            """),
        shouldDisplay: false)

    @Argument(help: "The results to compare with: a folder, or its results.jsonl.", completion: .file())
    var a: String

    @Argument(help: "The results to compare: a folder, or its results.jsonl.", completion: .file())
    var b: String

    @Option(help: .taking("format", "The output format."))
    var format = ComparisonFormat.text

    @OptionGroup var color: ColorOptions

    func run() throws {
        let comparison = RunComparison(
            try ResultFiles(a, requiringCells: false).results, named: a,
            with: try ResultFiles(b, requiringCells: false).results, named: b)
        switch format {
        case .text: color.show(comparison.text)
        case .json: print(comparison.json.text)
        case .markdown: print(comparison.markdown)
        }
        try comparison.requirePairs()
    }
}

extension RunComparison {
    /// Checks that at least one cell was compared: without one, there is no answer.
    func requirePairs() throws {
        guard pairs.isEmpty else { return }
        throw CommandFailure(
            .noAnswer,
            "\(nameA) and \(nameB) have no cell with figures in both (\(onlyInA.count) only in A, "
                + "\(onlyInB.count) only in B, \(withoutFigures.count) without figures): expected at least one")
    }
}

/// The output format of `chunkwise compare`.
enum ComparisonFormat: String, CaseIterable, ExpressibleByArgument {
    case text
    case json
    case markdown
}

/// `chunkwise trend`
struct TrendCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trend",
        abstract: "Draws each cell over time from a folder of results, and marks where its level changed.",
        discussion: helpText(
            """
            A history is a folder of result files: trend searches it, with its subfolders, for .jsonl and .json files.
            It divides each cell by the same configuration of a reference backend in the same run, so that slow days
            cancel out. Hosts are kept apart. Files that cannot be read are skipped with a message.

            EXAMPLES
              chunkwise trend reports
              chunkwise trend reports --format html --output trend.html
              chunkwise trend reports --reference libgcrypt --format json

            EXIT CODES
              0 drawn, whatever changed; 2 no file in the folder could be read; 66 the folder is missing; 74 the output
              cannot be written
            """),
        shouldDisplay: false)

    @Argument(help: "The folder of results.", completion: .directory)
    var folder: String

    @Option(
        help: .taking(
            "backend",
            "The backend that others are divided by. (default: one that all runs have, openssl if it is among them)"),
        completion: .backends)
    var reference: String?

    @Option(help: .taking("format", "The output format."))
    var format = TrendFormat.text

    @Option(help: .taking("file", "The file to write. (default: standard output)"), completion: .file())
    var output: String?

    func run() throws {
        try History.write(folder, reference: reference, format, to: output)
    }
}

extension History {
    /// Reads a folder of results, and prints its history or writes it to a file.
    fileprivate static func write(
        _ folder: String, reference: String?, _ format: TrendFormat, to output: String?
    ) throws {
        let page = output.map { FilePath($0).removingLastComponent() } ?? FilePath("")
        let history = try HistoryReading.read(folder, linkingFrom: page, reference: reference)
        let file = history.file(format)
        guard let output else { return try ReportWriting.print(file) }
        try ReportWriting.write(file, to: FilePath(output))
        for line in history.findings { print(line) }
        print("history: \(output)")
    }
}

extension TrendFormat: ExpressibleByArgument {}
