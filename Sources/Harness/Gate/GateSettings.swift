import ByteSources
package import Measurement
package import RandomAccess
package import Results
internal import SubjectProtocol
package import Support
internal import Vectors

/// What a gate compares, and how thoroughly.
package struct GateSettings: Sendable {
    /// The command line of the baseline, for `/bin/sh -c`; it speaks the subject protocol.
    package var baseline: String
    /// The command line of the candidate.
    package var candidate: String
    /// The cells, or `nil` for a few that both sides can do; their backend, access and threads mean nothing here.
    package var cells: [Cell]?
    /// The traces that cells replay, by their names.
    package var traces: [String: PlayerTrace] = [:]
    /// How much slower the candidate may be: 0.02 for 2 %.
    package var tolerance = 0.02
    /// How often all intervals of a phase together hold the truth, at least.
    package var confidence = 0.95
    /// How long a cell may be measured in each phase, in seconds; its control is not counted.
    package var secondsPerCell = 10.0
    /// What all orders, and the random reads, are drawn from; below 2⁵³.
    package var seed: UInt64
    /// How long each answer of a subject may take.
    package var timeout: Duration = .seconds(60)
    /// How much more memory the candidate may take; `nil` if it is not asked for.
    package var memoryLimit: MemoryLimit?
    /// How much more the candidate may do, by counts that repeat: 0.001 for 0.1 %; `nil` if nothing is counted.
    package var countLimit: Double?
    /// The builds of each side, whose commands have `{build}` in the place of a number from 1 on; `nil` for one.
    package var buildCount: Int?
    /// Ratios that were recorded earlier, with which those of this run are compared; `baseline` is then the reference.
    package var stored: StoredRatios?
    /// Whether cells are measured for all of their seconds, for figures and not for a decision.
    package var isRecording = false

    /// The strategies of the cells, by their texts, as far as the texts do not say all.
    package var strategies: [String: Strategy] = [:]

    /// Creates settings.
    package init(baseline: String, candidate: String, cells: [Cell]? = nil, seed: UInt64) {
        self.baseline = baseline
        self.candidate = candidate
        self.cells = cells
        self.seed = seed
    }

    /// The error that each end of all intervals together may have, in the blocks of this run: where stored ratios are
    /// compared with, those may have as much.
    var alpha: Double { (1 - confidence) / (stored == nil ? 2 : 4) }

    /// The rule that the tolerance makes.
    package var rule: GateRule { GateRule(tolerance: tolerance) }
}

/// Why a gate has no result at all.
package enum GateError: Error, Hashable, Sendable, CustomStringConvertible, ExitStatusProviding {
    /// A command is none, or ended before it said anything.
    case notStarted(side: GateSide.Role, command: String, reason: String)
    /// A subject cannot measure, or what it says of itself is not the protocol's.
    case cannotMeasure(side: GateSide.Role, command: String, reason: String)
    /// Something failed on this machine, and not in a subject.
    case io(DecryptionError)
    /// A file of stored ratios is none.
    case badFile(String)
    /// Other cores are to be busy, and there is none.
    case noOtherCore
    /// The user stopped it.
    case interrupted

    /// What failed, the value, what was expected.
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

    /// What a command ends with that this error stops.
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

/// The cells that a gate compares unless said otherwise.
package enum DefaultCells {
    /// What `backend` says in a cell of a gate, whose commands bring their own.
    package static let backend = "any"

    /// A few short cells: an iteration takes a millisecond at most with a fast AES, so that pairs lie close in time.
    /// One reads from memory: 4 MiB an iteration, in places that go on and on in an object that no cache holds. A whole
    /// pass over such an object would take tens of milliseconds, in which neighbours of the machine come and go.
    ///
    /// - Parameters:
    ///   - keyByteCount: The length of their keys.
    ///   - beyondCaches: The plaintext bytes of an object that is longer than the last cache.
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

    /// One and a half of the last cache, to the next multiple of 16 MiB: at least 64 MiB, and at most 512 MiB and an
    /// eighth of the memory.
    package static func beyondCaches(of host: RunHeader.Host) -> UInt64 {
        let unit: UInt64 = 16 << 20
        let wanted = ((host.cacheByteCounts.max() ?? 0) / 2 * 3 + unit - 1) / unit * unit
        return max(64 << 20, min(wanted, 512 << 20, host.memoryByteCount / 8 / unit * unit))
    }

    /// Cells as a gate takes them: without what the commands decide, and each once.
    package static func distinct(_ cells: [Cell]) -> [Cell] {
        var known: Set<String> = []
        return cells.map { cell in
            var cell = cell
            (cell.backend, cell.access, cell.threads, cell.label) = (backend, "block", 1, nil)
            // Whether a file is mapped is the command's affair too.
            if cell.source == ObjectKind.mmap.rawValue { cell.source = ObjectKind.file.rawValue }
            return cell
        }.filter { known.insert($0.gateName).inserted }
    }
}
