import ArgumentParser
import BackendRegistry
import Gate
import Measurement
import RandomAccess
import Report
import Results
import Support
import SystemPackage

/// The options of a self-test of the gate.
struct SelfTestOptions: ParsableArguments {
    @Flag(help: "Measure the gate itself on this machine: its false alarms, and injected slowdowns.")
    var selfTest = false

    @Option(help: "With --self-test, the number of runs of each kind. (default: 20)")
    var runs: Int?

    @Option(
        help: .taking(
            "shares", "With --self-test, the injected slowdowns, or none. (default: tolerance + 1, 2 and 5 %)"))
    var slowdown: String?

    @Flag(help: "With --self-test, skip the runs without an injected slowdown.")
    var skipUnchanged = false

    @Flag(help: "With --self-test, keep all other cores busy.")
    var busy = false

    @Option(
        help: .taking("size", "With --self-test, the window of its only cell. (default: 256KiB)"), completion: .sizes,
        transform: ByteSize.argument)
    var window: ByteSize?

    mutating func validate() throws {
        if let runs, !(1...100_000).contains(runs) {
            throw ValidationError("--runs \(runs): expected 1 to 100000")
        }
        guard !selfTest else { return }
        let others = [
            ("--runs", runs != nil), ("--slowdown", slowdown != nil), ("--skip-unchanged", skipUnchanged),
            ("--busy", busy), ("--window", window != nil),
        ]
        if let option = others.first(where: \.1)?.0 {
            throw ValidationError("\(option): expected it with --self-test only")
        }
    }

    /// The slowdowns to inject, for a tolerance of the gate.
    func slowdowns(tolerance: Double) throws -> [Double] {
        guard let slowdown else { return [0.01, 0.02, 0.05].map { ((tolerance + $0) * 1e6).rounded() / 1e6 } }
        if slowdown == "none" { return [] }
        return try slowdown.split(separator: ",", omittingEmptySubsequences: false).map { text in
            guard let share = Share(text: String(text)), share.value > 0, share.value <= 2 else {
                throw CommandFailure(
                    .usage, "--slowdown \(slowdown): expected shares above 0 and up to 200%, such as 3%,4%,7%, or none")
            }
            return share.value
        }
    }

    /// The only cell that is measured without a plan.
    func cell() throws -> Cell {
        let byteCount = try UInt64(Validated.window(window ?? ByteSize(256 << 10)))
        try require(byteCount <= 256 << 20, "--window \(byteCount): expected at most 256MiB for a measurement")
        // An iteration of about a millisecond, or one window.
        return Cell(
            backend: DefaultCells.backend, strategy: Format.usualName, windowByteCount: byteCount,
            objectByteCount: max(4 << 20, byteCount))
    }
}

/// The part of a self-test that depends on this program.
enum SelfTestRunning {
    /// Runs a self-test, and prints its rates.
    static func run(
        _ options: SelfTestOptions, of sides: GateSideOptions, _ gate: GateOptions, output: GateOutputOptions
    ) throws {
        try refuse(sides, gate, output)
        let settings = try settings(options, sides, gate)
        let log = try output.output.map { path in try attempt { try SelfTestLog(path: FilePath(path)) } }
        let header = SelfTestHeader(
            settings: settings, baseline: sides.baseline ?? "chunkwise subject", programVersion: Program.version,
            command: GateRunning.command(seed: settings.gate.seed),
            startedAt: Program.time(), host: ThisHost.describe())
        Interruption.install()
        defer { Terminal.clearProgress() }
        let (records, isComplete) = try attempt {
            try SelfTest(
                settings, header: header, encryption: CombinedBackend(), log: log,
                progress: { Terminal.showProgress("self-test: \($0)") }, shouldStop: { Interruption.wasRequested }
            ).run()
        }
        Terminal.clearProgress()
        if let summary = SelfTestSummary(records, isComplete: isComplete), !summary.groups.isEmpty {
            print(output.format == .json ? summary.json.text : summary.text)
        }
        try require(
            isComplete, .noAnswer,
            output.output == nil
                ? "stopped before the end" : "stopped before the end; the same command goes on from here")
    }

    private static func settings(
        _ options: SelfTestOptions, _ sides: GateSideOptions, _ gate: GateOptions
    ) throws -> SelfTestSettings {
        var both = sides
        both.baseline = sides.baseline ?? ShellText.joined(Program.subjectCommand())
        both.candidate = both.baseline
        var own = try gate.settings(for: both)
        if own.cells == nil { own.cells = [try options.cell()] }
        let settings = SelfTestSettings(
            gate: own, runCount: options.runs ?? 20, slowdowns: try options.slowdowns(tolerance: own.tolerance),
            includesUnchanged: !options.skipUnchanged, isBusy: options.busy)
        try require(!settings.kinds.isEmpty, "--skip-unchanged with --slowdown none: expected something to run")
        return settings
    }

    /// Refuses the options that have no meaning in a self-test.
    private static func refuse(_ sides: GateSideOptions, _ gate: GateOptions, _ output: GateOutputOptions) throws {
        let others = [
            ("--candidate", sides.candidate != nil), ("--against", sides.against != nil),
            ("--record", sides.record != nil), ("--reference", sides.reference != nil),
            ("--max-memory-growth", gate.maxMemoryGrowth != nil), ("--allow-inconclusive", gate.allowInconclusive),
            ("--anchor", !gate.anchor.isEmpty),
            ("--max-count-growth", gate.maxCountGrowth != nil),
            ("--write", !output.write.isEmpty), ("--format \(output.format)", ![.text, .json].contains(output.format)),
        ]
        if let option = others.first(where: \.1)?.0 {
            throw CommandFailure(.usage, "\(option): expected it without --self-test")
        }
    }
}
