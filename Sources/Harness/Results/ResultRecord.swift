import FoundationEssentials
import Support

/// One line of a result file.
///
/// A result file is JSON Lines: the header first, then whatever was found, in the order in which it was found. A line
/// is appended as soon as it is known, so that a run that is killed loses what it was doing and nothing else.
public enum ResultRecord: Hashable, Sendable {
    /// What is true of the whole run.
    case header(RunHeader)
    /// One subject's outcome in the vectors.
    case conformance(ConformanceRecord)
    /// How the vectors did in their own test.
    case mutants(MutantsRecord)
    /// A cell's plaintext was right.
    case check(CheckRecord)
    /// One round of timings.
    case time(TimeRecord)
    /// Latencies of single reads.
    case latency(LatencyRecord)
    /// Peak memory.
    case memory(MemoryRecord)
    /// A cell failed; nothing else of it counts.
    case failure(FailureRecord)
    /// The run came to its end; a file without this record was broken off.
    case end
    /// A shard's file is whole; nothing follows.
    case seal(SealRecord)
}

extension ResultRecord: Codable {
    /// The one member of a line's object, which says what the line is.
    private enum Key: String, CodingKey, CaseIterable {
        case header
        case conformance
        case mutants
        case check
        case time
        case latency
        case memory
        case failure
        case end
        case seal
    }

    /// Reads a record: an object with one member, named after what it is.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        guard let key = members.allKeys.first, members.allKeys.count == 1 else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "expected an object with one known member"))
        }
        switch key {
        case .header: self = .header(try members.decode(RunHeader.self, forKey: key))
        case .conformance: self = .conformance(try members.decode(ConformanceRecord.self, forKey: key))
        case .mutants: self = .mutants(try members.decode(MutantsRecord.self, forKey: key))
        case .check: self = .check(try members.decode(CheckRecord.self, forKey: key))
        case .time: self = .time(try members.decode(TimeRecord.self, forKey: key))
        case .latency: self = .latency(try members.decode(LatencyRecord.self, forKey: key))
        case .memory: self = .memory(try members.decode(MemoryRecord.self, forKey: key))
        case .failure: self = .failure(try members.decode(FailureRecord.self, forKey: key))
        case .end: self = .end
        case .seal: self = .seal(try members.decode(SealRecord.self, forKey: key))
        }
        guard isPlausible else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "expected numbers that a run can give"))
        }
    }

    /// Writes a record.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Key.self)
        switch self {
        case .header(let header): try members.encode(header, forKey: .header)
        case .conformance(let outcome): try members.encode(outcome, forKey: .conformance)
        case .mutants(let outcome): try members.encode(outcome, forKey: .mutants)
        case .check(let check): try members.encode(check, forKey: .check)
        case .time(let time): try members.encode(time, forKey: .time)
        case .latency(let latency): try members.encode(latency, forKey: .latency)
        case .memory(let memory): try members.encode(memory, forKey: .memory)
        case .failure(let failure): try members.encode(failure, forKey: .failure)
        case .end: try members.encode([String: String](), forKey: .end)
        case .seal(let seal): try members.encode(seal, forKey: .seal)
        }
    }

    /// How many vectors an outcome can count: a file of outcomes can be added up.
    private static let counts = 0...1 << 40
    /// How many rounds a cell can have.
    private static let rounds = 0..<1 << 32

    /// Whether arithmetic on the record's numbers stays in bounds: files come from anywhere.
    var isPlausible: Bool {
        guard Self.isBounded(self) else { return false }
        return switch self {
        case .header(let header):
            [header.limits?.oneThread, header.limits?.allThreads].compactMap { $0?.aesDecrypt }.joined()
                .allSatisfy { [16, 24, 32].contains($0.keyByteCount) }
        case .end, .seal: true
        case .conformance(let outcome):
            ([outcome.passed, outcome.failed, outcome.unsupported, outcome.notRun]
                + (outcome.flags ?? []).flatMap { [$0.passed, $0.failed, $0.unsupported, $0.notRun] })
                .allSatisfy { Self.counts.contains($0) }
        case .mutants(let outcome):
            outcome.controls.flatMap { [$0.passed, $0.failed] }.allSatisfy { Self.counts.contains($0) }
        case .check(let check): check.cell.isPlausible
        case .failure(let failure): failure.cell.isPlausible
        case .time(let time): Self.rounds.contains(time.round)
        case .latency(let latency):
            Self.rounds.contains(latency.round ?? 0) && latency.playback?.bitsPerSecond ?? 1 > 0
        case .memory(let memory): Self.rounds.contains(memory.round ?? 0)
        }
    }

    /// Tells if each whole number in a value is at least 0 and below 2⁶², whatever members it has; a seed is any number.
    private static func isBounded(_ value: Any) -> Bool {
        switch value {
        case let number as UInt64: number < 1 << 62
        case let number as Int: (0..<1 << 62).contains(number)
        case let numbers as [UInt64]: numbers.allSatisfy { $0 < 1 << 62 }
        case is String, is Double, is Bool: true
        default: Mirror(reflecting: value).children.allSatisfy { $0.label == "seed" || isBounded($0.value) }
        }
    }
}

extension ResultRecord {
    /// The record as one line of JSON with its members in order, its end included.
    package func line() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try Array(encoder.encode(self)) + [0x0A]
    }

    /// Reads a record from its line.
    ///
    /// - Parameter line: The line, without its end.
    /// - Throws: `DecodingError`.
    package init(line: some Sequence<UInt8>) throws {
        self = try JSONDecoder().decode(ResultRecord.self, from: Data(line))
    }

    /// How the lines of the records begin that say how a file ends.
    package static let (endStart, sealStart) = (Array(#"{"end""#.utf8), Array(#"{"seal""#.utf8))

    /// Reads a result file.
    ///
    /// - Parameter bytes: The file.
    /// - Returns: The records, and how many bytes of the file they take: a run that was killed may leave a last line
    ///   without an end, which counts as not written.
    /// - Throws: `ResultsError.damagedLine` for a whole line that is no record, `.unknownSchema` if it comes from another
    ///   version.
    package static func read(_ bytes: [UInt8]) throws(ResultsError) -> (records: [ResultRecord], byteCount: Int) {
        var records: [ResultRecord] = []
        var start = 0
        let decoder = JSONDecoder()
        while let end = bytes[start...].firstIndex(of: 0x0A) {
            let line = Data(bytes[start..<end])
            if records.isEmpty, let header = try? decoder.decode(AnyHeader.self, from: line),
                header.header.schema != RunHeader.currentSchema
            {
                throw .unknownSchema(header.header.schema)
            }
            guard let record = try? decoder.decode(ResultRecord.self, from: line) else {
                throw .damagedLine(records.count + 1)
            }
            records.append(record)
            start = end + 1
        }
        return (records, start)
    }
}
