#if Network
import Crypto
import Foundation

/// What both ends of an exchange agree upon.
///
/// - Source: KEY-PROTOCOL.md, "Answer"; RFC 9180, sections 4.1, 5.1 and 7.
enum AnswerFormat {
    static let mark = "CWKA"
    static let headByteCount = 4 + 1 + 1 + KeyRequest.numberByteCount + 8 + 4
    static let encapsulatedByteCount = 32
    static let tagByteCount = 16
    /// The most bytes of what is taken for a key, so that a wrong length can be named.
    static let maxKeyByteCount = 1024

    /// DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-128-GCM.
    static let ciphersuite = HPKE.Ciphersuite(kem: .Curve25519_HKDF_SHA256, kdf: .HKDF_SHA256, aead: .AES_GCM_128)

    /// How the server proves itself. The numbers are those of RFC 9180, section 5.
    enum Mode: UInt8 {
        case base = 0
        case authenticated = 2
    }

    /// What the whole exchange is bound to: the protocol, the request, the answer's head and its length.
    static func info(request: [UInt8], head: some Sequence<UInt8>, count: UInt16) -> Data {
        var bytes = Array("chunkwise-keys-1".utf8) + Array(SHA256.hash(data: request)) + Array(head)
        bytes.append(number: count)
        return Data(bytes)
    }

    /// What one sealed part is bound to: its place, and all that stands before it in the answer.
    static func associatedData(place: Int, entry: some Sequence<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(number: UInt16(clamping: place))
        return bytes + entry
    }
}

extension Data {
    /// Overwrites what nobody else holds.
    mutating func erase() {
        resetBytes(in: startIndex..<endIndex)
    }
}
#endif
