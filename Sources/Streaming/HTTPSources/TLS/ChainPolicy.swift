#if Network
import FoundationEssentials
import SwiftASN1
import X509

/// The checks of a chain that a caller can ask for one by one. The verifier itself checks signatures and constraints.
struct ChainPolicy: VerifierPolicy {
    /// True if forgeable signatures are allowed.
    var allowsWeakSignatures = false
    /// The time at which certificates must be valid; `nil` for any time.
    var date: Date?
    /// True if certificates may have expired.
    var allowsExpired = false
    /// The name that the first certificate must have; `nil` for any name.
    var identity: ServerIdentityPolicy?
    /// True if the first certificate must be for servers, and the others must belong to authorities for servers.
    var isServer = false
    /// The keys of which the chain must have one; empty for any key.
    var pins: Set<PublicKeyPin> = []

    let verifyingCriticalExtensions: [ASN1ObjectIdentifier] = [
        .X509ExtensionID.subjectAlternativeName, .X509ExtensionID.extendedKeyUsage,
        // They demand nothing of a certificate that stands alone. In a chain, the verifier's own policy checks the
        // constraints, and this one checks the usage.
        .X509ExtensionID.basicConstraints, .X509ExtensionID.keyUsage,
    ]

    mutating func chainMeetsPolicyRequirements(chain: UnverifiedCertificateChain) -> PolicyEvaluationResult {
        guard allowsWeakSignatures || chain.firstWeaklySigned == nil else {
            return .failsToMeetPolicy(reason: "weakly signed")
        }
        if let date {
            for certificate in chain {
                guard certificate.notValidBefore <= date else { return .failsToMeetPolicy(reason: "not yet valid") }
                guard allowsExpired || date <= certificate.notValidAfter else {
                    return .failsToMeetPolicy(reason: "expired")
                }
            }
        }
        guard !isServer || chain.firstMisused == nil else { return .failsToMeetPolicy(reason: "not for servers") }
        guard pins.isEmpty || chain.contains(where: { PublicKeyPin($0).map(pins.contains) ?? false }) else {
            return .failsToMeetPolicy(reason: "no pinned key")
        }
        return identity?.chainMeetsPolicyRequirements(chain: chain) ?? .meetsPolicy
    }
}

extension Certificate {
    /// True if the certificate may identify a server: it says so, or does not restrict its usage. Source: RFC 5280,
    /// section 4.2.1.12.
    var isForServers: Bool {
        guard let usage = try? extensions.extendedKeyUsage else {
            return extensions[oid: .X509ExtensionID.extendedKeyUsage] == nil
        }
        return usage.contains(.serverAuth) || usage.contains(.any)
    }

    /// True if the certificate may sign those of servers: it says so, or does not restrict its usage. By common
    /// practice, the usages of an authority limit those of the certificates that it signs. Source: RFC 5280, sections
    /// 4.2.1.3 and 4.2.1.12.
    var isForSigningServers: Bool {
        guard isForServers else { return false }
        guard let usage = try? extensions.keyUsage else { return extensions[oid: .X509ExtensionID.keyUsage] == nil }
        return usage.keyCertSign
    }

    /// True if the certificate's own key signed it.
    var isSelfSigned: Bool { subject == issuer && publicKey.isValidSignature(signature, for: self) }
}

extension Collection<Certificate> {
    /// The first certificate of a chain whose signature can be forged. The chain starts with the server's certificate;
    /// the root's signature does not count. The library does not read certificates with weaker signatures.
    var firstWeaklySigned: Certificate? {
        prefix(Swift.max(0, count - 1)).first { $0.signatureAlgorithm == .sha1WithRSAEncryption }
    }
}

extension Sequence<Certificate> {
    /// The first certificate of a chain that is used for another purpose than its own. The chain starts with the
    /// server's certificate.
    var firstMisused: Certificate? {
        enumerated().first { index, certificate in
            index == 0 ? !certificate.isForServers : !certificate.isForSigningServers
        }?.element
    }
}

/// Reads the certificates in which trust starts.
enum TrustRoots {
    /// The files of the systems' certificates: Debian and its kin, Fedora and its kin, Alpine and SUSE.
    static let systemPaths = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem",
        "/etc/ssl/ca-bundle.pem",
    ]

    /// Returns the certificates that a policy names.
    ///
    /// - Throws: ``TLSPolicyError`` if there is no file, if none of the system's certificates can be read, or if a
    ///   certificate of the user's file cannot be read.
    static func load(_ roots: TLSPolicy.Roots) throws(TLSPolicyError) -> [Certificate] {
        switch roots {
        case .file(let path):
            guard let text = text(path) else { throw .unreadableRoots(path: path) }
            return try certificates(text, path: path)
        case .system:
            for path in systemPaths {
                guard let text = text(path) else { continue }
                // Some certificates of a system have keys that this library does not support.
                let documents = (try? PEMDocument.parseMultiple(pemString: text)) ?? []
                let roots = documents.compactMap { try? Certificate(pemDocument: $0) }
                if !roots.isEmpty { return roots }
            }
            throw .noSystemRoots(paths: systemPaths)
        }
    }

    private static func certificates(_ text: String, path: String) throws(TLSPolicyError) -> [Certificate] {
        var certificates: [Certificate] = []
        do {
            for document in try PEMDocument.parseMultiple(pemString: text) {
                certificates.append(try Certificate(pemDocument: document))
            }
        } catch {
            throw .invalidRoots(path: path, reason: "certificate \(certificates.count + 1): \(error)")
        }
        guard !certificates.isEmpty else { throw .invalidRoots(path: path, reason: "no certificate") }
        return certificates
    }

    private static func text(_ path: String) -> String? {
        FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    }
}

/// The weaknesses of a certificate, read from its bytes, because the library does not read all weak certificates.
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

    /// The certificate's subject.
    let subject: DistinguishedName
    /// The algorithm of its signature, if that is too weak.
    private let weakAlgorithm: String?
    /// The length of its RSA key in bits, if that is too short.
    private let shortBitCount: Int?

    /// Reads a certificate; `nil` if the bytes are not one.
    init?(_ bytes: [UInt8]) {
        guard let certificate = (try? DER.parse(bytes))?.parts, certificate.count == 3 else { return nil }
        // The version comes first, and is optional.
        let body = certificate[0].parts.drop { $0.identifier.tagClass == .contextSpecific }.map(\.self)
        guard body.count >= 6, let algorithm = certificate[1].parts.first,
            let identifier = try? ASN1ObjectIdentifier(derEncoded: algorithm),
            let subject = try? DistinguishedName(derEncoded: body[4])
        else { return nil }
        self.subject = subject
        weakAlgorithm = Self.weakAlgorithms[identifier]
        shortBitCount = Self.bitCount(ofKey: body[5].parts).flatMap { $0 < Self.minBitCount ? $0 : nil }
    }

    /// The certificate's fault. The key's comes first, because all that a weak key signs is worthless.
    var fault: CertificateFault? {
        if let shortBitCount { return .weakKey(subject: "\(subject)", bitCount: shortBitCount) }
        return weakAlgorithm.map { .weakSignature(subject: "\(subject)", algorithm: $0) }
    }

    /// Returns the length of an RSA key's modulus in bits; `nil` for other keys.
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
    /// The parts of a constructed value; empty for a single value.
    fileprivate var parts: [ASN1Node] {
        if case .constructed(let nodes) = content { Array(nodes) } else { [] }
    }
}
#endif
