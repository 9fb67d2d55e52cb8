#if Network
import Crypto
import FoundationEssentials
import RandomAccess

/// A question to a key server, in its wire format.
///
/// - Source: KEY-PROTOCOL.md, "Request".
package struct KeyRequest: Hashable, Sendable {
    /// The version of the protocol.
    package static let version: UInt8 = 1
    /// The max number of identifiers in one request.
    package static let maxIdentifiers = 64
    /// The max number of bytes of one identifier, in UTF-8.
    package static let maxIdentifierByteCount = 2048
    /// The max number of bytes of a request, which follows from the other limits.
    package static let maxByteCount = fixedByteCount + 255 + maxIdentifiers * (2 + maxIdentifierByteCount)
    /// The media type of a request's body.
    package static let mediaType = "application/x-chunkwise-key-request"

    static let mark = "CWKQ"
    static let numberByteCount = 16
    static let publicKeyByteCount = 32
    private static let fixedByteCount = 4 + 1 + 1 + numberByteCount + 8 + publicKeyByteCount + 1 + 2

    /// True if the client asks for keys that can be stored.
    package let wantsPersistable: Bool
    /// The request's number: 16 random bytes.
    package let number: [UInt8]
    /// The time of the request, in milliseconds since 1970-01-01 00:00 UTC.
    package let askedAt: UInt64
    /// The fresh X25519 public key that the answer is sealed to: 32 bytes.
    package let publicKey: [UInt8]
    /// The name of the output that plaintext goes to.
    package let route: String
    /// The identifiers of the keys, each once.
    package let identifiers: [String]

    /// The request as bytes; its parts must be within the limits.
    var bytes: [UInt8] {
        var bytes = Array(Self.mark.utf8)
        bytes.append(Self.version)
        bytes.append(wantsPersistable ? 2 : 1)
        bytes += number
        bytes.append(number: askedAt)
        bytes += publicKey
        bytes.append(UInt8(clamping: route.utf8.count))
        bytes.append(number: UInt16(clamping: identifiers.count))
        bytes += route.utf8
        for identifier in identifiers {
            bytes.append(number: UInt16(clamping: identifier.utf8.count))
            bytes += identifier.utf8
        }
        return bytes
    }
}

extension KeyRequest {
    /// Reads a request.
    ///
    /// - Throws: ``WireFault`` if the bytes are malformed.
    package init(_ bytes: [UInt8]) throws(WireFault) {
        var reader = WireReader(bytes)
        try reader.start(Self.mark, version: Self.version)
        let kind = try reader.number("the kind of keys", as: UInt8.self)
        guard (1...2).contains(kind) else { throw WireFault("the kind of keys is \(kind): expected 1 or 2") }
        wantsPersistable = kind == 2
        number = Array(try reader.take(Self.numberByteCount, "the request's number"))
        askedAt = try reader.number("the time", as: UInt64.self)
        publicKey = Array(try reader.take(Self.publicKeyByteCount, "the public key"))
        let routeByteCount = Int(try reader.number("the route's length", as: UInt8.self))
        let count = Int(try reader.number("the number of identifiers", as: UInt16.self))
        guard (1...Self.maxIdentifiers).contains(count) else {
            throw WireFault("\(count) identifiers: expected 1 to \(Self.maxIdentifiers)")
        }
        route = try reader.text(routeByteCount, "the route")
        var identifiers: [String] = []
        for index in 1...count {
            let byteCount = Int(try reader.number("the length of identifier \(index)", as: UInt16.self))
            guard (1...Self.maxIdentifierByteCount).contains(byteCount) else {
                throw WireFault(
                    "identifier \(index) has \(byteCount) bytes: expected 1 to \(Self.maxIdentifierByteCount)")
            }
            identifiers.append(try reader.text(byteCount, "identifier \(index)"))
        }
        try reader.end()
        guard Set(identifiers).count == count else {
            throw WireFault("an identifier is asked for twice: expected each once")
        }
        self.identifiers = identifiers
    }
}

/// A request that was sent, and the private key that opens its answer.
package struct PendingRequest: Sendable {
    /// The request.
    package let request: KeyRequest
    /// The bytes to send.
    package let bytes: [UInt8]

    private let privateKey: Curve25519.KeyAgreement.PrivateKey

    /// Prepares a request with a fresh number and a fresh key.
    ///
    /// - Parameters:
    ///   - identifiers: At most ``KeyRequest/maxIdentifiers``, each once and of 1 to
    ///     ``KeyRequest/maxIdentifierByteCount`` bytes.
    ///   - route: The name of the output that plaintext goes to, cut to 255 bytes.
    ///   - wantsPersistable: True to ask for keys that can be stored.
    ///   - time: The current time, in milliseconds since 1970-01-01 00:00 UTC.
    package init(identifiers: [String], route: String, wantsPersistable: Bool, at time: UInt64) {
        self.init(
            identifiers: identifiers, route: route, wantsPersistable: wantsPersistable, at: time,
            number: .random(count: KeyRequest.numberByteCount), privateKey: Curve25519.KeyAgreement.PrivateKey())
    }

    init(
        identifiers: [String], route: String, wantsPersistable: Bool, at time: UInt64, number: [UInt8],
        privateKey: Curve25519.KeyAgreement.PrivateKey
    ) {
        var route = route
        while route.utf8.count > 255 { route.removeLast() }
        request = KeyRequest(
            wantsPersistable: wantsPersistable, number: number, askedAt: time,
            publicKey: Array(privateKey.publicKey.rawRepresentation), route: route, identifiers: identifiers)
        bytes = request.bytes
        self.privateKey = privateKey
    }

    /// The max number of bytes of an answer.
    package var maxAnswerByteCount: Int {
        let entries = request.identifiers.reduce(0) {
            $0 + 2 + $1.utf8.count + 1 + 8 + 8 + 2 + AnswerFormat.maxKeyByteCount + AnswerFormat.tagByteCount
        }
        return AnswerFormat.headByteCount + AnswerFormat.encapsulatedByteCount + 2 + entries
    }

    /// Opens an answer, either all of it or nothing.
    ///
    /// - Parameters:
    ///   - answer: The answer's bytes.
    ///   - elapsed: The time since the request was sent.
    ///   - serverKey: The server's public key, 32 bytes; the answer must prove that the server has the private key.
    ///     `nil` if the server's certificate proves its identity.
    /// - Returns: The answer for each identifier.
    /// - Throws: `KeyFailure.replayed` for the answer to another request, `.timedOut` for a late answer,
    ///   `.otherIdentifier`, `.tampered`, `.malformed`.
    package func open(
        _ answer: [UInt8], elapsed: Duration, serverKey: [UInt8]?
    ) throws(KeyFailure) -> [ExchangedKey] {
        let answer = try Self.parse(answer)
        guard answer.number == request.number else { throw .replayed }
        let lifetime = Duration.milliseconds(Int64(answer.lifetime))
        guard elapsed <= lifetime else { throw .timedOut(after: lifetime) }
        guard answer.entries.count == request.identifiers.count else {
            throw .malformed(
                reason: "\(answer.entries.count) keys: expected \(request.identifiers.count), as were asked for")
        }
        // Compares bytes: to the server, equivalent texts of different bytes are different identifiers.
        guard zip(answer.entries, request.identifiers).allSatisfy({ $0.identifier.elementsEqual($1.utf8) }) else {
            throw .otherIdentifier
        }
        guard (serverKey == nil) == (answer.mode == .base) else {
            throw .malformed(
                reason: "the answer's mode is \(answer.mode.rawValue): expected \(serverKey == nil ? 0 : 2)")
        }
        let info = AnswerFormat.info(request: bytes, head: answer.head, count: UInt16(answer.entries.count))
        guard var recipient = try? recipient(answer, info, serverKey) else { throw .tampered }
        var keys: [ExchangedKey] = []
        for (index, (entry, identifier)) in zip(answer.entries, request.identifiers).enumerated() {
            let associatedData = AnswerFormat.associatedData(index: index, entry: entry.bytes)
            guard var opened = try? recipient.open(entry.sealed, authenticating: associatedData) else {
                throw .tampered
            }
            defer { opened.erase() }
            keys.append(entry.exchanged(identifier, opened))
        }
        return keys
    }

    private static func parse(_ bytes: [UInt8]) throws(KeyFailure) -> ParsedAnswer {
        do throws(WireFault) {
            return try ParsedAnswer(bytes)
        } catch {
            throw .malformed(reason: error.description)
        }
    }

    private func recipient(_ answer: ParsedAnswer, _ info: Data, _ serverKey: [UInt8]?) throws -> HPKE.Recipient {
        let suite = AnswerFormat.ciphersuite
        let encapsulated = try ContributingKey.publicKey(answer.encapsulated).rawRepresentation
        guard let serverKey else {
            return try HPKE.Recipient(
                privateKey: privateKey, ciphersuite: suite, info: info, encapsulatedKey: encapsulated)
        }
        return try HPKE.Recipient(
            privateKey: privateKey, ciphersuite: suite, info: info, encapsulatedKey: encapsulated,
            authenticatedBy: ContributingKey.publicKey(serverKey))
    }
}

extension PendingRequest: CustomReflectable {
    /// A mirror without children.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
#endif
