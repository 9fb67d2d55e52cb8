import BackendRegistry
import ByteSources
import CommandOptions
import Gate
import Measurement
import RandomAccess
import Report
import Results

/// What a gate needs of this program.
enum GateRunning {
    /// Runs a gate with progress on a terminal, until there is a verdict or the user stops it.
    static func run(_ settings: GateSettings) throws -> GateResult {
        Interruption.install()
        defer { Terminal.clearProgress() }
        let run = GateRun(
            settings: settings, encryption: try encryption(), programVersion: Program.version,
            command: command(seed: settings.seed), startedAt: Program.time())
        return try attempt {
            try run.run(progress: { Terminal.showProgress("gate: \($0)") }, shouldStop: { Interruption.wasRequested })
        }
    }

    /// What encrypts objects.
    static func encryption() throws -> any CipherBackend {
        guard let backend = Backends.available().first else {
            throw CommandFailure(
                .noAnswer, "no backend to encrypt objects with: expected one that chunkwise backends lists")
        }
        return backend
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
                defaultBackend: DefaultCells.backend, trace: Traces.find
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
