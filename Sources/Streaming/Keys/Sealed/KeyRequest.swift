#if Network
/// A question to a key server, as it travels.
///
/// - Source: KEY-PROTOCOL.md, "Request".
package struct KeyRequest: Hashable, Sendable {
    /// The version of the protocol.
    package static let version: UInt8 = 1
    /// The most identifiers in one request.
    package static let maxIdentifiers = 64
    /// The most bytes of one identifier, in UTF-8.
    package static let maxIdentifierByteCount = 2048
    /// The most bytes of a request: what the other limits allow.
    package static let maxByteCount = fixedByteCount + 255 + maxIdentifiers * (2 + maxIdentifierByteCount)
    /// The type of a request's body.
    package static let mediaType = "application/x-chunkwise-key-request"

    static let mark = "CWKQ"
    static let numberByteCount = 16
    static let publicKeyByteCount = 32
    private static let fixedByteCount = 4 + 1 + 1 + numberByteCount + 8 + publicKeyByteCount + 1 + 2

    /// Whether keys are asked for that can be stored.
    package let wantsPersistable: Bool
    /// The request's number: 16 random bytes.
    package let number: [UInt8]
    /// When it was made, in milliseconds since 1970-01-01 00:00 UTC.
    package let askedAt: UInt64
    /// The fresh X25519 public key that the answer is sealed to: 32 bytes.
    package let publicKey: [UInt8]
    /// The name of where plaintext goes.
    package let route: String
    /// Which keys are asked for, each once.
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
    /// - Throws: ``WireFault`` if it is none.
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
        for place in 1...count {
            let byteCount = Int(try reader.number("the length of identifier \(place)", as: UInt16.self))
            guard (1...Self.maxIdentifierByteCount).contains(byteCount) else {
                throw WireFault(
                    "identifier \(place) has \(byteCount) bytes: expected 1 to \(Self.maxIdentifierByteCount)")
            }
            identifiers.append(try reader.text(byteCount, "identifier \(place)"))
        }
        try reader.end()
        guard Set(identifiers).count == count else {
            throw WireFault("an identifier is asked for twice: expected each once")
        }
        self.identifiers = identifiers
    }
}
#endif
