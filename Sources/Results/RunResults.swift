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
    ///   schema.
    public init(records: [ResultRecord]) throws(ResultsError) {
        guard case .header(let header)? = records.first else { throw .missingHeader }
        guard header.schema == RunHeader.currentSchema else { throw .unknownSchema(header.schema) }
        var conformance: [ConformanceRecord] = []
        var mutants: MutantsRecord?
        var cells: [CellResult] = []
        var indices: [String: Int] = [:]
        var isComplete = false

        func index(of cell: Cell) -> Int {
            if let known = indices[cell.id] { return known }
            indices[cell.id] = cells.count
            cells.append(CellResult(cell: cell))
            return cells.count - 1
        }
        for record in records.dropFirst() {
            switch record {
            case .header: break
            case .conformance(let outcome): conformance.append(outcome)
            case .mutants(let outcome): mutants = outcome
            case .check(let check): cells[index(of: check.cell)].check = check
            case .failure(let failure): cells[index(of: failure.cell)].failure = failure.reason
            case .time(let time):
                if let index = indices[time.cellID] { cells[index].note(time) }
            case .latency(let latency):
                if let index = indices[latency.cellID] { cells[index].note(latency) }
            case .memory(let memory):
                if let index = indices[memory.cellID] { cells[index].memory = memory.memory }
            case .end: isComplete = true
            }
        }
        self.init(
            header: header, conformance: conformance, mutants: mutants, cells: cells, isComplete: isComplete)
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
    /// Latencies of single reads.
    public var latency: LatencyRecord.Latency?
    /// From before the object is opened until its first byte is there.
    public var firstByte: LatencyRecord.Latency?
    /// What the timed iterations used together; `nil` where nobody tells.
    public var usage: ProcessUsage?
    /// The rounds whose warm-up did not come to be steady.
    public var unsteadyRoundCount = 0
    /// The most bytes of a cold file that the kernel kept in memory before an iteration.
    public var residentByteCount: UInt64?
    /// Peak memory.
    public var memory: MemoryRecord.Memory?
    /// Why the cell has no figures, or `nil` if it did not fail.
    public var failure: String?

    /// Creates a result without figures.
    public init(cell: Cell) {
        self.cell = cell
    }

    fileprivate mutating func note(_ time: TimeRecord) {
        rounds.append(time.nanoseconds)
        if let used = time.usage { usage = usage.map { $0 + used } ?? used }
        if time.isSteady == false { unsteadyRoundCount += 1 }
        if let kept = time.residentByteCount { residentByteCount = max(residentByteCount ?? 0, kept) }
    }

    fileprivate mutating func note(_ record: LatencyRecord) {
        latency = record.latency
        firstByte = record.firstByte
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

    /// What failed, the value, what was expected.
    public var description: String {
        switch self {
        case .missingHeader:
            "no header in the result file: expected the first line to be a header of schema \(RunHeader.currentSchema)"
        case .unknownSchema(let schema):
            "unknown result schema \"\(schema)\": expected \(RunHeader.currentSchema)"
        case .damagedLine(let line):
            "line \(line) of the result file is no result record: expected one JSON object a line, as a sweep writes them"
        }
    }
}
