import Glibc
import Results

/// A line of a shard's file with what a merge must know of it. Figures are not decoded: those of thousands of shards would
/// take minutes.
struct RecordLine {
    /// The line, its end included.
    let bytes: [UInt8]
    /// What it is about: of a shard, each is there once.
    let key: Key
    /// A plaintext, a failure or outcomes of vectors; `nil` for figures.
    let verdict: ResultRecord?
    /// Where the round's number stands; `nil` where there is none.
    private let round: Range<Int>?

    /// A record's name.
    enum Kind: String {
        case check, failure, time, latency, memory, conformance
    }

    /// What a record is about.
    struct Key: Hashable {
        var kind: Kind
        /// The cell's identifier, or the subject of vectors.
        var subject: String
        /// The round, or the part of a shard's vectors.
        var number: Int
    }

    /// Takes a line, or returns `nil` for one that is in no shard's file.
    init?(_ bytes: [UInt8]) {
        self.bytes = bytes
        guard bytes.starts(with: [UInt8(ascii: "{"), UInt8(ascii: "\"")]),
            let nameEnd = bytes[2...].firstIndex(of: UInt8(ascii: "\"")),
            let kind = Kind(rawValue: String(decoding: bytes[2..<nameEnd], as: UTF8.self))
        else { return nil }
        switch kind {
        case .time, .latency, .memory:
            guard let cell = Self.cellID(bytes) else { return nil }
            let digits = Self.end(of: "\"round\":", in: bytes).map { start in
                start..<(bytes[start...].firstIndex { !(0x30...0x39).contains($0) } ?? bytes.endIndex)
            }
            // Records of older programs have no round.
            let round = digits.map { $0.count < 10 ? Int(String(decoding: bytes[$0], as: UTF8.self)) : nil } ?? 0
            guard let round else { return nil }
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

    /// The line with another round.
    func numbered(_ number: Int) -> [UInt8] {
        guard let round, number != key.number else { return bytes }
        return bytes[..<round.lowerBound] + Array("\(number)".utf8) + bytes[round.upperBound...]
    }

    /// The identifier of the cell that figures are about.
    private static func cellID(_ bytes: [UInt8]) -> String? {
        guard let start = end(of: "\"cellID\":\"", in: bytes),
            let end = bytes[start...].firstIndex(of: UInt8(ascii: "\""))
        else { return nil }
        guard bytes[start..<end].contains(UInt8(ascii: "\\")) else {
            return String(decoding: bytes[start..<end], as: UTF8.self)
        }
        // A trace's name may have anything in it.
        switch try? ResultRecord(line: bytes.dropLast()) {
        case .time(let time): return time.cellID
        case .latency(let latency): return latency.cellID
        case .memory(let memory): return memory.cellID
        default: return nil
        }
    }

    /// Where the value of a member begins, whose beginning no text in a line can hold: quotes in it are escaped.
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
