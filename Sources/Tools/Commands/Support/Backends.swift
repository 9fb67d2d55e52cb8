import BackendRegistry
import CommandOptions
import Conformance
import RandomAccess
import Results
import Vectors

/// The backends of this machine.
enum Backends {
    /// All that can be made. One that fails is named on standard error; one that this machine simply lacks is not, since
    /// `chunkwise backends` tells.
    static func available() -> [any CipherBackend] {
        BackendRegistry.entries.compactMap { entry in
            do throws(DecryptionError) {
                return try entry.make()
            } catch {
                if case .unavailable = error { return nil }
                Terminal.writeError("chunkwise: warning: backend \(entry.name) is not available: \(error)")
                return nil
            }
        }
    }

    /// Why backends are not there, by their names.
    static func missing() -> [String: String] {
        var reasons: [String: String] = [:]
        for entry in BackendRegistry.entries {
            do throws(DecryptionError) { _ = try entry.make() } catch { reasons[entry.name] = "\(error)" }
        }
        return reasons
    }

    /// Our readers over backends.
    static func subjects(_ backends: [any CipherBackend]) -> [ConformanceSubject] {
        backends.map { ConformanceSubject(backend: $0) }
    }

    /// A record for each backend that was left out because this machine lacks it: all its vectors were not run.
    static func notRun(groups: [VectorGroup]) -> [ConformanceRecord] {
        let available = BackendRegistry.availableNames
        let count = groups.reduce(0) { $0 + $1.vectorCount }
        return BackendRegistry.names.filter { !available.contains($0) }.map { name in
            ConformanceRecord(subject: name, passed: 0, failed: 0, unsupported: 0, notRun: count, failures: [])
        }
    }

    /// Runs vectors against backends, with progress on a terminal; with `all`, also what takes slow backends long.
    static func verify(
        _ backends: [any CipherBackend], groups: [VectorGroup], threadCount: Int, all: Bool = false,
        relocate: ConformanceSubject.Relocate? = nil,
        shouldStop: @escaping @Sendable () -> Bool = { Interruption.wasRequested }
    ) -> [ConformanceRecord] {
        defer { Terminal.clearProgress() }
        let display = ProgressDisplay()
        return Conformance.verify(
            backends: backends, groups: groups, threadCount: threadCount,
            largestReadByteCounts: all ? [:] : Conformance.slowBackends, relocate: relocate,
            progress: { progress in
                display.show(progress.finished, of: progress.total, "parts of the vectors", name: progress.subject)
            }, shouldStop: shouldStop)
    }
}
