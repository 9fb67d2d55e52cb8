import ArgumentParser
import BackendRegistry
import ByteSources
import Gate
import Measurement
import Report
import Results
import Support

/// The two sides that a gate compares.
struct GateSideOptions: ParsableArguments {
    @Option(help: .taking("command", "The program to compare with, of the subject protocol."))
    var baseline: String?

    @Option(help: .taking("command", "The program under test, of the subject protocol."))
    var candidate: String?

    @Option(
        help: .taking("library", "A plug-in to test, by its absolute path."), completion: .file(extensions: ["so"]))
    var plugin: String?

    @Option(
        help: .taking("file", "Compare with ratios that --record stored."), completion: .file(extensions: ["json"]))
    var against: String?

    @Option(
        help: .taking("file", "Store the candidate's ratios to a reference."),
        completion: .file(extensions: ["json"]))
    var record: String?

    @Option(help: .taking("command", "The reference. (default: this program's openssl)"))
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

/// The options of `gate` and `gate self-test` for what is measured, and for how long.
struct GateMeasurement: ParsableArguments {
    @Option(help: .taking("file", "A plan, as for sweep. (default: a few short cells)"), completion: .plans)
    var plan: String?

    @Option(
        help: .taking("share", "The maximum slowdown, such as 0.05. (default: 2%)"), transform: Share.argument)
    var tolerance = Share(0.02)

    @Option(
        help: .taking("time", "The time for each cell, such as 500ms. (default: 10s)"),
        transform: Duration.argument(.seconds, 0.1...3600))
    var seconds = Duration.seconds(10)

    @Option(help: "The seed of orders and reads. (default: a new one)")
    var seed: UInt64?

    @Option(
        help: .taking("time", "The timeout for each reply, such as 5s. (default: 60s)"),
        transform: Duration.argument(.seconds, 0.1...3600))
    var timeout = Duration.seconds(60)

    mutating func validate() throws {
        if let seed, seed >= 1 << 53 {
            throw ValidationError("--seed \(seed): expected less than \(UInt64(1) << 53)")
        }
    }

    /// The settings of a comparison of two commands. Reads the plan.
    func settings(baseline: String, candidate: String) throws -> GateSettings {
        var settings = GateSettings(
            baseline: baseline, candidate: candidate, seed: seed ?? UInt64.random(in: 0..<1 << 32))
        if let plan {
            let read = try GateRunning.plan(plan)
            settings.cells = read.cells.map(\.cell)
            settings.strategies = read.strategies
            settings.traces = read.traces
        }
        settings.tolerance = tolerance.value
        settings.secondsPerCell = seconds / .seconds(1)
        settings.timeout = timeout
        return settings
    }
}

/// The other options of `gate`, without its sides and its output.
struct GateOptions: ParsableArguments {
    @OptionGroup var measurement: GateMeasurement

    @Option(
        help: .taking("size", "Also compare peak memory, within this growth or share."),
        transform: MemoryLimit.argument)
    var maxMemoryGrowth: MemoryLimit?

    @Option(
        help: .taking(
            "command",
            "Also compare with an older release: its command, or its file of --record. May be repeated."))
    var anchor: [String] = []

    @Option(
        help: .taking("share", "The maximum slowdown since an anchor. (default: 5%)"), transform: Share.argument)
    var budget: Share?

    @Option(help: .taking("count", "The number of builds of each side, for {build}."))
    var builds: Int?

    @Option(
        help: .taking("share", "Also compare instructions and calls, within this growth."),
        transform: Share.argument)
    var maxCountGrowth: Share?

    @Flag(inversion: .prefixedNo, help: "Run vectors first.")
    var verify = true

    @Option(help: .taking("count", "The retries if there is no verdict."))
    var retries = 0

    @Flag(help: "Exit with 0 if the verdict is inconclusive.")
    var allowInconclusive = false

    mutating func validate() throws {
        if let builds, !(3...1000).contains(builds) {
            throw ValidationError("--builds \(builds): expected 3 to 1000")
        }
        if !(0...100).contains(retries) { throw ValidationError("--retries \(retries): expected 0 to 100") }
        if budget != nil, anchor.isEmpty { throw ValidationError("--budget: expected it with --anchor only") }
    }

    /// The options as settings. Reads the files that they name.
    func settings(for sides: GateSideOptions) throws -> GateSettings {
        let commands = try sides.commands()
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
        if let plan = measurement.plan, sides.against != nil {
            throw CommandFailure(.usage, "--plan \(plan): expected none with --against, which has its own")
        }
        var settings = try measurement.settings(baseline: commands.baseline, candidate: commands.candidate)
        if let against = sides.against {
            let text = try attemptInput { try TextFile.read(against) }
            settings.stored = try attempt { try StoredRatios.read(Array(text.utf8), file: against) }
        }
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
