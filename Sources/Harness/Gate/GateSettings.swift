import ByteSources
package import Measurement
package import RandomAccess
package import Results
internal import SubjectProtocol
package import Support
internal import Vectors

/// The programs and cells that a gate compares, and the options.
package struct GateSettings: Sendable {
    /// The command line of the baseline, for `/bin/sh -c`; it speaks the subject protocol.
    package var baseline: String
    /// The command line of the candidate.
    package var candidate: String
    /// The cells, or `nil` for a few that both sides support; their backend, access and threads are ignored.
    package var cells: [Cell]?
    /// The traces that cells replay, by name.
    package var traces: [String: PlayerTrace] = [:]
    /// The share by which the candidate may be slower: 0.02 for 2 %.
    package var tolerance = 0.02
    /// The minimum probability that all intervals of a phase hold the truth.
    package var confidence = 0.95
    /// The maximum time for a cell in each phase, in seconds, without its control.
    package var secondsPerCell = 10.0
    /// The seed of all orders and random reads; below 2⁵³.
    package var seed: UInt64
    /// The maximum time for each answer of a subject.
    package var timeout: Duration = .seconds(60)
    /// The additional memory that the candidate may use; `nil` if memory is not compared.
    package var memoryLimit: MemoryLimit?
    /// The share by which the candidate may do more, by repeatable counts: 0.001 for 0.1 %; `nil` if nothing is
    /// counted.
    package var countLimit: Double?
    /// The number of builds of each side; `nil` for one. In the commands, `{build}` stands for a number from 1.
    package var buildCount: Int?
    /// Recorded ratios to compare the ratios of this run with; `baseline` is then the reference.
    package var stored: StoredRatios?
    /// True if cells are measured for their full time, for figures and not for a decision.
    package var isRecording = false

    /// The strategies of the cells, by their texts, if the texts are incomplete.
    package var strategies: [String: Strategy] = [:]

    package init(baseline: String, candidate: String, cells: [Cell]? = nil, seed: UInt64) {
        self.baseline = baseline
        self.candidate = candidate
        self.cells = cells
        self.seed = seed
    }

    /// The total error of each end of all intervals, for the blocks of this run. Stored ratios, if any, get the same
    /// share.
    var alpha: Double { (1 - confidence) / (stored == nil ? 2 : 4) }

    /// The rule with the given tolerance.
    package var rule: GateRule { GateRule(tolerance: tolerance) }
}

/// An error that leaves a gate without any result.
package enum GateError: Error, Hashable, Sendable, CustomStringConvertible, ExitStatusProviding {
    /// A command cannot be run, or ended before its first answer.
    case notStarted(side: GateSide.Role, command: String, reason: String)
    /// A subject cannot measure, or its description violates the protocol.
    case cannotMeasure(side: GateSide.Role, command: String, reason: String)
    /// An error of this machine, not of a subject.
    case io(DecryptionError)
    /// A file does not contain stored ratios.
    case badFile(String)
    /// Other cores should be busy, but there are none.
    case noOtherCore
    /// The user stopped the gate.
    case interrupted

    /// The failure with its value and the expected value.
    package var description: String {
        switch self {
        case .notStarted(let side, let command, let reason):
            "\(side.rawValue) \"\(command)\" did not start: \(reason): expected a command for /bin/sh"
        case .cannotMeasure(let side, let command, let reason):
            "\(side.rawValue) \"\(command)\" cannot be measured: \(reason)"
        case .io(let error): "\(error)"
        case .badFile(let reason): reason
        case .noOtherCore: "other cores cannot be kept busy: expected another core that a thread can be put on"
        case .interrupted: "stopped before the end: expected to run until there is a verdict"
        }
    }

    /// The exit status of a command that this error stops.
    package var exitStatus: ExitStatus {
        switch self {
        case .notStarted: .missingInput
        case .cannotMeasure, .interrupted: .noAnswer
        case .badFile: .badData
        case .noOtherCore: .usage
        case .io(let error): error.exitStatus == .usage ? .badData : error.exitStatus
        }
    }
}

/// The cells that a gate compares by default.
package enum DefaultCells {
    /// The `backend` of a cell in a gate, where each command has its own.
    package static let backend = "any"

    /// Returns a few short cells. With a fast AES, an iteration takes at most a millisecond, so that pairs are close in
    /// time. One cell reads from memory: 4 MiB per iteration, at ever new offsets of an object that no cache holds. A
    /// pass over the whole object would take tens of milliseconds, in which other work on the machine starts and stops.
    ///
    /// - Parameters:
    ///   - keyByteCount: The length of the keys.
    ///   - beyondCaches: The plaintext bytes of an object that is longer than the last-level cache.
    /// - Returns: The cells.
    package static func cells(keyByteCount: Int, beyondCaches: UInt64) -> [Cell] {
        func cell(
            _ strategy: String, chunk: UInt64? = nil, workload: String = "sequential", reads: Int? = nil,
            object: UInt64 = 4 << 20
        ) -> Cell {
            Cell(
                backend: backend, strategy: strategy, chunkByteCount: chunk, windowByteCount: 256 << 10,
                workload: workload, readCount: reads, keyByteCount: keyByteCount, objectByteCount: object)
        }
        let iv = Block(bigEndianValue: 0)
        let (chain, counter) = (Strategy.whole(.aesCBC, iv: iv).text, Strategy.whole(.aesCTR, iv: iv).text)
        let chunks = VectorSet.chunked(64 << 10, iv: iv, padding: .pkcs7).text
        return [
            cell(chain), cell(chunks, chunk: 64 << 10),
            cell(counter, workload: "random:1MiB", reads: 4, object: beyondCaches),
            cell(chain, workload: "random:4KiB", reads: 256),
            cell(chunks, chunk: 64 << 10, workload: "random:64KiB", reads: 64),
        ]
    }

    /// Returns one and a half times the last-level cache, rounded up to a multiple of 16 MiB: at least 64 MiB, and at
    /// most 512 MiB and an eighth of the memory.
    package static func beyondCaches(of host: RunHeader.Host) -> UInt64 {
        let unit: UInt64 = 16 << 20
        let wanted = ((host.cacheByteCounts.max() ?? 0) / 2 * 3 + unit - 1) / unit * unit
        return max(64 << 20, min(wanted, 512 << 20, host.memoryByteCount / 8 / unit * unit))
    }

    /// Returns cells for a gate: without the members that the commands decide, and without duplicates.
    package static func distinct(_ cells: [Cell]) -> [Cell] {
        var known: Set<String> = []
        return cells.map { cell in
            var cell = cell
            (cell.backend, cell.access, cell.threads, cell.label) = (backend, .block, 1, nil)
            // The command also decides whether it maps a file.
            if cell.source == ObjectKind.mmap.rawValue { cell.source = ObjectKind.file.rawValue }
            return cell
        }.filter { known.insert($0.gateName).inserted }
    }
}
