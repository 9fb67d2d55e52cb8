public import ArgumentParser
import BackendRegistry
import ByteSources
import Conformance
import Measurement
import RandomAccess
import Report
import SubjectProtocol
public import Support
import SwiftAESBackend

/// Checks of options that several commands have.
enum Validated {
    /// Returns the length of a window in bytes.
    static func window(_ size: ByteSize) throws -> Int {
        try require(size.byteCount > 0 && size.byteCount <= 1 << 30, "--window \(size): expected 1 byte to 1GiB")
        return Int(size.byteCount)
    }

    /// Returns a number of threads. The buffers of all threads, one window each, must fit the limit.
    static func threads(_ count: Int, window: ByteSize = ByteSize(0)) throws -> Int {
        try require((1...256).contains(count), "--threads \(count): expected 1 to 256")
        try require(
            BufferLimit.allows(threads: count, windowByteCount: window.byteCount),
            "--window \(window) --threads \(count): expected \(BufferLimit.expectation)")
        return count
    }

    /// Returns the link to a simulated store.
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

    /// Returns the backend with a name.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - isForData: True if the backend handles the user's data, false if it is only examined. With data, a backend
    ///     that does not protect the key prints a warning, but works, for comparisons.
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
    /// Parses a size from the command line.
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
    /// Returns a parser of durations from the command line: a number with a unit, or without one in the option's unit.
    ///
    /// - Parameters:
    ///   - unit: The unit of a number without one.
    ///   - range: The range of the option, in that unit.
    ///   - isWhole: True to accept only whole numbers of the unit.
    ///   - needsUnit: True to refuse a number without a unit.
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

/// Completions for options whose values a shell cannot know.
extension CompletionKind {
    /// Names of crypto libraries.
    static let backends = list(BackendRegistry.names)

    /// Names of strategies, whose descriptions are read only for a completion script.
    static let strategies = HelpText.isWanted ? list(Format.names + ListStrategy.allCases.map(\.rawValue)) : .default

    /// Common sizes.
    static let sizes = list(["4KiB", "64KiB", "256KiB", "1MiB", "4MiB", "16MB", "16MiB", "100MiB"])
}

/// Completions for plans, workloads, mutants and files of a gate.
extension CompletionKind {
    /// Plans.
    static let plans = file(extensions: ["yml", "yaml"])

    /// Common workloads. Other sizes work too.
    static let workloads = list(commonWorkloads)

    private static let commonWorkloads = [
        "sequential", "random:4KiB", "random:64KiB", "random:1MiB", "trace:avplayer", "trace:ffmpeg-moov-at-end",
    ]

    /// The common workloads and their aliases.
    static let workloadNames = list(WorkloadAlias.allCases.map(\.rawValue) + commonWorkloads)

    /// Names of mutants.
    static let mutants = custom { _, _, _ in Mutant.all.map(\.name) }

    /// The formats of a gate's result, each followed by `=` for the file.
    static let gateFiles = list(GateFormat.allCases.map { "\($0)=" })
}

extension AccessPolicy: ExpressibleByArgument {}
extension RemoteClient: ExpressibleByArgument {}
