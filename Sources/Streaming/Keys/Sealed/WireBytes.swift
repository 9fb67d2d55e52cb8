#if Network
import Crypto
package import RandomAccess

/// The reason why bytes are not a message of the protocol.
package struct WireFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The finding and the expectation; never a part of a key or an identifier.
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Reads a message from its start; numbers are big-endian.
struct WireReader {
    private let bytes: [UInt8]
    private(set) var offset = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Returns the next bytes.
    ///
    /// - Throws: ``WireFault`` if the message ends before that.
    mutating func take(_ count: Int, _ name: String) throws(WireFault) -> ArraySlice<UInt8> {
        guard bytes.count - offset >= count else {
            throw WireFault("the message ends after \(bytes.count) bytes: expected \(name) up to \(offset + count)")
        }
        defer { offset += count }
        return bytes[offset..<offset + count]
    }

    /// Returns the next number.
    mutating func number<Number: FixedWidthInteger & UnsignedInteger>(
        _ name: String, as _: Number.Type
    ) throws(WireFault) -> Number {
        try take(Number.bitWidth / 8, name).reduce(0) { $0 << 8 | Number($1) }
    }

    /// Returns the next text.
    mutating func text(_ count: Int, _ name: String) throws(WireFault) -> String {
        guard let text = String(validating: try take(count, name), as: UTF8.self) else {
            throw WireFault("\(name) is not UTF-8: expected text")
        }
        return text
    }

    /// Checks the mark and the version, with which every message starts.
    mutating func start(_ mark: String, version: UInt8) throws(WireFault) {
        guard try take(4, "the mark").elementsEqual(mark.utf8) else {
            throw WireFault("the message has another mark: expected \(mark)")
        }
        let found = try number("the version", as: UInt8.self)
        guard found == version else { throw WireFault("the version is \(found): expected \(version)") }
    }

    /// Checks that nothing follows.
    func end() throws(WireFault) {
        guard offset == bytes.count else {
            throw WireFault("\(bytes.count - offset) bytes follow the message: expected none")
        }
    }
}

extension [UInt8] {
    /// Appends a number, big-endian.
    mutating func append<Number: FixedWidthInteger & UnsignedInteger>(number: Number) {
        for shift in stride(from: Number.bitWidth - 8, through: 0, by: -8) {
            append(UInt8(truncatingIfNeeded: number >> Number(shift)))
        }
    }
}

/// Public keys of X25519 that contribute to the shared secret.
///
/// A point of small order makes every shared secret zero, which is not secret. The library's HPKE accepts such a point.
/// - Source: RFC 9180, section 7.1.4; RFC 7748, section 6.1.
enum ContributingKey {
    /// Reads a public key.
    ///
    /// - Throws: The library's error for bytes that are not a key, ``WireFault`` for a point of small order.
    static func publicKey(_ bytes: some Collection<UInt8>) throws -> Curve25519.KeyAgreement.PublicKey {
        let key = try Curve25519.KeyAgreement.PublicKey(rawRepresentation: Array(bytes))
        // Every private key is a multiple of the cofactor, so each gives the same answer here.
        let shared = try Curve25519.KeyAgreement.PrivateKey().sharedSecretFromKeyAgreement(with: key)
        guard shared.withUnsafeBytes({ $0.reduce(0, |) }) != 0 else {
            throw WireFault("a public key of small order: expected another one")
        }
        return key
    }
}

/// The long-lived X25519 key that proves the server's identity where no certificate does.
package struct ServerIdentity: Sendable {
    let privateKey: Curve25519.KeyAgreement.PrivateKey

    /// Wraps a private key.
    ///
    /// - Parameter key: 32 bytes.
    /// - Throws: `DecryptionError.invalidKey` for any other length.
    package init(_ key: SecretKey) throws(DecryptionError) {
        let privateKey = key.withUnsafeBytes { try? Curve25519.KeyAgreement.PrivateKey(rawRepresentation: $0) }
        guard let privateKey else { throw .invalidKey(byteCount: key.byteCount) }
        self.privateKey = privateKey
    }

    /// The public key that clients know the server by: 32 bytes.
    package var publicKey: [UInt8] { Array(privateKey.publicKey.rawRepresentation) }
}

extension ServerIdentity: CustomReflectable {
    /// A mirror without children.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
#endif
