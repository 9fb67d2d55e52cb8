import Glibc
import Results

/// A line of a shard's file, with the parts that a merge needs. Figures are not decoded, because those of thousands of
/// shards would take minutes.
struct RecordLine {
    /// The line with its line break.
    let bytes: [UInt8]
    /// The subject of the record. A shard has each key once.
    let key: Key
    /// The record of a plaintext, a failure or outcomes of vectors; `nil` for figures.
    let verdict: ResultRecord?
    /// The byte range of the round's number; `nil` without a round.
    private let round: Range<Int>?

    /// The kind of a record, by its name in the file.
    enum Kind: String {
        case check, failure, time, latency, memory, conformance
    }

    /// The identity of a record within a shard.
    struct Key: Hashable {
        var kind: Kind
        /// The cell's identifier, or the subject of vectors.
        var subject: String
        /// The round, or the part of a shard's vectors.
        var number: Int
    }

    /// Parses a line. Returns `nil` for a line that a shard's file cannot have.
    init?(_ bytes: [UInt8]) {
        self.bytes = bytes
        guard bytes.starts(with: [UInt8(ascii: "{"), UInt8(ascii: "\"")]),
            let nameEnd = bytes[2...].firstIndex(of: UInt8(ascii: "\"")),
            let kind = Kind(rawValue: String(decoding: bytes[2..<nameEnd], as: UTF8.self))
        else { return nil }
        switch kind {
        case .time, .latency, .memory:
            guard let cell = Self.cellID(bytes), let start = Self.end(of: "\"round\":", in: bytes) else { return nil }
            let digits = start..<(bytes[start...].firstIndex { !(0x30...0x39).contains($0) } ?? bytes.endIndex)
            guard digits.count < 10, let round = Int(String(decoding: bytes[digits], as: UTF8.self)) else { return nil }
            key = Key(kind: kind, subject: cell, number: round)
            (verdict, self.round) = (nil, digits)
        case .check, .failure, .conformance:
            guard let record = try? ResultRecord(line: bytes.dropLast()) else { return nil }
            switch record {
            case .check(let check): key = Key(kind: kind, subject: check.cell.id, number: 0)
            case .failure(let failure): key = Key(kind: kind, subject: failure.cell.id, number: 0)
            case .conformance(let outcome): key = Key(kind: kind, subject: outcome.subject, number: outcome.part ?? 0)
            default: return nil
            }
            (verdict, round) = (record, nil)
        }
    }

    /// Returns the line with another round.
    func numbered(_ number: Int) -> [UInt8] {
        guard let round, number != key.number else { return bytes }
        return bytes[..<round.lowerBound] + Array("\(number)".utf8) + bytes[round.upperBound...]
    }

    /// The identifier of the cell of figures.
    private static func cellID(_ bytes: [UInt8]) -> String? {
        guard let start = end(of: "\"cellID\":\"", in: bytes),
            let end = bytes[start...].firstIndex(of: UInt8(ascii: "\""))
        else { return nil }
        guard bytes[start..<end].contains(UInt8(ascii: "\\")) else {
            return String(decoding: bytes[start..<end], as: UTF8.self)
        }
        // A trace's name may have any characters.
        switch try? ResultRecord(line: bytes.dropLast()) {
        case .time(let time): return time.cellID
        case .latency(let latency): return latency.cellID
        case .memory(let memory): return memory.cellID
        default: return nil
        }
    }

    /// The start of a member's value. Texts in the line cannot contain `member`, because their quotes are escaped.
    private static func end(of member: String, in bytes: [UInt8]) -> Int? {
        var member = member
        return member.withUTF8 { member in
            bytes.withUnsafeBytes { bytes in
                guard let start = bytes.baseAddress, let text = member.baseAddress else { return nil }
                var offset = 0
                while offset + member.count <= bytes.count,
                    let quote = memchr(start + offset, Int32(member[0]), bytes.count - offset - member.count + 1)
                {
                    offset = UnsafeRawPointer(quote) - start
                    if memcmp(quote, text, member.count) == 0 { return offset + member.count }
                    offset += 1
                }
                return nil
            }
        }
    }
}
