package import ByteSources
package import RandomAccess
package import Results
import SubjectProtocol
package import Support

/// What a sweep measures.
package struct Plan: Sendable {
    /// The plan's text as it stands in the file, to be kept with the results.
    package var text: String
    /// What the order of the cells and the random reads are drawn from.
    package var seed: UInt64
    /// How long each round of a cell is timed at least, one iteration in any case.
    package var roundNanoseconds: UInt64
    /// The cells, each once, in the order of the plan.
    package var cells: [PlannedCell]
    /// The traces that cells replay, by their names.
    package var traces: [String: PlayerTrace]
    /// The strategies of the cells, by their texts.
    package var strategies: [String: Strategy] = [:]
    /// Why backends are left out that entries name beside others, by their names.
    package var missingBackends: [String: String] = [:]
    /// The rate at which a player plays what its trace asks for.
    package var bitsPerSecond = PlayerTrace.usualBitsPerSecond
    /// Until when rounds are added; `nil` for the rounds of the cells and no more.
    package var precision: Precision?

    /// How narrow the intervals of throughput are to become, and what that may take.
    package struct Precision: Hashable, Sendable {
        /// Half the width of a cell's 95 % interval, as a part of its throughput.
        package var halfWidth: Double
        /// The max rounds of a cell.
        package var maxRounds: Int
        /// How long the rounds that are added may take together, in nanoseconds.
        package var maxNanoseconds: UInt64

        package init(halfWidth: Double, maxRounds: Int, maxNanoseconds: UInt64) {
            self.halfWidth = halfWidth
            self.maxRounds = maxRounds
            self.maxNanoseconds = maxNanoseconds
        }
    }

    /// Creates a plan.
    package init(
        text: String, seed: UInt64, roundNanoseconds: UInt64, cells: [PlannedCell], traces: [String: PlayerTrace] = [:]
    ) {
        self.text = text
        self.seed = seed
        self.roundNanoseconds = roundNanoseconds
        self.cells = cells
        self.traces = traces
    }
}

/// A cell, and how often it is timed.
package struct PlannedCell: Hashable, Sendable {
    /// The configuration.
    package var cell: Cell
    /// The number of rounds, a fresh process each.
    package var rounds: Int
    /// The line of the plan that says how long the object is, counted from 1; `nil` without a plan.
    package var objectLine: Int?

    /// Creates a planned cell.
    package init(cell: Cell, rounds: Int, objectLine: Int? = nil) {
        self.cell = cell
        self.rounds = rounds
        self.objectLine = objectLine
    }
}

/// The object of a cell: one that is made, or one of the user's, which all cells of a plan are measured on.
package struct PlanObject: Sendable {
    /// The keys that a plan must not have where the object is the user's.
    static let keys = ["strategy", "parameters", "key-size", "object-size", "source"]

    let strategy: Strategy
    let keyByteCount: Int
    /// The plaintext's length in bytes.
    let byteCount: UInt64
    /// The source of its bytes.
    let source: ObjectKind
    /// The way in which subjects find it on a server of the user's.
    var remoteObject: RemoteObject?
}

extension PlanObject {
    /// Describes an object of the user's.
    ///
    /// - Parameters:
    ///   - object: The object.
    ///   - remoteObject: Where it is on a server; `nil` for a file.
    package init(_ object: MeasuredObject, at remoteObject: RemoteObject?) {
        self.init(
            strategy: object.strategy.unbound, keyByteCount: object.keyByteCount, byteCount: object.plaintextByteCount,
            source: remoteObject.map { $0.isSecure ? .https : .http } ?? .file, remoteObject: remoteObject)
    }
}

extension Strategy {
    /// The lengths of keys in bytes that an object which is made can have, the usual one first: of keys that are
    /// derived, the length that the strategy says.
    package var keyByteCounts: [Int] {
        if let input = format.derivedKeyInput, case .integer(let count)? = self[input.name] {
            return [Int(clamping: count)]
        }
        return format.usualKeyByteCounts
    }

    /// The expectation of a plaintext's length that an object which is made does not meet; `nil` if it can be made.
    package func expectation(ofPlaintext byteCount: UInt64) throws(DecryptionError) -> String? {
        let unit = geometry?.plaintextUnitByteCount ?? 1
        if byteCount % unit != 0 { return "a multiple of \(unit) bytes, since nothing is filled up in \(text)" }
        guard let maximum = try facts().maxPlaintextByteCount, byteCount > maximum else { return nil }
        return "at most \(maximum) bytes in \(text)"
    }
}

extension StrategyFacts {
    /// Works out what follows from a strategy.
    ///
    /// - Throws: As `Strategy.validate()`.
    package init(_ strategy: Strategy) throws(DecryptionError) {
        let facts = try strategy.facts()
        self.init(
            cipher: strategy.cipher.rawValue, source: strategy.format.source, isWhole: facts.isWhole,
            isPadded: strategy.padding == .pkcs7, hasOwnNonces: facts.hasOwnNonces, isFresh: facts.isFresh)
        (isTagged, isIndexBound) = (facts.isTagged, facts.isIndexBound)
        (isObjectBound, isEndBound) = (facts.isObjectBound, facts.isEndBound)
        hasPlaylist = strategy.name == PlaylistRequest.strategyName
    }
}

/// A workload as it is written on the command line and in plans.
package enum CellWorkload: Hashable, Sendable, CustomStringConvertible {
    /// The whole object, a window a read.
    case sequential
    /// Reads of this many bytes at random offsets.
    case random(rangeByteCount: UInt64)
    /// What a player asked for, by the trace's name.
    case trace(String)

    /// The reads of one iteration of a random workload, unless said otherwise.
    package static let defaultReadCount = 256

    /// What ``init(_:)`` expects, in words.
    package static let expectation =
        "sequential, random: and a size such as random:4KiB, or trace: and a name such as trace:avplayer"

    /// Reads `sequential`, `random:` and a size, or `trace:` and a name.
    ///
    /// - Returns: `nil` for anything else, and for sizes that no read may have.
    package init?(_ text: String) {
        if text == "sequential" {
            self = .sequential
            return
        }
        if text.hasPrefix("trace:") {
            let name = text.dropFirst("trace:".count)
            // A name becomes a part of a path.
            guard !name.isEmpty, name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }) else {
                return nil
            }
            self = .trace(String(name))
            return
        }
        guard text.hasPrefix("random:"), let size = ByteSize(String(text.dropFirst("random:".count))),
            size.byteCount > 0, size.byteCount <= Workload.largestRead
        else { return nil }
        self = .random(rangeByteCount: size.byteCount)
    }

    /// The text that ``init(_:)`` reads.
    package var description: String {
        switch self {
        case .sequential: "sequential"
        case .trace(let name): "trace:\(name)"
        case .random(let rangeByteCount): "random:\(ByteSize(rangeByteCount))"
        }
    }
}

/// What is wrong with a plan, and where.
package struct PlanError: Error, Hashable, Sendable, CustomStringConvertible, ExitStatusProviding {
    /// The file.
    package let file: String
    /// The line, counted from 1, or `nil` where it is not one line's fault.
    package let line: Int?
    /// What failed, the value, what was expected.
    package let message: String

    /// Creates an error.
    package init(file: String, line: Int?, message: String) {
        self.file = file
        self.line = line
        self.message = message
    }

    /// Where and what.
    package var description: String {
        line.map { "\(file):\($0): \(message)" } ?? "\(file): \(message)"
    }

    /// A plan is an input.
    package var exitStatus: ExitStatus { .badData }
}
