#if Network
import SwiftASN1
import X509

/// What of a certificate is too weak to be relied upon, from its own bytes: the library does not read all of those.
///
/// - Source: RFC 5280, section 4.1; RFC 8017, appendices A.1.1 and A.2.4; RFC 9155; CA/Browser Forum, Baseline
///   Requirements, sections 6.1.5 and 7.1.3.2.
struct CertificateStrength {
    private static let minBitCount = 2048
    private static let keyOfRSA: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 1, 1]
    private static let weakAlgorithms: [ASN1ObjectIdentifier: String] = [
        [1, 2, 840, 113_549, 1, 1, 2]: "MD2 and RSA", [1, 2, 840, 113_549, 1, 1, 3]: "MD4 and RSA",
        [1, 2, 840, 113_549, 1, 1, 4]: "MD5 and RSA", [1, 2, 840, 113_549, 1, 1, 5]: "SHA-1 and RSA",
        [1, 3, 14, 3, 2, 29]: "SHA-1 and RSA", [1, 2, 840, 10045, 4, 1]: "SHA-1 and ECDSA",
        [1, 2, 840, 10040, 4, 3]: "SHA-1 and DSA",
    ]

    /// Whose certificate it is.
    let subject: DistinguishedName
    /// How it was signed, if that is too weak.
    private let weakAlgorithm: String?
    /// How long its RSA key is, if that is too short.
    private let shortBitCount: Int?

    /// Reads a certificate; `nil` for bytes that are none.
    init?(_ bytes: [UInt8]) {
        guard let certificate = (try? DER.parse(bytes))?.parts, certificate.count == 3 else { return nil }
        // The version stands first, and may be left out.
        let body = certificate[0].parts.drop { $0.identifier.tagClass == .contextSpecific }.map(\.self)
        guard body.count >= 6, let algorithm = certificate[1].parts.first,
            let identifier = try? ASN1ObjectIdentifier(derEncoded: algorithm),
            let subject = try? DistinguishedName(derEncoded: body[4])
        else { return nil }
        self.subject = subject
        weakAlgorithm = Self.weakAlgorithms[identifier]
        shortBitCount = Self.bitCount(ofKey: body[5].parts).flatMap { $0 < Self.minBitCount ? $0 : nil }
    }

    /// What is wrong with it; the key first, since nothing speaks for anything that is signed by it.
    var fault: CertificateFault? {
        if let shortBitCount { return .weakKey(subject: "\(subject)", bitCount: shortBitCount) }
        return weakAlgorithm.map { .weakSignature(subject: "\(subject)", algorithm: $0) }
    }

    /// The length of an RSA key's modulus; `nil` for other keys.
    private static func bitCount(ofKey parts: [ASN1Node]) -> Int? {
        guard parts.count == 2, let algorithm = parts[0].parts.first,
            (try? ASN1ObjectIdentifier(derEncoded: algorithm)) == keyOfRSA,
            let key = try? DER.parse(Array(ASN1BitString(derEncoded: parts[1]).bytes)), let modulus = key.parts.first,
            case .primitive(let bytes) = modulus.content, let first = bytes.first(where: { $0 != 0 })
        else { return nil }
        return bytes.drop { $0 == 0 }.count * 8 - first.leadingZeroBitCount
    }
}

extension ASN1Node {
    /// What it consists of; nothing for a single value.
    fileprivate var parts: [ASN1Node] {
        if case .constructed(let nodes) = content { Array(nodes) } else { [] }
    }
}
#endif
