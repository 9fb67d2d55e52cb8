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
import SubjectProtocol
import Support
import Vectors

/// The part of a gate that depends on this program: its vectors, plans and progress display.
enum GateRunning {
    /// Runs a selection of the vectors on the candidate. If there are several builds, the first one runs them.
    static func verify(_ settings: GateSettings) throws -> ConformanceRecord {
        Interruption.install()
        defer { Terminal.clearProgress() }
        let command = settings.candidate.replacing("{build}", with: "1")
        let verification = ExternalVerification(
            command: command, timeout: settings.timeout, checksProtocol: false, listedFailureCount: 3, processCount: 2,
            isInterrupted: { Interruption.wasRequested })
        let display = ProgressDisplay()
        let groups = try groups(settings)
        var record: ConformanceRecord
        do throws(ExternalVerification.Failure) {
            record = try verification.run(groups) { finished, total in
                display.show(finished, of: total, "groups of vectors", name: "gate")
            }.record
        } catch {
            throw TestedSubjects.failure(error, command)
        }
        if Interruption.wasRequested { throw CommandFailure(.noAnswer, "\(GateError.interrupted)") }
        record.flags = nil
        return record
    }

    /// The vectors to select from: of the formats that the given cells measure, the user's own among them. Without
    /// cells, those of the formats that programs usually have, and with stored ratios, of all.
    private static func groups(_ settings: GateSettings) throws -> [VectorGroup] {
        let measured = settings.cells.map { Set($0.map { String($0.strategy.prefix { $0 != ":" }) }) }
        let unusual = settings.stored == nil ? Set(Format.known.filter { !VectorSet.isListed($0) }.map(\.name)) : []
        let known = VectorSet.standard { measured?.contains($0) ?? !unusual.contains($0) }
        var own: [Format] = []
        for (_, strategy) in settings.strategies.sorted(by: { $0.key < $1.key })
        where strategy.format.isDescribed && !own.contains(strategy.format) {
            own.append(strategy.format)
        }
        return try known + (own.isEmpty ? [] : attempt("--plan") { try DescribedVectors(own).groups() })
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
        case .no: throw CommandFailure(.no, result.headline)
        case .none: throw CommandFailure(.noAnswer, result.headline)
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
        let file = try require(
            fopen(path, "a"), .io,
            "open \(path) of GITHUB_STEP_SUMMARY failed: \(String(cString: strerror(errno))): expected a file to "
                + "add to")
        let isWritten = fputs(markdown + "\n", file) >= 0
        try require(
            fclose(file) == 0 && isWritten, .io,
            "write to \(path) of GITHUB_STEP_SUMMARY failed: expected it to take the summary")
    }
}
