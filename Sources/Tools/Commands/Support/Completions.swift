import ArgumentParser
import Conformance

/// What a shell proposes for options whose values it cannot know.
extension CompletionKind {
    /// Plans.
    static let plans = file(extensions: ["yml", "yaml"])

    /// What people measure; other sizes are as good.
    static let workloads = list([
        "sequential", "random:4KiB", "random:64KiB", "random:1MiB", "trace:avplayer", "trace:ffmpeg-moov-at-end",
    ])

    /// Names of planted faults.
    static let mutants = custom { _, _, _ in Mutant.all.map(\.name) }

    /// The formats that a gate's result is written in, the file to be added.
    static let gateFiles = list(GateFormat.allCases.map { "\($0)=" })
}
