import ArgumentParser
import ByteSources
import CommandOptions
import Gate
import Measurement
import Results
import Support

/// What a gate compares.
struct GateSideOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("What is compared with: a program that speaks the subject protocol.", valueName: "command"))
    var baseline: String?

    @Option(help: ArgumentHelp("What is judged: another one.", valueName: "command"))
    var candidate: String?

    @Option(
        help: ArgumentHelp("Compare with ratios that --record kept, instead of with a baseline.", valueName: "file"),
        completion: .file(extensions: ["json"]))
    var against: String?

    @Option(
        help: ArgumentHelp("Keep the candidate's ratios to a reference, and judge nothing.", valueName: "file"),
        completion: .file(extensions: ["json"]))
    var record: String?

    @Option(
        help: ArgumentHelp(
            "With --record and --against, what runs beside the candidate. (default: this program's openssl subject)",
            valueName: "command"))
    var reference: String?

    /// Whether ratios are kept.
    var isRecording: Bool { record != nil }

    /// The two commands, the reference in the baseline's place where there is one.
    func commands() throws -> (baseline: String, candidate: String) {
        guard let candidate, !candidate.isEmpty else {
            throw CommandFailure(.usage, "no --candidate: expected a command")
        }
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

    private static var ownReference: String {
        ShellText.joined(Program.subjectCommand + ["--backend", "openssl"])
    }
}

/// How a gate compares.
struct GateOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The cells, in a plan as sweep has it. (default: a few short ones)", valueName: "file"),
        completion: .plans)
    var plan: String?

    @Option(
        help: ArgumentHelp(
            "How much slower the candidate may be, such as 2% or 0.02. (default: 2%)", valueName: "share"),
        transform: Share.argument)
    var tolerance = Share(0.02)

    @Option(
        help: ArgumentHelp(
            "How long a cell may be measured. Its control comes on top, and a second time if it is slower.",
            valueName: "seconds"))
    var seconds = 10.0

    @Option(
        help: ArgumentHelp(
            "Compare peak memory too, in runs of its own, and allow this much more, such as 4MiB or 5%.",
            valueName: "size or share"), transform: MemoryLimit.argument)
    var maxMemoryGrowth: MemoryLimit?

    @Option(help: "What orders and random reads are drawn from. (default: another one each time; it is shown)")
    var seed: UInt64?

    @Option(help: ArgumentHelp("How long each answer of a subject may take.", valueName: "seconds"))
    var timeout = 60.0

    @Flag(help: "Exit with 0 where the verdict is inconclusive.")
    var allowInconclusive = false

    mutating func validate() throws {
        guard seconds >= 0.1, seconds <= 3600 else {
            throw ValidationError("--seconds \(seconds): expected 0.1 to 3600")
        }
        guard timeout >= 0.1, timeout <= 3600 else {
            throw ValidationError("--timeout \(timeout): expected 0.1 to 3600 seconds")
        }
        if let seed, seed >= 1 << 53 {
            throw ValidationError("--seed \(seed): expected less than \(UInt64(1) << 53)")
        }
    }

    /// What the options say, with their files read.
    func settings(for sides: GateSideOptions) throws -> GateSettings {
        let commands = try sides.commands()
        var settings = GateSettings(
            baseline: commands.baseline, candidate: commands.candidate, seed: seed ?? UInt64.random(in: 0..<1 << 32))
        if maxMemoryGrowth != nil, sides.against != nil || sides.isRecording {
            throw CommandFailure(
                .usage, "--max-memory-growth: expected none with --against and --record, which know no peak memory")
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
            settings.traces = read.traces
        }
        settings.tolerance = tolerance.value
        settings.secondsPerCell = seconds
        settings.timeout = .seconds(timeout)
        settings.memoryLimit = maxMemoryGrowth
        settings.isRecording = sides.isRecording
        return settings
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
        guard let size = ByteSize(text) else {
            throw CommandFailure(.usage, "expected a size or a share, such as 4MiB or 5%")
        }
        return .byteCount(size.byteCount)
    }
}
