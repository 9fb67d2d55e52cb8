import ArgumentParser
import BackendRegistry
import ByteSources
import Conformance
import Gate
import Glibc
import Measurement
import RandomAccess
import Report
import Results
import Support
import Vectors

/// `chunkwise gate`
struct GateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gate",
        abstract: "Checks that a candidate is not slower than a baseline. Both speak the subject protocol.",
        discussion: helpText(
            """
            First, the candidate runs a selection of the vectors, as in verify --subject: a candidate that delivers
            wrong bytes fails, however fast it is. Then both run in short turns, in fresh processes, beside a second
            copy of the baseline. A slowdown is confirmed by a second measurement before it is reported. Without a plan,
            the gate compares a few short cells that both sides support. It ignores a plan's backend, access, threads,
            rounds and time, because the commands have their own.

            If there is no baseline to run, --record stores the ratios of the candidate's times to those of a reference
            that runs beside it. --against compares with such a file.

            --self-test runs whole gates whose right answer is known: the baseline (by default, this program's subject)
            against itself, and against itself with a calibrated amount of extra work. It prints how often the gate was
            right, with confidence intervals. --output stores each run when it ends, and a self-test that was stopped
            resumes from there.

            EXAMPLES
              chunkwise gate --baseline 'old/chunkwise subject' --candidate 'new/chunkwise subject'
              chunkwise gate --baseline 'python3 v1.py' --candidate 'python3 v2.py' --plan plan.yml --format json
              chunkwise gate --baseline './a' --candidate './b' --tolerance 5% --max-memory-growth 1MiB
              chunkwise gate --baseline './a' --candidate './b' --format github --write junit=gate.xml
              chunkwise gate --baseline main --candidate './b' --anchor release.json
              chunkwise gate --baseline 'old/{build}/r' --candidate 'new/{build}/r' --builds 12
              chunkwise gate --record ratios.json --candidate './a'
              chunkwise gate --against ratios.json --candidate './b'
              chunkwise gate --self-test --runs 100 --slowdown 3%,4% --busy --output gate-rates.jsonl

            EXIT CODES
              0 faster or same; 1 slower, wrong, failed, or grown; 2 noisy host, inconclusive, or nothing was compared;
              with --self-test, 0 measured, whatever the result, and 2 stopped
            """))

    @OptionGroup var sides: GateSideOptions
    @OptionGroup var selfTest: SelfTestOptions
    @OptionGroup var options: GateOptions
    @OptionGroup var output: GateOutputOptions

    func run() throws {
        if selfTest.selfTest { return try SelfTestRunning.run(selfTest, of: sides, options, output: output) }
        try output.validate(for: sides)
        var settings = try options.settings(for: sides)
        let anchors = try options.anchors.map { try options.settings(settings, against: $0) }
        let vectors = options.verify ? try GateRunning.verify(settings) : nil
        var result = try GateRunning.run(settings, vectors: vectors)
        var retries = options.retries
        while retries > 0, result.answer(allowsInconclusive: options.allowInconclusive) == .none {
            (retries, settings.seed) = (retries - 1, UInt64.random(in: 0..<1 << 32))
            result = try GateRunning.run(settings, vectors: vectors)
        }
        for anchor in anchors { result.anchors = (result.anchors ?? []) + [try GateRunning.run(anchor)] }
        try output.write(result, to: sides, allowsInconclusive: options.allowInconclusive)
        try GateRunning.requirePass(
            result, allowsInconclusive: options.allowInconclusive, isRecording: sides.isRecording)
    }
}

/// The two sides that a gate compares.
struct GateSideOptions: ParsableArguments {
    @Option(help: .taking("command", "The program to compare with. It speaks the subject protocol."))
    var baseline: String?

    @Option(help: .taking("command", "The program under test. It speaks the subject protocol too."))
    var candidate: String?

    @Option(
        help: .taking("library", "The absolute path of a plug-in to test as the candidate; see docs/plugins.md."),
        completion: .file(extensions: ["so"]))
    var plugin: String?

    @Option(
        help: .taking("file", "Compare with ratios that --record stored, instead of running a baseline."),
        completion: .file(extensions: ["json"]))
    var against: String?

    @Option(
        help: .taking("file", "Store the candidate's ratios to a reference, without a verdict."),
        completion: .file(extensions: ["json"]))
    var record: String?

    @Option(
        help: .taking(
            "command",
            "With --record and --against, the program that runs beside the candidate. (default: this program's openssl "
                + "subject)"))
    var reference: String?

    /// True if the gate stores ratios.
    var isRecording: Bool { record != nil }

    /// The two commands. The reference, if there is one, takes the baseline's place.
    func commands() throws -> (baseline: String, candidate: String) {
        if let plugin, candidate != nil {
            throw CommandFailure(.usage, "--plugin \(plugin) with --candidate: expected one of them")
        }
        guard let candidate = plugin.map({ BackendRegistry.pluginPrefix + $0 }) ?? self.candidate, !candidate.isEmpty
        else {
            throw CommandFailure(.usage, "no --candidate: expected a command")
        }
        let (one, other) = try commands(candidate)
        return (ForeignBackend.resolved(one), ForeignBackend.resolved(other))
    }

    private func commands(_ candidate: String) throws -> (baseline: String, candidate: String) {
        if against != nil, record != nil {
            throw CommandFailure(.usage, "--against and --record: expected one of them")
        }
        if against != nil || record != nil {
            if let baseline {
                throw CommandFailure(
                    .usage,
                    "--baseline \(baseline): expected none with --against and --record, where --reference is meant")
            }
            return (reference ?? Self.defaultReference, candidate)
        }
        if let reference {
            throw CommandFailure(.usage, "--reference \(reference): expected it with --record or --against only")
        }
        guard let baseline, !baseline.isEmpty else {
            throw CommandFailure(.usage, "no --baseline: expected a command, or --against with a file")
        }
        return (baseline, candidate)
    }

    static var defaultReference: String {
        ShellText.joined(Program.subjectCommand() + ["--backend", "openssl"])
    }
}

/// The settings of a comparison.
struct GateOptions: ParsableArguments {
    @Option(
        help: .taking("file", "A plan with the cells to compare, as for sweep. (default: a few short cells)"),
        completion: .plans)
    var plan: String?

    @Option(
        help: .taking("share", "The maximum slowdown of the candidate, such as 2% or 0.02. (default: 2%)"),
        transform: Share.argument)
    var tolerance = Share(0.02)

    @Option(
        help: .taking(
            "time",
            """
            The time to measure each cell, in seconds or as a time such as 500ms. The control takes extra time, and a \
            cell that is slower takes the time again. (default: 10s)
            """), transform: Duration.argument(.seconds, 0.1...3600))
    var seconds = Duration.seconds(10)

    @Option(
        help: .taking(
            "size or share",
            "Also compare peak memory, in separate runs, and allow this much growth, such as 4MiB or 5%."),
        transform: MemoryLimit.argument)
    var maxMemoryGrowth: MemoryLimit?

    @Option(
        help: .taking(
            "command or file",
            """
            Also compare with an older release: its command, or the file that --record stored for it. The gate passes \
            only if it can show that the slowdown is within --budget. May be repeated.
            """))
    var anchor: [String] = []

    @Option(
        help: .taking("share", "The maximum slowdown since an anchor, over all changes together. (default: 5%)"),
        transform: Share.argument)
    var budget: Share?

    @Option(
        help: .taking(
            "count",
            """
            The number of builds of each side, 3 or more. {build} in a command is replaced by a number, from 1 up. \
            Differences between builds then do not count as a slowdown.
            """))
    var builds: Int?

    @Option(
        help: .taking(
            "share",
            """
            Also count instructions, allocations, system calls and page faults, with valgrind, and allow this much \
            growth, such as 0.1%.
            """), transform: Share.argument)
    var maxCountGrowth: Share?

    @Option(help: "The seed of the order and of random reads. (default: a new one each time, which is shown)")
    var seed: UInt64?

    @Option(
        help: .taking(
            "time", "The timeout for each reply of a subject, in seconds or as a time such as 500ms. (default: 60s)"),
        transform: Duration.argument(.seconds, 0.1...3600))
    var timeout = Duration.seconds(60)

    @Flag(inversion: .prefixedNo, help: "Run a selection of the vectors on the candidate before the timing.")
    var verify = true

    @Option(help: .taking("count", "The number of retries if there is no answer (exit code 2)."))
    var retries = 0

    @Flag(help: "Exit with 0 if the verdict is inconclusive.")
    var allowInconclusive = false

    mutating func validate() throws {
        if let seed, seed >= 1 << 53 {
            throw ValidationError("--seed \(seed): expected less than \(UInt64(1) << 53)")
        }
        if let builds, !(3...1000).contains(builds) {
            throw ValidationError("--builds \(builds): expected 3 to 1000")
        }
        if !(0...100).contains(retries) { throw ValidationError("--retries \(retries): expected 0 to 100") }
        if budget != nil, anchor.isEmpty { throw ValidationError("--budget: expected it with --anchor only") }
    }

    /// The options as settings. Reads the files that they name.
    func settings(for sides: GateSideOptions) throws -> GateSettings {
        let commands = try sides.commands()
        var settings = GateSettings(
            baseline: commands.baseline, candidate: commands.candidate, seed: seed ?? UInt64.random(in: 0..<1 << 32))
        let others = [
            ("--max-memory-growth", maxMemoryGrowth != nil), ("--max-count-growth", maxCountGrowth != nil),
            ("--builds", builds != nil),
        ]
        if let option = others.first(where: \.1)?.0, sides.against != nil || sides.isRecording {
            throw CommandFailure(
                .usage, "\(option): expected none with --against and --record, which know times only")
        }
        try require(
            sides.isRecording ? anchor.isEmpty : true, .usage, "--anchor with --record: expected one of them")
        if builds != nil, !commands.baseline.contains("{build}") || !commands.candidate.contains("{build}") {
            throw CommandFailure(
                .usage, "--builds: expected {build} in --baseline and --candidate, such as 'old/{build}/reader'")
        }
        if let against = sides.against {
            if let plan {
                throw CommandFailure(.usage, "--plan \(plan): expected none with --against, which has its own")
            }
            let text = try attemptInput { try TextFile.read(against) }
            settings.stored = try attempt { try StoredRatios.read(Array(text.utf8), file: against) }
        }
        if let plan {
            let read = try GateRunning.plan(plan)
            settings.cells = read.cells.map(\.cell)
            settings.strategies = read.strategies
            settings.traces = read.traces
        }
        settings.tolerance = tolerance.value
        settings.secondsPerCell = seconds / .seconds(1)
        settings.timeout = timeout
        settings.memoryLimit = maxMemoryGrowth
        settings.countLimit = maxCountGrowth?.value
        settings.buildCount = builds
        settings.isRecording = sides.isRecording
        return settings
    }
}

extension GateOptions {
    /// The value of `--anchor`: a command, or stored ratios.
    enum Anchor {
        case command(String)
        case stored(StoredRatios)
    }

    /// The anchors. Reads their files, so that a wrong one fails before the measurement.
    var anchors: [Anchor] {
        get throws {
            try anchor.map { name in
                // A name that ends with .json is a file with ratios, never a command.
                guard name.hasSuffix(".json") else { return .command(name) }
                let text = try attemptInput { try TextFile.read(name) }
                return .stored(try attempt { try StoredRatios.read(Array(text.utf8), file: name) })
            }
        }
    }

    /// The settings of a gate against an anchor. It compares time only, and its tolerance is the budget.
    func settings(_ settings: GateSettings, against anchor: Anchor) throws -> GateSettings {
        var own = settings
        own.tolerance = budget?.value ?? 0.05
        (own.memoryLimit, own.countLimit, own.stored, own.buildCount) = (nil, nil, nil, nil)
        switch anchor {
        case .command(let command): own.baseline = command
        case .stored(let ratios):
            // The file names the reference of its recording, with its options.
            own.baseline = GateSideOptions.defaultReference
            own.stored = ratios
        }
        return own
    }
}

/// A fraction, written as `2%` or `0.02`.
struct Share {
    let value: Double

    init(_ value: Double) {
        self.value = value
    }

    static let argument: @Sendable (String) throws -> Share = { text in
        guard let share = Share(text: text), share.value > 0, share.value <= 1 else {
            throw CommandFailure(.usage, "expected a share above 0 and up to 1, such as 2% or 0.02")
        }
        return share
    }

    init?(text: String) {
        let isPercentage = text.hasSuffix("%")
        guard let number = Double(isPercentage ? text.dropLast() : text[...]), number.isFinite else { return nil }
        value = isPercentage ? number / 100 : number
    }
}

extension MemoryLimit {
    /// Parses a size, or a share with a percent sign.
    static let argument: @Sendable (String) throws -> MemoryLimit = { text in
        if text.hasSuffix("%"), let share = Share(text: text), share.value >= 0 { return .share(share.value) }
        let size = try require(ByteSize(text), .usage, "expected a size or a share, such as 4MiB or 5%")
        return .byteCount(size.byteCount)
    }
}

/// The options for the output of a gate's result.
struct GateOutputOptions: ParsableArguments {
    @Option(
        help: .taking("format", "The output format; github prints annotations and adds to the job's summary."))
    var format = GateFormat.text

    @Option(
        help: .taking("format=file", "Also write the result to a file, such as junit=gate.xml. May be repeated."),
        completion: .gateFiles, transform: GateFile.argument)
    var write: [GateFile] = []

    @Option(
        help: .taking("file", "Write the whole record to this file, with every slice of every block."),
        completion: .file())
    var output: String?

    @OptionGroup var color: ColorOptions

    /// Checks, before the measurement, that the result can be written after it.
    func validate(for sides: GateSideOptions) throws {
        if sides.isRecording, format != .text || !write.isEmpty {
            throw CommandFailure(
                .usage, "--record with --format or --write: expected neither, since a recording has no verdict")
        }
        for path in [output, sides.record].compactMap(\.self) + write.map(\.path) {
            try WholeFile.requireFolder(of: path)
        }
    }

    /// Prints a result, and writes the files that the options name.
    func write(_ result: GateResult, to sides: GateSideOptions, allowsInconclusive: Bool) throws {
        func text(_ format: GateFormat) -> String {
            format.text(of: result, isRecording: sides.isRecording, allowsInconclusive: allowsInconclusive)
        }
        // Printed first, so that a file that cannot be written does not lose the result.
        if format == .text { color.show(text(format)) } else { print(text(format)) }
        if let output { try WholeFile.write(result.json.text + "\n", to: output) }
        if let record = sides.record, result.isFitToRecord {
            try WholeFile.write(StoredRatios(result).text, to: record)
        }
        for file in write { try WholeFile.write(text(file.format) + "\n", to: file.path) }
        if format == .github { try GitHubSummary.add(result.markdown) }
    }
}

/// The output format of a gate's result.
enum GateFormat: String, CaseIterable, ExpressibleByArgument {
    case text
    case json
    case junit
    case github
    case markdown

    /// A result in this format, without a line break at its end.
    func text(of result: GateResult, isRecording: Bool, allowsInconclusive: Bool) -> String {
        switch self {
        case .text: GateText.text(result, isRecording: isRecording)
        case .json: result.summary.text
        case .junit: String(result.junit(allowsInconclusive: allowsInconclusive).dropLast())
        case .github: result.githubAnnotations
        case .markdown: String(result.markdown.dropLast())
        }
    }
}

/// An additional file for a gate's result: `junit=gate.xml`.
struct GateFile {
    let format: GateFormat
    let path: String

    static let argument: @Sendable (String) throws -> GateFile = { text in
        let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2, let format = GateFormat(rawValue: parts[0]), !parts[1].isEmpty else {
            let names = GateFormat.allCases.map(\.rawValue).joined(separator: ", ")
            throw CommandFailure(.usage, "expected a format (\(names)) and a file, such as junit=gate.xml")
        }
        return GateFile(format: format, path: parts[1])
    }
}

/// The part of a gate that depends on this program: its vectors, plans and progress display.
enum GateRunning {
    /// Runs a selection of the vectors on the candidate. If there are several builds, the first one runs them.
    static func verify(_ settings: GateSettings) throws -> ConformanceRecord {
        Interruption.install()
        defer { Terminal.clearProgress() }
        let command = settings.candidate.replacing("{build}", with: "1")
        let verification = ExternalVerification(
            command: command, timeout: settings.timeout, checksProtocol: false, listedFailureCount: 3,
            isInterrupted: { Interruption.wasRequested })
        let display = ProgressDisplay()
        var record: ConformanceRecord
        do throws(ExternalVerification.Failure) {
            record = try verification.run(groups(settings)) { finished, total in
                display.show(finished, of: total, "groups of vectors", name: "gate")
            }.record
        } catch {
            throw ExternalOptions.failure(error, command)
        }
        if Interruption.wasRequested { throw CommandFailure(.noAnswer, "\(GateError.interrupted)") }
        record.flags = nil
        return record
    }

    /// The vectors to select from. A format that is known only by its description is among them only if it is measured.
    private static func groups(_ settings: GateSettings) -> [VectorGroup] {
        let measured = settings.cells.map { Set($0.map { $0.strategy.prefix { $0 != ":" } }) }
        return VectorSet.standard().filter { group in
            group.playlist != nil || VectorSet.isListed(group.strategy.format)
                || measured?.contains(group.strategyName[...]) ?? (settings.stored != nil)
        }
    }

    /// Runs a gate, and shows its progress on a terminal, until there is a verdict or the user stops it.
    static func run(_ settings: GateSettings, vectors: ConformanceRecord? = nil) throws -> GateResult {
        Interruption.install()
        defer { Terminal.clearProgress() }
        let run = GateRun(
            settings: settings, encryption: CombinedBackend(), programVersion: Program.version,
            command: command(seed: settings.seed), startedAt: Program.time())
        return try attempt {
            try run.run(
                vectors: vectors, progress: { Terminal.showProgress("gate: \($0)") },
                shouldStop: { Interruption.wasRequested })
        }
    }

    /// The command line that repeats this run, with its seed.
    static func command(seed: UInt64) -> [String] {
        let command = Program.command
        return command.contains { $0 == "--seed" || $0.hasPrefix("--seed=") }
            ? command : command + ["--seed", "\(seed)"]
    }

    /// Reads a plan as `sweep` does, except that this machine need not have its backends.
    static func plan(_ path: String) throws -> Plan {
        let text = try attemptInput { try TextFile.read(path) }
        return try attempt {
            try PlanReader(
                file: path, knownBackends: BackendRegistry.names + [DefaultCells.backend],
                defaultBackend: DefaultCells.backend, trace: Traces.find,
                describedFormat: FormatFiles.described, isForeign: ForeignBackend.isForeign
            ).read(text)
        }
    }

    /// Returns if a result is a pass.
    ///
    /// - Throws: `CommandFailure` with the exit code of the result otherwise.
    static func requirePass(_ result: GateResult, allowsInconclusive: Bool, isRecording: Bool) throws {
        if isRecording, result.isFitToRecord { return }
        switch result.answer(allowsInconclusive: allowsInconclusive) {
        case .yes: return
        case .no: throw CommandFailure(.no, GateText.conclusion(result))
        case .none: throw CommandFailure(.noAnswer, GateText.conclusion(result))
        }
    }
}

/// The summary of a job on GitHub: a file to which each step may append Markdown.
enum GitHubSummary {
    /// Appends to the file that the environment names. Does nothing if it names no file.
    ///
    /// - Source: GitHub's "Workflow commands", "Adding a job summary".
    static func add(_ markdown: String) throws {
        guard let path = getenv("GITHUB_STEP_SUMMARY").map({ String(cString: $0) }), !path.isEmpty else { return }
        guard let file = fopen(path, "a") else {
            throw CommandFailure(
                .io,
                "open \(path) of GITHUB_STEP_SUMMARY failed: \(String(cString: strerror(errno))): expected a file to "
                    + "add to"
            )
        }
        let isWritten = fputs(markdown + "\n", file) >= 0
        try require(
            fclose(file) == 0 && isWritten, .io,
            "write to \(path) of GITHUB_STEP_SUMMARY failed: expected it to take the summary")
    }
}
