import ArgumentParser
import BackendRegistry
import Gate
import Measurement
import RandomAccess
import Report
import Results
import Support
import SystemPackage

extension GateCommand {
    /// `chunkwise gate self-test`
    struct SelfTest: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "self-test",
            abstract: "Measures how often the gate is right on this machine.",
            discussion: helpText(
                """
                Runs whole gates whose right answer is known: the baseline against itself, and against itself with a
                calibrated amount of extra work. It prints how often the gate was right, with confidence intervals.
                --output stores each run when it ends, and a self-test that was stopped resumes from there.

                EXAMPLES
                  chunkwise gate self-test --runs 100 --slowdown 3%,4% --busy --output gate-rates.jsonl

                EXIT CODES
                  0 measured, whatever the result; 2 stopped
                """))

        @Option(
            help: .taking(
                "command", "The program to test with. It speaks the subject protocol. (default: this program's subject)"
            ))
        var baseline: String?

        @Option(help: "The number of runs of each kind.")
        var runs = 20

        @Option(help: .taking("shares", "The injected slowdowns, or none. (default: tolerance + 1, 2 and 5 %)"))
        var slowdown: String?

        @Flag(help: "Skip the runs without an injected slowdown.")
        var skipUnchanged = false

        @Flag(help: "Keep all other cores busy.")
        var busy = false

        @Option(
            help: .taking("size", "The window of the only cell. (default: 256KiB)"), completion: .sizes,
            transform: ByteSize.argument)
        var window = ByteSize(256 << 10)

        @OptionGroup var measurement: GateMeasurement
        @OptionGroup var output: FormatOptions

        @Option(
            name: .customLong("output"), help: .taking("file", "Store each run in this file, and resume from it."),
            completion: .file())
        var log: String?

        func validate() throws {
            try requireValid((1...100_000).contains(runs), "--runs \(runs): expected 1 to 100000")
        }

        func run() throws {
            let settings = try settings()
            let log = try log.map { path in try attempt { try SelfTestLog(path: FilePath(path)) } }
            let header = SelfTestHeader(
                settings: settings, baseline: baseline ?? "chunkwise subject", programVersion: Program.version,
                command: GateRunning.command(seed: settings.gate.seed),
                startedAt: Program.time(), host: ThisHost.describe())
            Interruption.install()
            defer { Terminal.clearProgress() }
            let (records, isComplete) = try attempt {
                try Gate.SelfTest(
                    settings, header: header, encryption: CombinedBackend(), log: log,
                    progress: { Terminal.showProgress("self-test: \($0)") },
                    shouldStop: { Interruption.wasRequested }
                ).run()
            }
            Terminal.clearProgress()
            if let summary = SelfTestSummary(records, isComplete: isComplete), !summary.groups.isEmpty {
                output.show(summary.text, json: summary.json)
            }
            try require(
                isComplete, .noAnswer,
                log == nil
                    ? "stopped before the end" : "stopped before the end; the same command goes on from here")
        }

        private func settings() throws -> SelfTestSettings {
            let command = ForeignBackend.resolved(baseline ?? ShellText.joined(Program.subjectCommand()))
            var gate = try measurement.settings(baseline: command, candidate: command)
            if gate.cells == nil { gate.cells = [try cell()] }
            let settings = SelfTestSettings(
                gate: gate, runCount: runs, slowdowns: try slowdowns(tolerance: gate.tolerance),
                includesUnchanged: !skipUnchanged, isBusy: busy)
            try require(!settings.kinds.isEmpty, "--skip-unchanged with --slowdown none: expected something to run")
            return settings
        }

        /// The slowdowns to inject, for a tolerance of the gate.
        private func slowdowns(tolerance: Double) throws -> [Double] {
            guard let slowdown else { return [0.01, 0.02, 0.05].map { ((tolerance + $0) * 1e6).rounded() / 1e6 } }
            if slowdown == "none" { return [] }
            return try slowdown.split(separator: ",", omittingEmptySubsequences: false).map { text in
                guard let share = Share(text: String(text)), share.value > 0, share.value <= 2 else {
                    throw CommandFailure(
                        .usage,
                        "--slowdown \(slowdown): expected shares above 0 and up to 200%, such as 3%,4%,7%, or none")
                }
                return share.value
            }
        }

        /// The only cell that is measured without a plan.
        private func cell() throws -> Cell {
            let byteCount = try UInt64(Validated.window(window))
            try require(byteCount <= 256 << 20, "--window \(byteCount): expected at most 256MiB for a measurement")
            // An iteration of about a millisecond, or one window.
            return Cell(
                backend: DefaultCells.backend, strategy: Format.usualName, windowByteCount: byteCount,
                objectByteCount: max(4 << 20, byteCount))
        }
    }
}
