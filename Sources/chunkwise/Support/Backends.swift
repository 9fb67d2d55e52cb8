import BackendRegistry
import Conformance
import RandomAccess
import Results
import Vectors

/// The backends of this machine.
enum Backends {
    /// All that can be made; the others are named on standard error.
    static func available() -> [any CipherBackend] {
        BackendRegistry.entries.compactMap { entry in
            do throws(DecryptionError) {
                return try entry.make()
            } catch {
                Terminal.writeError("chunkwise: warning: backend \(entry.name) is not available: \(error)")
                return nil
            }
        }
    }

    /// Our readers over backends.
    static func subjects(_ backends: [any CipherBackend]) -> [ConformanceSubject] {
        backends.map { ConformanceSubject(backend: $0) }
    }

    /// Runs vectors against backends, with progress on a terminal.
    static func verify(
        _ backends: [any CipherBackend], groups: [VectorGroup], threadCount: Int
    ) -> [ConformanceRecord] {
        defer { Terminal.clearProgress() }
        return Conformance.verify(backends: backends, groups: groups, threadCount: threadCount) { progress in
            Terminal.showProgress("verify: \(progress.finished) of \(progress.total) parts, \(progress.subject)")
        }
    }
}
