import FoundationEssentials
import Support

/// One line of a result file.
///
/// A result file is JSON Lines: the header first, then all other records in the order of the run. The program appends
/// each line at once, so that a killed run loses only the record that it was working on.
public enum ResultRecord: Hashable, Sendable {
    /// The facts of the whole run.
    case header(RunHeader)
    /// One subject's results in the vectors.
    case conformance(ConformanceRecord)
    /// The results of the vectors' own test.
    case mutants(MutantsRecord)
    /// A cell whose plaintext was right.
    case check(CheckRecord)
    /// One round of timings.
    case time(TimeRecord)
    /// Latencies of single reads.
    case latency(LatencyRecord)
    /// Peak memory.
    case memory(MemoryRecord)
    /// A cell that failed; its other records do not count.
    case failure(FailureRecord)
    /// The end of the run; a file without this record was cut off.
    case end
    /// The end of a complete shard's file.
    case seal(SealRecord)
}

extension ResultRecord: Codable {
    /// The only member of a line's object; its name is the kind of the record.
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

    /// Reads a record: an object with one member, whose name is the kind of the record.
    ///
    /// - Throws: `DecodingError`, also for numbers that no run has.
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
        let hasSmallNumbers = Self.smallNumbersKey.flatMap { decoder.userInfo[$0] as? Bool } ?? false
        guard hasSmallNumbers || Self.isBounded(self), isPlausible else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "expected numbers that a run can give"))
        }
    }

    /// Writes the record as an object with one member.
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

    /// The numbers of vectors that a record may have, so that the records of a file can be added up.
    private static let counts = 0...1 << 40
    /// The numbers that a round may have.
    private static let rounds = 0..<1 << 32

    /// True if arithmetic on the record's numbers cannot overflow, given that ``isBounded(_:)``; files are not trusted.
    var isPlausible: Bool {
        switch self {
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

    /// Returns whether each whole number in a value and its members is at least 0 and below 2⁶². A seed may be any
    /// number. It takes longer than all else that a line needs; see ``hasSmallNumbers(_:)``.
    static func isBounded(_ value: Any) -> Bool {
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
    /// Returns whether a line of JSON has only numbers that are at least 0 and below 2⁶², as nearly all lines have, by
    /// their text: no sign, no exponent above 0, and at most 18 digits in a row. If not, the numbers may still be.
    static func hasSmallNumbers(_ line: UnsafeRawBufferPointer) -> Bool {
        var (isText, isEscaped, digitCount) = (false, false, 0)
        var last: UInt8 = 0
        for byte in line {
            // The decoder takes a text with bytes of zero for UTF-16 or UTF-32.
            if byte == 0 { return false }
            defer { last = byte }
            if isText {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isText = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                digitCount += 1
                if digitCount > 18 || last | 0x20 == UInt8(ascii: "e") { return false }
                continue
            case UInt8(ascii: "\""): isText = true
            case UInt8(ascii: "-") where last | 0x20 != UInt8(ascii: "e"), UInt8(ascii: "+"): return false
            default: break
            }
            digitCount = 0
        }
        return true
    }

    private static let smallNumbersKey = CodingUserInfoKey(rawValue: "hasSmallNumbers")

    /// Returns a decoder of a line that does not check each number if ``hasSmallNumbers(_:)`` says that it need not.
    static func decoder(of line: UnsafeRawBufferPointer) -> JSONDecoder {
        let decoder = JSONDecoder()
        if let smallNumbersKey { decoder.userInfo[smallNumbersKey] = hasSmallNumbers(line) }
        return decoder
    }
}

extension ResultRecord {
    /// Returns the record as one line of JSON with sorted members and the newline.
    package func line() throws -> [UInt8] { try JSONValue.encode(self).line }

    /// Reads a record from its line.
    ///
    /// - Parameter line: The line, without the newline.
    /// - Throws: `DecodingError`.
    package init(line: some Sequence<UInt8>) throws {
        self = try JSONDecoder().decode(ResultRecord.self, from: Data(line))
    }

    /// The first bytes of the lines that end a file.
    package static let (endStart, sealStart) = (Array(#"{"end""#.utf8), Array(#"{"seal""#.utf8))

    /// Reads a result file.
    ///
    /// - Parameter bytes: The file.
    /// - Returns: The records, and the number of bytes that they take. A killed run may leave a last line without a
    ///   newline, which does not count.
    /// - Throws: `ResultsError.damagedLine` for a complete line that is not a record, `.unknownSchema` if the file
    ///   comes from another version.
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
