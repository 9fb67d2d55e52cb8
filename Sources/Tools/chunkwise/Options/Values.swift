import ArgumentParser
import BackendRegistry
import Conformance
import Measurement
import RandomAccess
import Report
import SubjectProtocol
import Support

/// Options of several commands, checked.
enum Validated {
    /// A window's length in bytes.
    static func window(_ size: ByteSize) throws -> Int {
        guard size.byteCount > 0, size.byteCount <= 1 << 30 else {
            throw CommandFailure(.usage, "--window \(size): expected 1 byte to 1GiB")
        }
        return Int(size.byteCount)
    }

    /// A number of threads.
    static func threads(_ count: Int) throws -> Int {
        guard (1...256).contains(count) else {
            throw CommandFailure(.usage, "--threads \(count): expected 1 to 256")
        }
        return count
    }

    /// A backend by its name.
    static func backend(_ name: String) throws -> any CipherBackend {
        try attempt { try BackendRegistry.backend(named: name) }
    }
}

extension ByteSize {
    /// Reads a size from the command line.
    static let argument: @Sendable (String) throws -> ByteSize = { text in
        guard let size = ByteSize(text) else {
            throw CommandFailure(.usage, "expected a size such as 64KiB, 16MB or 100MiB")
        }
        return size
    }
}

/// What a shell proposes for options whose values it cannot know.
extension CompletionKind {
    /// Names of crypto libraries.
    static let backends = list(BackendRegistry.names)

    /// Names of strategies.
    static let strategies = list(Strategy.names + [PlaylistRequest.strategyName])

    /// Sizes that are worth a try.
    static let sizes = list(["4KiB", "64KiB", "256KiB", "1MiB", "4MiB", "16MB", "16MiB", "100MiB"])
}

/// What a shell proposes for options whose values it cannot know.
extension CompletionKind {
    /// Plans.
    static let plans = file(extensions: ["yml", "yaml"])

    /// What people measure; other sizes are as good.
    static let workloads = list(commonWorkloads)

    private static let commonWorkloads = [
        "sequential", "random:4KiB", "random:64KiB", "random:1MiB", "trace:avplayer", "trace:ffmpeg-moov-at-end",
    ]

    /// The same, and the names that people use for them.
    static let workloadNames = list(WorkloadAlias.allCases.map(\.rawValue) + commonWorkloads)

    /// Names of planted faults.
    static let mutants = custom { _, _, _ in Mutant.all.map(\.name) }

    /// The formats that a gate's result is written in, the file to be added.
    static let gateFiles = list(GateFormat.allCases.map { "\($0)=" })
}
