import ArgumentParser
import BackendRegistry
import Mutants
import RandomAccess

/// What a shell proposes for options whose values it cannot know.
extension CompletionKind {
    /// Names of crypto libraries.
    static let backends = list(BackendRegistry.names)

    /// Names of strategies.
    static let strategies = list(Strategy.names)

    /// Plans.
    static let plans = file(extensions: ["yml", "yaml"])

    /// What people measure; other sizes are as good.
    static let workloads = list([
        "sequential", "random:4KiB", "random:64KiB", "random:1MiB", "trace:avplayer", "trace:ffmpeg-moov-at-end",
    ])

    /// Sizes that are worth a try.
    static let sizes = list(["4KiB", "64KiB", "256KiB", "1MiB", "4MiB", "16MB", "16MiB", "100MiB"])

    /// Names of planted faults.
    static let mutants = custom { _, _, _ in Mutant.all.map(\.name) }

    /// The formats that a gate's result is written in, the file to be added.
    static let gateFiles = list(GateFormat.allCases.map { "\($0)=" })
}
