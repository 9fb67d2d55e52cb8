#if Network
import Foundation
import RandomAccess

/// An answer's parts, none of which can be trusted before the sealed ones are open.
struct ParsedAnswer {
    /// What is said about one identifier.
    struct Entry {
        /// All that stands before the sealed part.
        let bytes: ArraySlice<UInt8>
        let identifier: ArraySlice<UInt8>
        let code: UInt8
        let first: UInt64
        let second: UInt64
        let sealed: ArraySlice<UInt8>
    }

    let mode: AnswerFormat.Mode
    let number: [UInt8]
    let lifetime: UInt32
    let head: ArraySlice<UInt8>
    let encapsulated: ArraySlice<UInt8>
    let entries: [Entry]

    /// Reads an answer.
    ///
    /// - Throws: ``WireFault`` if it is none.
    init(_ bytes: [UInt8]) throws(WireFault) {
        var reader = WireReader(bytes)
        try reader.start(AnswerFormat.mark, version: KeyRequest.version)
        let modeNumber = try reader.number("the mode", as: UInt8.self)
        guard let mode = AnswerFormat.Mode(rawValue: modeNumber) else {
            throw WireFault("the mode is \(modeNumber): expected 0 or 2")
        }
        self.mode = mode
        number = Array(try reader.take(KeyRequest.numberByteCount, "the request's number"))
        _ = try reader.number("the time", as: UInt64.self)
        lifetime = try reader.number("the lifetime", as: UInt32.self)
        head = bytes[..<reader.place]
        encapsulated = try reader.take(AnswerFormat.encapsulatedByteCount, "the encapsulated key")
        let count = Int(try reader.number("the number of keys", as: UInt16.self))
        guard (1...KeyRequest.maxIdentifiers).contains(count) else {
            throw WireFault("\(count) keys: expected 1 to \(KeyRequest.maxIdentifiers)")
        }
        var entries: [Entry] = []
        for place in 1...count { entries.append(try Self.entry(&reader, bytes, place)) }
        try reader.end()
        self.entries = entries
    }

    private static func entry(
        _ reader: inout WireReader, _ bytes: [UInt8], _ place: Int
    ) throws(WireFault) -> Entry {
        let start = reader.place
        let identifierByteCount = Int(try reader.number("the length of identifier \(place)", as: UInt16.self))
        let identifier = try reader.take(identifierByteCount, "identifier \(place)")
        let code = try reader.number("outcome \(place)", as: UInt8.self)
        guard code <= 4 else { throw WireFault("outcome \(place) is \(code): expected 0 to 4") }
        let first = try reader.number("the first time of key \(place)", as: UInt64.self)
        let second = try reader.number("the second time of key \(place)", as: UInt64.self)
        let end = reader.place
        let sealedByteCount = Int(try reader.number("the length of sealed key \(place)", as: UInt16.self))
        let minimum = AnswerFormat.tagByteCount
        let maximum = minimum + (code <= 1 ? AnswerFormat.maxKeyByteCount : 0)
        guard (minimum...maximum).contains(sealedByteCount) else {
            throw WireFault("sealed key \(place) has \(sealedByteCount) bytes: expected \(minimum) to \(maximum)")
        }
        return Entry(
            bytes: bytes[start..<end], identifier: identifier, code: code, first: first, second: second,
            sealed: try reader.take(sealedByteCount, "sealed key \(place)"))
    }
}

extension ParsedAnswer.Entry {
    /// What the entry says, now that it was opened.
    func exchanged(_ identifier: String, _ opened: Data) -> ExchangedKey {
        let terms: KeyTerms
        switch code {
        case 0: terms = .online(validity: WireTime.duration(first))
        case 1:
            let longest = Duration.milliseconds(Int64.max)
            terms = .persistable(
                storage: WireTime.duration(first) ?? longest, playback: WireTime.duration(second) ?? longest)
        case 2: return ExchangedKey(identifier, failure: .missing)
        case 3: return ExchangedKey(identifier, failure: .refused(reason: "the server gives it to others only"))
        default: return ExchangedKey(identifier, failure: .busy(retryAfter: WireTime.duration(first)))
        }
        let key = opened.withUnsafeBytes { $0.count == 16 ? try? SecretKey($0) : nil }
        return key.map { ExchangedKey(identifier, key: $0, terms: terms) }
            ?? ExchangedKey(identifier, failure: .wrongLength(byteCount: opened.count))
    }
}
#endif
