#if Network
import Crypto
import FoundationEssentials
package import RandomAccess

/// Seals a server's answers. Each is sealed to the fresh key of its request.
package struct AnswerSealer: Sendable {
    /// The media type of an answer's body.
    package static let mediaType = "application/x-chunkwise-keys"

    private let identity: ServerIdentity?
    private let lifetime: UInt32

    /// - Parameters:
    ///   - identity: The key by which the answer proves the server's identity; `nil` if the server's certificate does.
    ///   - lifetime: The max time between a request and the opening of its answer, in milliseconds.
    package init(identity: ServerIdentity?, lifetimeMilliseconds lifetime: UInt32) {
        self.identity = identity
        self.lifetime = lifetime
    }

    /// Seals an answer.
    ///
    /// - Parameters:
    ///   - outcomes: An outcome for each identifier of the request, in its order.
    ///   - request: The request.
    ///   - bytes: The request's bytes as they arrived.
    ///   - time: The current time, in milliseconds since 1970-01-01 00:00 UTC.
    /// - Returns: The answer.
    /// - Throws: ``WireFault`` if nothing can be sealed to the request's public key.
    package func seal(
        _ outcomes: [KeyOutcome], for request: KeyRequest, bytes: [UInt8], at time: UInt64
    ) throws(WireFault) -> [UInt8] {
        precondition(outcomes.count == request.identifiers.count, "an outcome for each identifier")
        var answer = Array(AnswerFormat.mark.utf8)
        answer.append(KeyRequest.version)
        answer.append((identity == nil ? AnswerFormat.Mode.base : .authenticated).rawValue)
        answer += request.number
        answer.append(number: time)
        answer.append(number: lifetime)
        let count = UInt16(clamping: outcomes.count)
        do {
            var sender = try sender(
                to: request.publicKey, info: AnswerFormat.info(request: bytes, head: answer, count: count))
            answer += sender.encapsulatedKey
            answer.append(number: count)
            for (index, (identifier, outcome)) in zip(request.identifiers, outcomes).enumerated() {
                let entry = Self.entry(identifier, outcome)
                let sealed = try Self.seal(
                    outcome, AnswerFormat.associatedData(index: index, entry: entry), by: &sender)
                answer += entry
                answer.append(number: UInt16(clamping: sealed.count))
                answer += sealed
            }
        } catch {
            // The public key may be any bytes, such as a point of small order. Source: RFC 9180, section 7.1.4.
            throw WireFault("nothing can be sealed to the public key: expected a fresh one of X25519")
        }
        return answer
    }

    private func sender(to publicKey: [UInt8], info: Data) throws -> HPKE.Sender {
        let recipient = try ContributingKey.publicKey(publicKey)
        let suite = AnswerFormat.ciphersuite
        guard let identity else { return try HPKE.Sender(recipientKey: recipient, ciphersuite: suite, info: info) }
        return try HPKE.Sender(
            recipientKey: recipient, ciphersuite: suite, info: info, authenticatedBy: identity.privateKey)
    }

    private static func entry(_ identifier: String, _ outcome: KeyOutcome) -> [UInt8] {
        var entry: [UInt8] = []
        entry.append(number: UInt16(clamping: identifier.utf8.count))
        entry += identifier.utf8
        let (code, first, second) = outcome.fields
        entry.append(code)
        entry.append(number: first)
        entry.append(number: second)
        return entry
    }

    private static func seal(
        _ outcome: KeyOutcome, _ associatedData: [UInt8], by sender: inout HPKE.Sender
    ) throws -> Data {
        guard case .key(let key, _) = outcome else {
            return try sender.seal(Data(), authenticating: associatedData)
        }
        var plaintext = key.withUnsafeBytes { Data($0) }
        defer { plaintext.erase() }
        return try sender.seal(plaintext, authenticating: associatedData)
    }
}

/// The constants and bindings that both ends of an exchange agree upon.
///
/// - Source: KEY-PROTOCOL.md, "Answer"; RFC 9180, sections 4.1, 5.1 and 7.
enum AnswerFormat {
    static let mark = "CWKA"
    static let headByteCount = 4 + 1 + 1 + KeyRequest.numberByteCount + 8 + 4
    static let encapsulatedByteCount = 32
    static let tagByteCount = 16
    /// The max number of bytes that are accepted as a key. It is larger than any key, so that an error can name a wrong
    /// length.
    static let maxKeyByteCount = 1024

    /// DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-128-GCM.
    static let ciphersuite = HPKE.Ciphersuite(kem: .Curve25519_HKDF_SHA256, kdf: .HKDF_SHA256, aead: .AES_GCM_128)

    /// The way in which the server proves its identity. The numbers are those of RFC 9180, section 5.
    enum Mode: UInt8 {
        case base = 0
        case authenticated = 2
    }

    /// Returns the bytes that the whole exchange is bound to: the protocol, the request, the answer's head and its
    /// length.
    static func info(request: [UInt8], head: some Sequence<UInt8>, count: UInt16) -> Data {
        var bytes = Array("chunkwise-keys-1".utf8) + Array(SHA256.hash(data: request)) + Array(head)
        bytes.append(number: count)
        return Data(bytes)
    }

    /// Returns the bytes that one sealed part is bound to: its index, and the fields before it in its entry.
    static func associatedData(index: Int, entry: some Sequence<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(number: UInt16(clamping: index))
        return bytes + entry
    }
}

extension Data {
    /// Overwrites the bytes, if no other value shares them.
    mutating func erase() {
        resetBytes(in: startIndex..<endIndex)
    }
}

/// The parts of an answer. None of them can be trusted before the sealed ones are open.
package struct ParsedAnswer {
    /// The answer about one identifier.
    struct Entry {
        /// All fields before the sealed part.
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
    /// - Throws: ``WireFault`` if the bytes are malformed.
    package init(_ bytes: [UInt8]) throws(WireFault) {
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
        head = bytes[..<reader.offset]
        encapsulated = try reader.take(AnswerFormat.encapsulatedByteCount, "the encapsulated key")
        let count = Int(try reader.number("the number of keys", as: UInt16.self))
        guard (1...KeyRequest.maxIdentifiers).contains(count) else {
            throw WireFault("\(count) keys: expected 1 to \(KeyRequest.maxIdentifiers)")
        }
        var entries: [Entry] = []
        for index in 1...count { entries.append(try Self.entry(&reader, bytes, index)) }
        try reader.end()
        self.entries = entries
    }

    private static func entry(
        _ reader: inout WireReader, _ bytes: [UInt8], _ index: Int
    ) throws(WireFault) -> Entry {
        let start = reader.offset
        let identifierByteCount = Int(try reader.number("the length of identifier \(index)", as: UInt16.self))
        let identifier = try reader.take(identifierByteCount, "identifier \(index)")
        let code = try reader.number("outcome \(index)", as: UInt8.self)
        guard code <= 4 else { throw WireFault("outcome \(index) is \(code): expected 0 to 4") }
        let first = try reader.number("the first time of key \(index)", as: UInt64.self)
        let second = try reader.number("the second time of key \(index)", as: UInt64.self)
        let end = reader.offset
        let sealedByteCount = Int(try reader.number("the length of sealed key \(index)", as: UInt16.self))
        let minimum = AnswerFormat.tagByteCount
        let maximum = minimum + (code <= 1 ? AnswerFormat.maxKeyByteCount : 0)
        guard (minimum...maximum).contains(sealedByteCount) else {
            throw WireFault("sealed key \(index) has \(sealedByteCount) bytes: expected \(minimum) to \(maximum)")
        }
        return Entry(
            bytes: bytes[start..<end], identifier: identifier, code: code, first: first, second: second,
            sealed: try reader.take(sealedByteCount, "sealed key \(index)"))
    }
}

extension ParsedAnswer.Entry {
    /// Returns the answer that an opened entry gives.
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

/// A server's answer about one identifier.
package enum KeyOutcome: Sendable {
    /// The key and its terms.
    case key(SecretKey, KeyTerms)
    /// There is no such key.
    case missing
    /// The key exists, but not for this client.
    case refused
    /// The client may ask again after this time.
    case later(Duration)

    /// The outcome's name in audit lines.
    package var name: String {
        switch self {
        case .key: "key"
        case .missing: "missing"
        case .refused: "refused"
        case .later: "later"
        }
    }

    /// The outcome's number and its two times.
    var fields: (code: UInt8, first: UInt64, second: UInt64) {
        switch self {
        case .key(_, .online(let validity)): (0, WireTime.milliseconds(validity), 0)
        case .key(_, .persistable(let storage, let playback)):
            (1, WireTime.milliseconds(storage), WireTime.milliseconds(playback))
        case .missing: (2, 0, 0)
        case .refused: (3, 0, 0)
        case .later(let time): (4, WireTime.milliseconds(time), 0)
        }
    }
}

/// Times in messages: whole milliseconds, with all bits set for no limit.
enum WireTime {
    private static let noLimit = UInt64.max

    /// Returns a time in milliseconds.
    static func milliseconds(_ time: Duration?) -> UInt64 {
        time.map { min(KeyTiming.milliseconds($0), noLimit - 1) } ?? noLimit
    }

    /// Returns the time that a number means; `nil` for no limit.
    static func duration(_ milliseconds: UInt64) -> Duration? {
        milliseconds == noLimit ? nil : .milliseconds(Int64(clamping: milliseconds))
    }
}
#endif
