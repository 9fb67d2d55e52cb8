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
    /// Latencies of single reads.
    public var latency: LatencyRecord.Latency?
    /// From before the object is opened until its first byte is there.
    public var firstByte: LatencyRecord.Latency?
    /// How a film would play, for the replay of a player's trace.
    public var playback: LatencyRecord.Playback?
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

    mutating func note(_ time: TimeRecord) {
        rounds.append(time.nanoseconds)
        if let used = time.usage { usage = usage.map { $0 + used } ?? used }
        if time.isSteady == false { unsteadyRoundCount += 1 }
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
            "line \(line) of the result file is no result record: expected one JSON object a line, as a sweep writes them"
        }
    }
}
