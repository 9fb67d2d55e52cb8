import CommandOptions
import Gate
import Measurement
import Report
import Results
import Support
import SystemPackage

/// What a self-test of the gate needs of this program.
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
        let encryption = try GateRunning.encryption()
        let (records, isComplete) = try attempt {
            try SelfTest(
                settings, header: header, encryption: encryption, log: log,
                progress: { Terminal.showProgress("self-test: \($0)") }, shouldStop: { Interruption.wasRequested }
            ).run()
        }
        Terminal.clearProgress()
        if let summary = SelfTestSummary(records, isComplete: isComplete), !summary.groups.isEmpty {
            print(output.format == .json ? summary.json.text : summary.text)
        }
        guard isComplete else {
            throw CommandFailure(
                .noAnswer,
                output.output == nil
                    ? "stopped before the end" : "stopped before the end; the same command goes on from here")
        }
    }

    private static func settings(
        _ options: SelfTestOptions, _ sides: GateSideOptions, _ gate: GateOptions
    ) throws -> SelfTestSettings {
        var both = sides
        both.baseline = sides.baseline ?? ShellText.joined(Program.subjectCommand)
        both.candidate = both.baseline
        var own = try gate.settings(for: both)
        if own.cells == nil { own.cells = [try options.cell()] }
        let settings = SelfTestSettings(
            gate: own, runCount: options.runs ?? 20, slowdowns: try options.slowdowns(tolerance: own.tolerance),
            includesUnchanged: !options.skipUnchanged, isBusy: options.busy)
        guard !settings.kinds.isEmpty else {
            throw CommandFailure(.usage, "--skip-unchanged with --slowdown none: expected something to run")
        }
        return settings
    }

    /// Refuses what means nothing to a self-test.
    private static func refuse(_ sides: GateSideOptions, _ gate: GateOptions, _ output: GateOutputOptions) throws {
        let others = [
            ("--candidate", sides.candidate != nil), ("--against", sides.against != nil),
            ("--record", sides.record != nil), ("--reference", sides.reference != nil),
            ("--max-memory-growth", gate.maxMemoryGrowth != nil), ("--allow-inconclusive", gate.allowInconclusive),
            ("--write", !output.write.isEmpty), ("--format \(output.format)", ![.text, .json].contains(output.format)),
        ]
        if let option = others.first(where: \.1)?.0 {
            throw CommandFailure(.usage, "\(option): expected it without --self-test")
        }
    }
}
