import FoundationEssentials
import Support

/// Reads a result file piece by piece, for reports: of the file itself no more than a piece or a line is kept.
///
/// A killed run may leave a last line without an end. If it is a whole record all the same, it counts; otherwise its
/// bytes are counted and left out.
package struct ResultFileReader {
    /// A round of a million iterations, which is the max, takes 21 MB; a file that goes on like this is no result file.
    private static let longestLine = 32 << 20

    /// What is parsed at a time by one thread, at least.
    private static let leastShare = 1 << 16

    private var builder = RunResultsBuilder()
    /// The hosts of a merged file that came before.
    private var earlierHosts: [RunResults] = []
    private var rest: [UInt8] = []
    private var lineNumber = 0

    /// Begins before a file's first byte.
    package init() {}

    /// Takes the next bytes of the file; its lines are parsed on all CPUs.
    ///
    /// - Throws: `ResultsError` for what is whole and wrong.
    package mutating func take(_ bytes: UnsafeRawBufferPointer) throws(ResultsError) {
        guard let last = bytes.lastIndex(of: Self.newline) else { return try keep(bytes[...]) }
        rest.append(contentsOf: bytes[...last])
        var shares: [ArraySlice<UInt8>] = []
        var left = rest[...]
        while !left.isEmpty {
            let end = left.dropFirst(Self.leastShare).firstIndex(of: Self.newline) ?? left.endIndex - 1
            shares.append(left[...end])
            left = left[(end + 1)...]
        }
        rest = []
        for line in Parallel.map(shares, Self.lines).joined() { try note(line) }
        try keep(bytes[(last + 1)...])
    }

    private mutating func keep(_ bytes: Slice<UnsafeRawBufferPointer>) throws(ResultsError) {
        rest.append(contentsOf: bytes)
        guard rest.count <= Self.longestLine else { throw .damagedLine(lineNumber + 1) }
    }

    private static let newline = UInt8(ascii: "\n")

    /// Parses lines, each with its end.
    private static func lines(_ share: ArraySlice<UInt8>) -> [ResultLine] {
        var samples: [UInt64] = []
        return share.withUnsafeBytes { bytes in
            bytes.dropLast().split(separator: newline, omittingEmptySubsequences: false).map {
                ResultLine(UnsafeRawBufferPointer(rebasing: $0), samples: &samples)
            }
        }
    }

    /// Ends the file.
    ///
    /// - Returns: What is in it; of a merged file, one for each host.
    /// - Throws: `ResultsError.missingHeader` if there is no whole header.
    package mutating func finishHosts() throws(ResultsError) -> [RunResults] {
        let last = try finish()
        return earlierHosts + [last]
    }

    /// Ends the file.
    ///
    /// - Returns: What is in it; of a merged file, its last host's results.
    /// - Throws: `ResultsError.missingHeader` if there is no whole header.
    package mutating func finish() throws(ResultsError) -> RunResults {
        var samples: [UInt64] = []
        let last = rest.withUnsafeBytes { ResultLine($0, samples: &samples) }
        guard last.isRecord else { return try builder.results(cutByteCount: rest.count) }
        try note(last)
        return try builder.results()
    }

    private mutating func note(_ line: ResultLine) throws(ResultsError) {
        lineNumber += 1
        switch line {
        case .record(.header(let header)) where header.merge != nil && builder.header?.merge != nil:
            earlierHosts.append(try builder.results())
            builder = RunResultsBuilder()
            try builder.add(.header(header), line: lineNumber)
        case .record(let record): try builder.add(record, line: lineNumber)
        case .blank: break
        case .otherSchema(let schema) where builder.header == nil: throw .unknownSchema(schema)
        case .otherSchema, .damaged:
            throw builder.header == nil && lineNumber == 1 ? .missingHeader : .damagedLine(lineNumber)
        }
    }
}

/// What a line of a result file turns out to be.
private enum ResultLine: Sendable {
    case record(ResultRecord)
    case otherSchema(String)
    case blank
    case damaged

    init(_ line: UnsafeRawBufferPointer, samples: inout [UInt64]) {
        if let record = ResultRecord(scanning: line, samples: &samples) {
            self = .record(record)
            return
        }
        let data = Data(line)
        let decoder = JSONDecoder()
        if let record = try? decoder.decode(ResultRecord.self, from: data) {
            self = .record(record)
        } else if let header = try? decoder.decode(AnyHeader.self, from: data) {
            self = header.header.schema == RunHeader.currentSchema ? .damaged : .otherSchema(header.header.schema)
        } else {
            self = line.allSatisfy { $0 == 0x20 || $0 == 0x0D || $0 == 0x09 } ? .blank : .damaged
        }
    }

    var isRecord: Bool {
        if case .record = self { true } else { false }
    }
}

/// As much of a header as every schema has.
struct AnyHeader: Decodable {
    struct Schema: Decodable {
        var schema: String
    }
    var header: Schema
}
