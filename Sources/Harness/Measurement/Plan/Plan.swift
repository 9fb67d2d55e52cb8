package import ByteSources
package import RandomAccess
package import Results
import SubjectProtocol
import Support

/// A plan: the cells and settings of a sweep.
package struct Plan: Sendable {
    /// The text of the plan's file, to store with the results.
    package var text: String
    /// The seed of the order of cells and of random reads.
    package var seed: UInt64
    /// The minimum time of a round of a cell. A round has at least one iteration.
    package var roundNanoseconds: UInt64
    /// The cells, each once, in the order of the plan.
    package var cells: [PlannedCell]
    /// The traces that cells replay, by name.
    package var traces: [String: PlayerTrace]
    /// The strategies of the cells, by their texts.
    package var strategies: [String: Strategy] = [:]
    /// The reasons for which backends are left out, by backend name, if their entries name other backends too.
    package var missingBackends: [String: String] = [:]
    /// The bit rate at which a player plays a trace.
    package var bitsPerSecond = PlayerTrace.usualBitsPerSecond
    /// The precision until which rounds are added; `nil` to add none.
    package var precision: Precision?

    /// The wanted width of the intervals of throughput, with limits for the rounds that it may add.
    package struct Precision: Hashable, Sendable {
        /// Half the width of a cell's 95 % interval, as a share of its throughput.
        package var halfWidth: Double
        /// The maximum number of rounds of a cell.
        package var maxRounds: Int
        /// The maximum total time of added rounds, in nanoseconds.
        package var maxNanoseconds: UInt64

        package init(halfWidth: Double, maxRounds: Int, maxNanoseconds: UInt64) {
            self.halfWidth = halfWidth
            self.maxRounds = maxRounds
            self.maxNanoseconds = maxNanoseconds
        }
    }

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

/// A cell with its number of rounds.
package struct PlannedCell: Hashable, Sendable {
    /// The configuration.
    package var cell: Cell
    /// The number of rounds. Each is a fresh process.
    package var rounds: Int
    /// The line of the plan with the object's length, counted from 1; `nil` without a plan.
    package var objectLine: Int?

    package init(cell: Cell, rounds: Int, objectLine: Int? = nil) {
        self.cell = cell
        self.rounds = rounds
        self.objectLine = objectLine
    }
}

/// The object of a cell: a generated one, or the user's own, which all cells of a plan share.
package struct PlanObject: Sendable {
    /// The keys that a plan must not have if the object is the user's own.
    static let keys = ["strategy", "parameters", "key-size", "object-size", "source"]

    let strategy: Strategy
    let keyByteCount: Int
    /// The plaintext's length in bytes.
    let byteCount: UInt64
    /// The source of its bytes.
    let source: ObjectKind
    /// The object on the user's server; `nil` for others.
    var remoteObject: RemoteObject?
}

extension PlanObject {
    /// A user's own object.
    ///
    /// - Parameters:
    ///   - object: The object.
    ///   - remoteObject: The object on a server; `nil` for a file.
    package init(_ object: MeasuredObject, at remoteObject: RemoteObject?) {
        self.init(
            strategy: object.strategy.unbound, keyByteCount: object.keyByteCount, byteCount: object.plaintextByteCount,
            source: remoteObject.map { $0.isSecure ? .https : .http } ?? .file, remoteObject: remoteObject)
    }
}

extension Strategy {
    /// The possible key lengths of a generated object in bytes, the usual one first. For a derived key, this is the
    /// length that the strategy determines.
    package var keyByteCounts: [Int] {
        if let input = format.derivedKeyInput, case .integer(let count)? = self[input.name] {
            return [Int(clamping: count)]
        }
        return format.usualKeyByteCounts
    }

    /// The expectation that a plaintext length of a generated object does not meet; `nil` if the length is possible.
    package func expectation(ofPlaintext byteCount: UInt64) throws(DecryptionError) -> String? {
        let unit = geometry?.plaintextUnitByteCount ?? 1
        if byteCount % unit != 0 { return "a multiple of \(unit) bytes, since nothing is filled up in \(text)" }
        guard let maximum = try facts().maxPlaintextByteCount, byteCount > maximum else { return nil }
        return "at most \(maximum) bytes in \(text)"
    }
}

extension StrategyFacts {
    /// Computes the facts of a strategy.
    ///
    /// - Throws: The errors of `Strategy.validate()`.
    package init(_ strategy: Strategy) throws(DecryptionError) {
        let facts = try strategy.facts()
        self.init(
            cipher: strategy.cipher.rawValue, source: strategy.format.source, isWhole: facts.isWhole,
            isPadded: strategy.padding == .pkcs7, hasOwnNonces: facts.hasOwnNonces, isFresh: facts.isFresh)
        (isTagged, isIndexBound) = (facts.isTagged, facts.isIndexBound)
        (isObjectBound, isEndBound) = (facts.isObjectBound, facts.isEndBound)
        hasPlaylist = strategy.name == PlaylistRequest.strategyName
        let gibibyte: UInt64 = 1 << 30
        let stored =
            try strategy.expectation(ofPlaintext: gibibyte) == nil
            ? strategy.geometry?.ciphertextByteCount(ofPlaintext: gibibyte) : nil
        lengths = Lengths(
            addedPerGiB: stored.map { max($0, gibibyte) - gibibyte },
            maxByteCount: facts.maxPlaintextByteCount.flatMap { $0 < 1 << 62 ? $0 : nil },
            rewrittenByteCount: strategy.cipher == .aesCTR ? nil : strategy.chunkByteCount)
    }
}

/// An error in a plan, with its place.
package struct PlanError: Error, Hashable, Sendable, CustomStringConvertible, ExitStatusProviding {
    /// The file.
    package let file: String
    /// The line, counted from 1; `nil` if the error is not in a single line.
    package let line: Int?
    /// The message: what failed, the value, what was expected.
    package let message: String

    package init(file: String, line: Int?, message: String) {
        self.file = file
        self.line = line
        self.message = message
    }

    init(file: String, _ error: DescriptionError) {
        self.init(file: file, line: error.place.line, message: error.message)
    }

    /// The place and the message.
    package var description: String {
        line.map { "\(file):\($0): \(message)" } ?? "\(file): \(message)"
    }
}
