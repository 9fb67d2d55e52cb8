import FoundationEssentials
import Support

/// Reads a result file piece by piece for reports. Of the file itself, it keeps one piece or one line at a time.
///
/// A killed run may leave a last line without a newline. If the line is a complete record, it counts; otherwise the
/// reader counts its bytes and leaves them out.
package struct ResultFileReader {
    /// The max length of a line. The longest round, with a million iterations, takes 21 MB; a longer line means that
    /// this is no result file.
    private static let longestLine = 32 << 20

    /// The min number of bytes that one thread parses at a time.
    private static let leastShare = 1 << 16

    private var builder = RunResultsBuilder()
    /// The results of earlier hosts in a merged file.
    private var earlierHosts: [RunResults] = []
    private var rest: [UInt8] = []
    private var lineNumber = 0

    /// Starts before a file's first byte.
    package init() {}

    /// Takes the next bytes of the file; all CPUs parse their lines.
    ///
    /// - Throws: `ResultsError` for a complete line that is wrong.
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

    /// Parses lines, each with its newline.
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
    /// - Returns: The results; for a merged file, one element a host.
    /// - Throws: `ResultsError.missingHeader` if there is no complete header.
    package mutating func finishHosts() throws(ResultsError) -> [RunResults] {
        let last = try finish()
        return earlierHosts + [last]
    }

    /// Ends the file.
    ///
    /// - Returns: The results; for a merged file, those of its last host.
    /// - Throws: `ResultsError.missingHeader` if there is no complete header.
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
            var host = try builder.results()
            // A list without room for more cells: there may be 1,000 hosts.
            host.cells = host.cells.map(\.self)
            earlierHosts.append(host)
            builder = RunResultsBuilder(after: builder)
            try builder.add(.header(header), line: lineNumber)
        case .record(let record): try builder.add(record, line: lineNumber)
        case .blank: break
        case .otherSchema(let schema) where builder.header == nil: throw .unknownSchema(schema)
        case .otherSchema, .damaged:
            throw builder.header == nil && lineNumber == 1 ? .missingHeader : .damagedLine(lineNumber)
        }
    }
}

/// A parsed line of a result file.
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
        let decoder = ResultRecord.decoder(of: line)
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

/// The part of a header that every schema has.
struct AnyHeader: Decodable {
    struct Schema: Decodable {
        var schema: String
    }
    var header: Schema
}
