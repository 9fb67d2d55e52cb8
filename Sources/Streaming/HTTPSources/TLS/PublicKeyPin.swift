#if Network
import Crypto
import Foundation
import SwiftASN1
import X509

/// The SHA-256 of a public key as certificates hold it (SubjectPublicKeyInfo, DER).
///
/// - Source: RFC 7469, section 2.4; the text is the one that curl's `--pinnedpubkey` takes.
public struct PublicKeyPin: Hashable, Sendable, CustomStringConvertible {
    private let digest: [UInt8]

    /// Reads a pin; `nil` if the text is none.
    ///
    /// - Parameter text: `sha256//` and 44 characters of base64, or 64 hexadecimal digits.
    public init?(_ text: String) {
        let prefix = "sha256//"
        if text.hasPrefix(prefix) {
            guard let data = Data(base64Encoded: String(text.dropFirst(prefix.count))), data.count == 32 else {
                return nil
            }
            digest = Array(data)
            return
        }
        let digits = text.utf8.map { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count == 64, !digits.contains(nil) else { return nil }
        let values = digits.compactMap { $0.map(UInt8.init) }
        digest = stride(from: 0, to: 64, by: 2).map { values[$0] << 4 | values[$0 + 1] }
    }

    /// The pin of a certificate's key, or `nil` if that cannot be written as DER.
    init?(_ certificate: Certificate) {
        var serializer = DER.Serializer()
        guard (try? serializer.serialize(certificate.publicKey)) != nil else { return nil }
        digest = Array(SHA256.hash(data: serializer.serializedBytes))
    }

    /// The pin as `sha256//` and base64.
    public var description: String { "sha256//" + Data(digest).base64EncodedString() }
}
#endif
