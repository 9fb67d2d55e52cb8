import ArgumentParser
import BackendRegistry
import ByteSources
import Conformance
import Measurement
import RandomAccess
import Report
import SubjectProtocol
import Support
import SwiftAESBackend

/// Options of several commands, checked.
enum Validated {
    /// A window's length in bytes.
    static func window(_ size: ByteSize) throws -> Int {
        try require(size.byteCount > 0 && size.byteCount <= 1 << 30, "--window \(size): expected 1 byte to 1GiB")
        return Int(size.byteCount)
    }

    /// A number of threads, each of which has a window's buffer where there are windows.
    static func threads(_ count: Int, window: ByteSize = ByteSize(0)) throws -> Int {
        try require((1...256).contains(count), "--threads \(count): expected 1 to 256")
        try require(
            BufferLimit.allows(threads: count, windowByteCount: window.byteCount),
            "--window \(window) --threads \(count): expected \(BufferLimit.expectation)")
        return count
    }

    /// How far away a store is that is simulated or computed with.
    static func link(latency: String?, bandwidth: String?) throws -> RemoteLink {
        guard let nanoseconds = latency.map({ TimeText.nanoseconds($0) }) ?? 0, nanoseconds <= TimeText.longestLatency
        else {
            throw CommandFailure(.usage, "--latency \(latency ?? ""): expected \(TimeText.latencyExpectation)")
        }
        let expectation =
            "--bandwidth \(bandwidth ?? ""): expected \(TimeText.bandwidthExpectation), or bits such as 800Mbit/s"
        let rate = try bandwidth.map { text in
            try require(
                TimeText.bytesPerSecond(text) ?? TimeText.bitsPerSecond(text).map { $0 / 8 }, .usage, expectation)
        }
        return try require(
            RemoteLink(latencyNanoseconds: nanoseconds, bytesPerSecond: rate), .usage, expectation)
    }

    /// A backend by its name.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - isForData: Whether it handles data of the user's, and is not only looked at: one that is no protection for
    ///     the key then comes with a warning, and works all the same, to compare what it gives.
    /// - Returns: The backend.
    /// - Throws: `CommandFailure`.
    static func backend(_ name: String, isForData: Bool = true) throws -> any CipherBackend {
        if !isForData, ForeignBackend.isForeign(name) { return try ForeignBackend(name) }
        let backend = try attempt { try BackendRegistry.backend(named: name) }
        if isForData, backend is SwiftReference {
            Terminal.writeError(
                "chunkwise: warning: backend \(name) looks up tables by bytes of key and data, which other programs of "
                    + "this machine may time: expected another one for keys that matter")
        }
        return backend
    }
}

extension ByteSize {
    /// Reads a size from the command line.
    static let argument: @Sendable (String) throws -> ByteSize = { text in
        let size = try require(ByteSize(text), .usage, "expected a size such as 64KiB, 16MB or 100MiB")
        return size
    }
}

extension ArgumentHelp {
    /// The help of an option, with the name of its value.
    static func taking(_ valueName: String, _ abstract: String) -> ArgumentHelp {
        ArgumentHelp(abstract, valueName: valueName)
    }
}

extension Duration {
    /// Reads a duration from the command line: with a unit, or a number of what the option's help says.
    ///
    /// - Parameters:
    ///   - unit: What a number without a unit is in.
    ///   - range: What the option takes, in that unit.
    ///   - isWhole: Whether only whole numbers of the unit are taken.
    ///   - needsUnit: Whether a number without a unit is refused.
    /// - Returns: The transform of an option.
    static func argument(
        _ unit: TimeText.Unit, _ range: ClosedRange<Double>, isWhole: Bool = false, needsUnit: Bool = false
    ) -> @Sendable (String) throws -> Duration {
        { text in
            let factor = Double(unit.nanoseconds)
            guard let nanoseconds = TimeText.nanoseconds(text, in: needsUnit ? nil : unit),
                range.contains(Double(nanoseconds) / factor), !isWhole || nanoseconds % unit.nanoseconds == 0
            else {
                let bounds = [range.lowerBound, range.upperBound].map { bound in
                    bound.rounded() == bound ? "\(Int(bound))" : "\(bound)"
                }.joined(separator: " to ")
                let alone = "\(bounds) \(isWhole ? "whole " : "")\(unit), or with a unit such as 500ms, 10s or 2m"
                throw CommandFailure(.usage, "expected \(needsUnit ? TimeText.expectation : alone)")
            }
            return .nanoseconds(Int64(clamping: nanoseconds))
        }
    }
}

/// What a shell proposes for options whose values it cannot know.
extension CompletionKind {
    /// Names of crypto libraries.
    static let backends = list(BackendRegistry.names)

    /// Names of strategies.
    static let strategies = list(Format.names + ListStrategy.allCases.map(\.rawValue))

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

extension RemoteClient: ExpressibleByArgument {}
