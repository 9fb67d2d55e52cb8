package import ByteSources
package import RandomAccess
package import Results
package import SubjectProtocol
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

/// An object of the user's that all cells of a plan are measured on: it has what they would otherwise ask for.
package struct PlanObject: Sendable {
    /// What a plan must not ask for then.
    static let keys = ["strategy"] + parameterKeys + ["key-size", "object-size", "source"]

    /// What a plan says of a strategy's parameters; the IV is always the same.
    static let parameterKeys = StrategyParameters.Parameter.allCases.filter { $0 != .iv }.map(\.textName)

    let strategy: Strategy
    let keyByteCount: Int
    let byteCount: UInt64
    let remoteObject: RemoteObject?

    /// Describes an object.
    ///
    /// - Parameters:
    ///   - object: The object.
    ///   - remoteObject: Where it is on a server; `nil` for a file.
    package init(_ object: MeasuredObject, at remoteObject: RemoteObject?) {
        strategy = object.strategy
        keyByteCount = object.keyByteCount
        byteCount = object.plaintextByteCount
        self.remoteObject = remoteObject
    }

    /// Where its bytes come from.
    var kind: ObjectKind { remoteObject.map { $0.isSecure ? .https : .http } ?? .file }
}

/// The object of a cell.
struct PlannedObject {
    let strategy: String
    let parameters: StrategyParameters
    let keyByteCount: Int
    /// The plaintext's length in bytes.
    let byteCount: UInt64
    let source: ObjectKind
}

extension PlannedObject {
    /// An object of the user's.
    init(_ object: PlanObject) {
        strategy = object.strategy.name
        parameters = StrategyParameters(measured: object.strategy)
        keyByteCount = object.keyByteCount
        byteCount = object.byteCount
        source = object.kind
    }
}

extension StrategyParameters {
    /// The parameters of an object of the user's, as cells keep them: what it is bound to is the user's own business.
    package init(measured strategy: Strategy) {
        self.init(strategy)
        if context != nil { context = [] }
        if associatedData != nil { associatedData = [] }
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
