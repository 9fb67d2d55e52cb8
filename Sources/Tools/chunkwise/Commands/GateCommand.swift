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
        abstract: "Says whether a candidate is slower than a baseline: two programs that speak the subject protocol.",
        discussion: helpText(
            """
            The candidate is put to a choice of the vectors first, as verify --subject does: one that delivers other bytes is
            wrong, however fast. Then both run side by side in short turns, in fresh processes, and are compared with a
            copy of the baseline too. What is slower is measured again before it is said. Without a plan, a few short cells that both sides support are compared; a plan's backend, access,
            threads, rounds and time mean nothing here, since the commands bring their own.

            Where there is no baseline to run, --record keeps the candidate's times over those of a reference that runs
            beside it, and --against compares with such a file.

            --self-test runs whole gates whose right answer is known: the baseline (this program's subject unless said)
            against itself, and against itself with extra work of a calibrated share. It prints how often the gate was
            right, with intervals; --output keeps every run as it ends, and a self-test that was stopped goes on from there.

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
              with --self-test, 0 measured, whatever came out, and 2 stopped
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

/// What a gate compares.
struct GateSideOptions: ParsableArguments {
    @Option(help: .taking("command", "What is compared with: a program that speaks the subject protocol."))
    var baseline: String?

    @Option(help: .taking("command", "What is judged: another one."))
    var candidate: String?

    @Option(
        help: .taking("library", "What is judged: a plug-in, by its absolute path; see docs/plugins.md."),
        completion: .file(extensions: ["so"]))
    var plugin: String?

    @Option(
        help: .taking("file", "Compare with ratios that --record kept, instead of with a baseline."),
        completion: .file(extensions: ["json"]))
    var against: String?

    @Option(
        help: .taking("file", "Keep the candidate's ratios to a reference, and judge nothing."),
        completion: .file(extensions: ["json"]))
    var record: String?

    @Option(
        help: .taking(
            "command",
            "With --record and --against, what runs beside the candidate. (default: this program's openssl subject)"))
    var reference: String?

    /// Whether ratios are kept.
    var isRecording: Bool { record != nil }

    /// The two commands, the reference in the baseline's place where there is one.
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
            return (reference ?? Self.ownReference, candidate)
        }
        if let reference {
            throw CommandFailure(.usage, "--reference \(reference): expected it with --record or --against only")
        }
        guard let baseline, !baseline.isEmpty else {
            throw CommandFailure(.usage, "no --baseline: expected a command, or --against with a file")
        }
        return (baseline, candidate)
    }

    static var ownReference: String {
        ShellText.joined(Program.subjectCommand() + ["--backend", "openssl"])
    }
}

/// How a gate compares.
struct GateOptions: ParsableArguments {
    @Option(
        help: .taking("file", "The cells, in a plan as sweep has it. (default: a few short ones)"), completion: .plans)
    var plan: String?

    @Option(
        help: .taking("share", "How much slower the candidate may be, such as 2% or 0.02. (default: 2%)"),
        transform: Share.argument)
    var tolerance = Share(0.02)

    @Option(
        help: .taking(
            "time",
            "How long a cell may be measured: seconds, or a time such as 500ms. Its control comes on top, and a second time if it is slower. (default: 10s)"
        ), transform: Duration.argument(.seconds, 0.1...3600))
    var seconds = Duration.seconds(10)

    @Option(
        help: .taking(
            "size or share",
            "Compare peak memory too, in runs of its own, and allow this much more, such as 4MiB or 5%."),
        transform: MemoryLimit.argument)
    var maxMemoryGrowth: MemoryLimit?

    @Option(
        help: .taking(
            "command or file",
            "Compare with the last release as well, a command or what --record kept of it: the candidate must be shown to be within --budget. May be repeated."
        ))
    var anchor: [String] = []

    @Option(
        help: .taking("share", "How much slower than an anchor all changes together may be. (default: 5%)"),
        transform: Share.argument)
    var budget: Share?

    @Option(
        help: .taking(
            "count",
            "The builds of each side, 3 or more: {build} in a command stands for a number from 1 on. What differs between builds is then no slowdown."
        ))
    var builds: Int?

    @Option(
        help: .taking(
            "share",
            "Count instructions, allocations, system calls and page faults with valgrind too, and allow this much more, such as 0.1%."
        ), transform: Share.argument)
    var maxCountGrowth: Share?

    @Option(help: "What orders and random reads are drawn from. (default: another one each time; it is shown)")
    var seed: UInt64?

    @Option(
        help: .taking(
            "time", "How long each answer of a subject may take: seconds, or a time such as 500ms. (default: 60s)"),
        transform: Duration.argument(.seconds, 0.1...3600))
    var timeout = Duration.seconds(60)

    @Flag(inversion: .prefixedNo, help: "Put the candidate to a choice of the vectors before anything is timed.")
    var verify = true

    @Option(help: .taking("count", "How often to try again where there is no answer (exit code 2)."))
    var retries = 0

    @Flag(help: "Exit with 0 where the verdict is inconclusive.")
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

    /// What the options say, with their files read.
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
    /// What `--anchor` names.
    enum Anchor {
        case command(String)
        case stored(StoredRatios)
    }

    /// The anchors, with their files read before anything is measured.
    var anchors: [Anchor] {
        get throws {
            try anchor.map { name in
                // A command that is the name of a file with ratios is none.
                guard name.hasSuffix(".json") else { return .command(name) }
                let text = try attemptInput { try TextFile.read(name) }
                return .stored(try attempt { try StoredRatios.read(Array(text.utf8), file: name) })
            }
        }
    }

    /// The settings of a gate against an anchor: time only, with the budget for a tolerance.
    func settings(_ settings: GateSettings, against anchor: Anchor) throws -> GateSettings {
        var own = settings
        own.tolerance = budget?.value ?? 0.05
        (own.memoryLimit, own.countLimit, own.stored, own.buildCount) = (nil, nil, nil, nil)
        switch anchor {
        case .command(let command): own.baseline = command
        case .stored(let ratios):
            // The reference that it was recorded beside has its place in the file, options included.
            own.baseline = GateSideOptions.ownReference
            own.stored = ratios
        }
        return own
    }
}

/// A part of something, as people write it: `2%` or `0.02`.
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
    /// Reads a size, or a share with a percent sign.
    static let argument: @Sendable (String) throws -> MemoryLimit = { text in
        if text.hasSuffix("%"), let share = Share(text: text), share.value >= 0 { return .share(share.value) }
        let size = try require(ByteSize(text), .usage, "expected a size or a share, such as 4MiB or 5%")
        return .byteCount(size.byteCount)
    }
}

/// The options for what becomes of a gate's result.
struct GateOutputOptions: ParsableArguments {
    @Option(
        help: .taking("format", "How to print the result; github is annotations and the job's summary."))
    var format = GateFormat.text

    @Option(
        help: .taking("format=file", "Write the result to a file as well, such as junit=gate.xml. May be repeated."),
        completion: .gateFiles, transform: GateFile.argument)
    var write: [GateFile] = []

    @Option(
        help: .taking("file", "Where the whole record goes, every slice of every block included."), completion: .file())
    var output: String?

    @OptionGroup var color: ColorOptions

    /// Says before anything is measured what could not be written afterwards.
    func validate(for sides: GateSideOptions) throws {
        if sides.isRecording, format != .text || !write.isEmpty {
            throw CommandFailure(
                .usage, "--record with --format or --write: expected neither, since a recording has no verdict")
        }
        for path in [output, sides.record].compactMap(\.self) + write.map(\.path) {
            try WholeFile.requireFolder(of: path)
        }
    }

    /// Prints a result, and writes the files that were asked for.
    func write(_ result: GateResult, to sides: GateSideOptions, allowsInconclusive: Bool) throws {
        func text(_ format: GateFormat) -> String {
            format.text(of: result, isRecording: sides.isRecording, allowsInconclusive: allowsInconclusive)
        }
        // What cannot be written elsewhere is not lost.
        if format == .text { color.show(text(format)) } else { print(text(format)) }
        if let output { try WholeFile.write(result.json.text + "\n", to: output) }
        if let record = sides.record, result.isFitToRecord {
            try WholeFile.write(StoredRatios(result).text, to: record)
        }
        for file in write { try WholeFile.write(text(file.format) + "\n", to: file.path) }
        if format == .github { try GitHubSummary.add(result.markdown) }
    }
}

/// How a gate's result is shown.
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

/// A further file for a gate's result: `junit=gate.xml`.
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

/// What a gate needs of this program.
enum GateRunning {
    /// Puts the candidate to a choice of the vectors; the first of its builds, where there are several.
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

    /// The vectors that a choice is made of: of formats that only their descriptions tell of, those that are measured.
    private static func groups(_ settings: GateSettings) -> [VectorGroup] {
        let measured = settings.cells.map { Set($0.map { $0.strategy.prefix { $0 != ":" } }) }
        return VectorSet.standard().filter { group in
            group.playlist != nil || VectorSet.isListed(group.strategy.format)
                || measured?.contains(group.strategyName[...]) ?? (settings.stored != nil)
        }
    }

    /// Runs a gate with progress on a terminal, until there is a verdict or the user stops it.
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

    /// The command line that repeats this run, its seed included.
    static func command(seed: UInt64) -> [String] {
        let command = Program.command
        return command.contains { $0 == "--seed" || $0.hasPrefix("--seed=") }
            ? command : command + ["--seed", "\(seed)"]
    }

    /// Reads a plan: the same that `sweep` takes, though its backends need not be here.
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

    /// Ends the command with the exit code of a result.
    static func requirePass(_ result: GateResult, allowsInconclusive: Bool, isRecording: Bool) throws {
        if isRecording, result.isFitToRecord { return }
        switch result.answer(allowsInconclusive: allowsInconclusive) {
        case .yes: return
        case .no: throw CommandFailure(.no, GateText.conclusion(result))
        case .none: throw CommandFailure(.noAnswer, GateText.conclusion(result))
        }
    }
}

/// The summary of a job on GitHub: a file that each step may add Markdown to.
enum GitHubSummary {
    /// Adds to the file that the environment names; nothing where it names none.
    ///
    /// - Source: GitHub's "Workflow commands", "Adding a job summary".
    static func add(_ markdown: String) throws {
        guard let path = getenv("GITHUB_STEP_SUMMARY").map({ String(cString: $0) }), !path.isEmpty else { return }
        guard let file = fopen(path, "a") else {
            throw CommandFailure(
                .io,
                "open \(path) of GITHUB_STEP_SUMMARY failed: \(String(cString: strerror(errno))): expected a file to add to"
            )
        }
        let isWritten = fputs(markdown + "\n", file) >= 0
        try require(
            fclose(file) == 0 && isWritten, .io,
            "write to \(path) of GITHUB_STEP_SUMMARY failed: expected it to take the summary")
    }
}
