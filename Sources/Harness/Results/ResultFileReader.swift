import FoundationEssentials
import Glibc

/// Reads a result file piece by piece, for reports: of the file itself no more than a line is kept.
///
/// A killed run may leave a last line without an end. If it is a whole record all the same, it counts; otherwise its
/// bytes are counted and left out.
package struct ResultFileReader {
    /// A round of a million iterations, which is the max, takes 21 MB; a file that goes on like this is no result file.
    private static let longestLine = 32 << 20

    private var builder = RunResultsBuilder()
    private var rest: [UInt8] = []
    private var samples: [UInt64] = []
    private var lineNumber = 0

    /// Begins before a file's first byte.
    package init() {}

    /// Takes the next bytes of the file.
    ///
    /// - Throws: `ResultsError` for what is whole and wrong.
    package mutating func take(_ bytes: UnsafeRawBufferPointer) throws(ResultsError) {
        var position = 0
        while position < bytes.count, let end = Self.newline(in: bytes, from: position) {
            let piece = UnsafeRawBufferPointer(rebasing: bytes[position..<end])
            if rest.isEmpty {
                try takeLine(piece)
            } else {
                var line: [UInt8] = []
                swap(&line, &rest)
                line.append(contentsOf: piece)
                try takeLine(line)
            }
            position = end + 1
        }
        rest.append(contentsOf: bytes[position...])
        guard rest.count <= Self.longestLine else { throw .damagedLine(lineNumber + 1) }
    }

    /// Ends the file.
    ///
    /// - Returns: What is in it.
    /// - Throws: `ResultsError.missingHeader` if there is no whole header.
    package mutating func finish() throws(ResultsError) -> RunResults {
        var line: [UInt8] = []
        swap(&line, &rest)
        let last = line.withUnsafeBytes { ResultLine($0, samples: &samples) }
        guard last.isRecord else { return try builder.results(cutByteCount: line.count) }
        try note(last)
        return try builder.results()
    }

    private mutating func takeLine(_ line: [UInt8]) throws(ResultsError) {
        try note(line.withUnsafeBytes { ResultLine($0, samples: &samples) })
    }

    private mutating func takeLine(_ line: UnsafeRawBufferPointer) throws(ResultsError) {
        try note(ResultLine(line, samples: &samples))
    }

    private mutating func note(_ line: ResultLine) throws(ResultsError) {
        lineNumber += 1
        switch line {
        case .record(let record): try builder.add(record, line: lineNumber)
        case .blank: break
        case .otherSchema(let schema) where builder.header == nil: throw .unknownSchema(schema)
        case .otherSchema, .damaged:
            throw builder.header == nil && lineNumber == 1 ? .missingHeader : .damagedLine(lineNumber)
        }
    }

    private static func newline(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        guard let base = bytes.baseAddress, let found = memchr(base + start, 0x0A, bytes.count - start) else {
            return nil
        }
        return UnsafeRawPointer(found) - base
    }
}

/// What a line of a result file turns out to be.
private enum ResultLine {
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
