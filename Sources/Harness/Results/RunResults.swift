import Support

/// The content of a result file, from which all reports are computed.
public struct RunResults: Codable, Hashable, Sendable {
    /// The facts of the whole run.
    public var header: RunHeader
    /// The subjects' results in the vectors, in the order of the file.
    public var conformance: [ConformanceRecord]
    /// The results of the vectors' own test; `nil` if it was not part of the run.
    public var mutants: MutantsRecord?
    /// The cells, in the order in which the file first names them.
    public var cells: [CellResult]
    /// True if the run came to its end.
    public var isComplete: Bool
    /// The records that are in the file and are not reported.
    public var omitted = OmittedRecords()

    /// Results with nothing left out.
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

    /// Collects the records of one file, in order.
    ///
    /// A cell without a check, or one that failed, has no speed.
    /// - Throws: `ResultsError.missingHeader` if the first record is not a header, `.unknownSchema` if it has another
    ///   schema, `.secondHeader` if records of another run follow.
    public init(records: [ResultRecord]) throws(ResultsError) {
        var builder = RunResultsBuilder()
        for (index, record) in records.enumerated() { try builder.add(record, line: index + 1) }
        self = try builder.results()
    }

    /// The parts of a file that are not reported.
    public struct OmittedRecords: Codable, Hashable, Sendable {
        /// The bytes of a last record that was cut off.
        public var cutByteCount = 0
        /// The number of records of cells that no earlier check or failure names.
        public var orphanRecordCount = 0
        /// The number of records that repeat an earlier one.
        public var repeatedRecordCount = 0

        package init() {}
    }
}

/// All records of one cell.
public struct CellResult: Codable, Hashable, Sendable {
    /// The configuration.
    public var cell: Cell
    /// The untimed check; reports leave out the members below without it.
    public var check: CheckRecord?
    /// Timed iterations in nanoseconds, one list a round (a fresh process each).
    public var rounds: [[UInt64]] = []
    /// Latencies of single reads, one record a process.
    public var latencies: [LatencyRecord] = []
    /// The usage of all timed iterations together; `nil` if unknown.
    public var usage: ProcessUsage?
    /// The max number of bytes of a cold file that the kernel kept in memory before an iteration.
    public var residentByteCount: UInt64?
    /// The memory figures, one record a process.
    public var memories: [MemoryRecord] = []
    /// The reason for a cell without figures; `nil` if the cell did not fail.
    public var failure: String?

    /// A result without figures.
    public init(cell: Cell) {
        self.cell = cell
    }

    mutating func note(_ time: TimeRecord) {
        rounds.append(time.nanoseconds)
        if let used = time.usage { usage = usage.map { $0 + used } ?? used }
        if let kept = time.residentByteCount { residentByteCount = max(residentByteCount ?? 0, kept) }
    }

    /// The plaintext bytes that one iteration delivers; 0 without a check.
    public var deliveredByteCount: UInt64 { check?.deliveredByteCount ?? 0 }
}

/// The reasons why a result file cannot be read.
public enum ResultsError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The first record is not a header.
    case missingHeader
    /// The header has another schema.
    case unknownSchema(String)
    /// A line of the file, counted from 1, is not a record.
    case damagedLine(Int)
    /// A line of the file is the header of another run.
    case secondHeader(line: Int, difference: String)

    /// The message: what failed, the value, and what was expected.
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

extension ResultsError: ExitStatusProviding {}

/// Collects the records of one result file, in order.
///
/// Not every record counts. A round that is there twice counts once. A record of a cell that no earlier check or
/// failure names does not count. The builder keeps the number of both.
struct RunResultsBuilder {
    private(set) var header: RunHeader?
    private var conformance: [ConformanceRecord] = []
    private var mutants: MutantsRecord?
    private var cells: [CellResult] = []
    private var indices: [String: Int] = [:]
    private var seen: Set<SeenProcess> = []
    private var isComplete = false
    private var omitted = RunResults.OmittedRecords()
    /// The identifiers and digests of all records, so that those that are the same take memory once.
    private var texts: Set<String> = []

    init() {}

    /// A builder for another host of a merged file, whose cells and plaintexts are mostly the same.
    init(after earlier: RunResultsBuilder) {
        texts = earlier.texts
    }

    private mutating func shared(_ text: String) -> String { texts.insert(text).memberAfterInsert }

    /// A process whose record was read before.
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
    /// - Throws: `ResultsError.missingHeader` if the first record is not a header, `.unknownSchema` if it has another
    ///   schema, `.secondHeader` if the record is a header that contradicts the first one.
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
            if conformance.contains(outcome) { omitted.repeatedRecordCount += 1 } else { conformance.append(outcome) }
        case .mutants(let outcome): mutants = outcome
        case .check(let check): note(check)
        case .failure(let failure):
            let index = index(of: failure.cell)
            cells[index].failure = cells[index].failure ?? failure.reason
        case .time(let time): note(.time, time.cellID, round: time.round) { $0.note(time) }
        case .latency(var latency):
            latency.cellID = shared(latency.cellID)
            note(.latencies, latency.cellID, round: latency.round ?? 0) { $0.latencies.append(latency) }
        case .memory(var memory):
            memory.cellID = shared(memory.cellID)
            note(.memory, memory.cellID, round: memory.round ?? 0) { $0.memories.append(memory) }
        case .end: isComplete = true
        case .seal: break
        }
    }

    /// Ends the file.
    ///
    /// - Parameter cutByteCount: The bytes of a last record that is incomplete.
    /// - Returns: The collected results.
    /// - Throws: `ResultsError.missingHeader` if there was no header.
    func results(cutByteCount: Int = 0) throws(ResultsError) -> RunResults {
        guard let header else { throw .missingHeader }
        var results = RunResults(
            header: header, conformance: conformance, mutants: mutants, cells: cells, isComplete: isComplete)
        results.omitted = omitted
        results.omitted.cutByteCount = cutByteCount
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
        var check = check
        check.digest = shared(check.digest)
        let index = index(of: check.cell)
        guard let earlier = cells[index].check else {
            cells[index].check = check
            return
        }
        // Shards that share a cell each check it, and each write a record.
        if header?.merge == nil { omitted.repeatedRecordCount += 1 }
        // It is unknown by now which of the two plaintexts was right.
        if earlier.digest != check.digest, cells[index].failure == nil {
            cells[index].failure =
                "checked twice with two digests, \(earlier.digest) and \(check.digest): expected one"
        }
    }

    private mutating func note(
        _ pass: SeenProcess.Pass, _ cellID: String, round: Int, _ change: (inout CellResult) -> Void
    ) {
        guard let index = indices[cellID] else {
            omitted.orphanRecordCount += 1
            return
        }
        if seen.insert(SeenProcess(pass: pass, cell: index, round: round)).inserted {
            change(&cells[index])
        } else {
            omitted.repeatedRecordCount += 1
        }
    }
}

extension RunHeader {
    /// Returns the first difference that makes a header one of another run; `nil` if it says the same as the first
    /// header.
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
