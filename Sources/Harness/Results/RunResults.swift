package import Support

/// A result file as a whole: what every report is computed from.
public struct RunResults: Codable, Hashable, Sendable {
    /// What is true of the whole run.
    public var header: RunHeader
    /// The subjects' outcomes in the vectors, in the order of the file.
    public var conformance: [ConformanceRecord]
    /// How the vectors did in their own test, or `nil` if that was not part of the run.
    public var mutants: MutantsRecord?
    /// The cells, in the order in which the file first names them.
    public var cells: [CellResult]
    /// Whether the run came to its end.
    public var isComplete: Bool
    /// What stands in the file and is not reported.
    public var leftOut = LeftOut()

    /// Creates results.
    public init(
        header: RunHeader, conformance: [ConformanceRecord], mutants: MutantsRecord? = nil, cells: [CellResult],
        isComplete: Bool
    ) {
        self.header = header
        self.conformance = conformance
        self.mutants = mutants
        self.cells = cells
        self.isComplete = isComplete
    }

    /// Gathers the records of one file, in their order.
    ///
    /// Records of a cell whose check is missing, or that failed, give no speed.
    /// - Throws: `ResultsError.missingHeader` if the first record is not a header, `.unknownSchema` if it is of another
    ///   schema, `.secondHeader` if another run's records follow.
    public init(records: [ResultRecord]) throws(ResultsError) {
        var builder = RunResultsBuilder()
        for (index, record) in records.enumerated() { try builder.add(record, line: index + 1) }
        self = try builder.results()
    }

    /// What stands in a file and is not reported.
    public struct LeftOut: Codable, Hashable, Sendable {
        /// The bytes of a last record that was cut short.
        public var cutByteCount = 0
        /// Records of cells that no check announced.
        public var orphanRecordCount = 0
        /// Records of what an earlier one had said already.
        public var repeatedRecordCount = 0

        /// Creates nothing left out.
        public init() {}
    }
}

/// Everything that is known of one cell.
public struct CellResult: Codable, Hashable, Sendable {
    /// The configuration.
    public var cell: Cell
    /// The untimed check; without it nothing below is reported.
    public var check: CheckRecord?
    /// Timed iterations in nanoseconds, one list a round (a fresh process each).
    public var rounds: [[UInt64]] = []
    /// Latencies of single reads, one record a process.
    public var latencies: [LatencyRecord] = []
    /// What the timed iterations used together; `nil` where it is not known.
    public var usage: ProcessUsage?
    /// The max number of bytes of a cold file that the kernel kept in memory before an iteration.
    public var residentByteCount: UInt64?
    /// Peak memory, one record a process.
    public var memories: [MemoryRecord] = []
    /// Why the cell has no figures, or `nil` if it did not fail.
    public var failure: String?

    /// Creates a result without figures.
    public init(cell: Cell) {
        self.cell = cell
    }

    mutating func note(_ time: TimeRecord) {
        rounds.append(time.nanoseconds)
        if let used = time.usage { usage = usage.map { $0 + used } ?? used }
        if let kept = time.residentByteCount { residentByteCount = max(residentByteCount ?? 0, kept) }
    }

    /// The plaintext bytes that one iteration delivers; 0 where the check is missing.
    public var deliveredByteCount: UInt64 { check?.deliveredByteCount ?? 0 }
}

/// Why a result file could not be understood.
public enum ResultsError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The first record is not a header.
    case missingHeader
    /// The header names another schema.
    case unknownSchema(String)
    /// A line of the file, counted from 1, is no record.
    case damagedLine(Int)
    /// A line of the file is the header of another run.
    case secondHeader(line: Int, difference: String)

    /// What failed, the value, what was expected.
    public var description: String {
        switch self {
        case .missingHeader:
            "no header in the result file: expected the first line to be a header of schema \(RunHeader.currentSchema)"
        case .unknownSchema(let schema):
            "unknown result schema \"\(schema)\": expected \(RunHeader.currentSchema)"
        case .secondHeader(let line, let difference):
            "line \(line) of the result file is a second header that contradicts the first (\(difference)): expected "
                + "the records of one run on one host"
        case .damagedLine(let line):
            "line \(line) of the result file is no result record: expected one JSON object a line, as a sweep writes "
                + "them"
        }
    }
}

extension ResultsError: ExitStatusProviding {
    /// A result file is an input.
    package var exitStatus: ExitStatus { .badData }
}

/// Gathers the records of one result file, in their order.
///
/// Nothing that stands in a file is added up blindly: a round that is there twice counts once, a record of a cell that no
/// check announced counts for nothing, and both are counted.
struct RunResultsBuilder {
    private(set) var header: RunHeader?
    private var conformance: [ConformanceRecord] = []
    private var mutants: MutantsRecord?
    private var cells: [CellResult] = []
    private var indices: [String: Int] = [:]
    private var seen: Set<SeenProcess> = []
    private var isComplete = false
    private var leftOut = RunResults.LeftOut()

    /// A process whose record was read already.
    private struct SeenProcess: Hashable {
        enum Pass: Hashable {
            case memory
            case latencies
            case time
        }

        var pass: Pass
        var cell: Int
        var round: Int
    }

    /// Adds a record.
    ///
    /// - Parameters:
    ///   - record: The record.
    ///   - line: The number of its line, for errors.
    /// - Throws: `ResultsError.missingHeader` if the first record is not a header, `.unknownSchema` if it is of another
    ///   schema, `.secondHeader` if one comes that says otherwise.
    mutating func add(_ record: ResultRecord, line: Int) throws(ResultsError) {
        guard let header else {
            guard case .header(let first) = record else { throw .missingHeader }
            guard first.schema == RunHeader.currentSchema else { throw .unknownSchema(first.schema) }
            header = first
            return
        }
        switch record {
        case .header(let other):
            if let difference = other.difference(from: header) {
                throw .secondHeader(line: line, difference: difference)
            }
        case .conformance(let outcome):
            if conformance.contains(outcome) { leftOut.repeatedRecordCount += 1 } else { conformance.append(outcome) }
        case .mutants(let outcome): mutants = outcome
        case .check(let check): note(check)
        case .failure(let failure):
            let index = index(of: failure.cell)
            cells[index].failure = cells[index].failure ?? failure.reason
        case .time(let time): note(.time, time.cellID, round: time.round) { $0.note(time) }
        case .latency(let latency):
            note(.latencies, latency.cellID, round: latency.round ?? 0) { $0.latencies.append(latency) }
        case .memory(let memory):
            note(.memory, memory.cellID, round: memory.round ?? 0) { $0.memories.append(memory) }
        case .end: isComplete = true
        case .seal: break
        }
    }

    /// Ends the file.
    ///
    /// - Parameter cutByteCount: The bytes of a last record that is not whole.
    /// - Returns: What was gathered.
    /// - Throws: `ResultsError.missingHeader` if there was not even a header.
    func results(cutByteCount: Int = 0) throws(ResultsError) -> RunResults {
        guard let header else { throw .missingHeader }
        var results = RunResults(
            header: header, conformance: conformance, mutants: mutants, cells: cells, isComplete: isComplete)
        results.leftOut = leftOut
        results.leftOut.cutByteCount = cutByteCount
        return results
    }

    private mutating func index(of cell: Cell) -> Int {
        let id = cell.id
        if let known = indices[id] { return known }
        indices[id] = cells.count
        cells.append(CellResult(cell: cell))
        return cells.count - 1
    }

    private mutating func note(_ check: CheckRecord) {
        let index = index(of: check.cell)
        guard let earlier = cells[index].check else {
            cells[index].check = check
            return
        }
        // Shards that share a cell check it each, and say so each.
        if header?.merge == nil { leftOut.repeatedRecordCount += 1 }
        // Which of two plaintexts was the right one, cannot be told any more.
        if earlier.digest != check.digest, cells[index].failure == nil {
            cells[index].failure =
                "checked twice with two digests, \(earlier.digest) and \(check.digest): expected one"
        }
    }

    private mutating func note(
        _ pass: SeenProcess.Pass, _ cellID: String, round: Int, _ change: (inout CellResult) -> Void
    ) {
        guard let index = indices[cellID] else {
            leftOut.orphanRecordCount += 1
            return
        }
        if seen.insert(SeenProcess(pass: pass, cell: index, round: round)).inserted {
            change(&cells[index])
        } else {
            leftOut.repeatedRecordCount += 1
        }
    }
}

extension RunHeader {
    /// What makes another header in the same file that of another run, or `nil` if it says the same.
    fileprivate func difference(from first: RunHeader) -> String? {
        guard self != first else { return nil }
        let texts: [(String, String, String)] = [
            ("schema", schema, first.schema), ("host", host.name, first.host.name),
            ("CPU", host.cpuModel, first.host.cpuModel), ("program version", programVersion, first.programVersion),
            ("program digest", programDigest ?? "none", first.programDigest ?? "none"),
            ("input", input ?? "none", first.input ?? "none"),
            ("start", startedAt, first.startedAt), ("seed", "\(seed)", "\(first.seed)"),
        ]
        if let text = texts.first(where: { $0.1 != $0.2 }) { return "\(text.0) \"\(text.1)\" after \"\(text.2)\"" }
        if host != first.host { return "another description of host \"\(host.name)\"" }
        return backends == first.backends ? "another plan, command or limits" : "other backends"
    }
}
