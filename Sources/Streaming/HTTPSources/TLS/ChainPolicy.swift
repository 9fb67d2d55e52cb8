#if Network
import Foundation
import SwiftASN1
import X509

/// The checks of a chain that can be asked for one by one; its signatures and constraints are the verifier's.
struct ChainPolicy: VerifierPolicy {
    /// Whether signatures may be such that others can make them.
    var allowsWeakSignatures = false
    /// When certificates must be valid; at any time if there is none.
    var date: Date?
    /// Whether a certificate's time may be over.
    var allowsExpired = false
    /// The name that the first certificate must have.
    var identity: ServerIdentityPolicy?
    /// Whether the first certificate must be a server's, and the others those of authorities for servers.
    var isServer = false
    /// The keys of which the chain must have one; any if there are none.
    var pins: Set<PublicKeyPin> = []

    let verifyingCriticalExtensions: [ASN1ObjectIdentifier] = [
        .X509ExtensionID.subjectAlternativeName, .X509ExtensionID.extendedKeyUsage,
        // Of a certificate that stands alone they ask nothing. In a chain the verifier's own policy asks for the
        // constraints, and this one for the usage.
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
    /// Whether it may stand for a server: it says so, or says nothing of its usage. Source: RFC 5280, section 4.2.1.12.
    var isForServers: Bool {
        guard let usage = try? extensions.extendedKeyUsage else {
            return extensions[oid: .X509ExtensionID.extendedKeyUsage] == nil
        }
        return usage.contains(.serverAuth) || usage.contains(.any)
    }

    /// Whether it may sign certificates of servers: it says so, or says nothing of it. Source: RFC 5280, sections 4.2.1.3
    /// and 4.2.1.12, whose usages of an authority limit those of what it signs by common practice.
    var isForSigningServers: Bool {
        guard isForServers else { return false }
        guard let usage = try? extensions.keyUsage else { return extensions[oid: .X509ExtensionID.keyUsage] == nil }
        return usage.keyCertSign
    }

    /// Whether its own key signed it.
    var isSelfSigned: Bool { subject == issuer && publicKey.isValidSignature(signature, for: self) }
}

extension Collection<Certificate> {
    /// Of a chain, the server's certificate first, the first whose signature can be forged. That of the root does
    /// not count. The library does not read certificates with weaker signatures.
    var firstWeaklySigned: Certificate? {
        prefix(Swift.max(0, count - 1)).first { $0.signatureAlgorithm == .sha1WithRSAEncryption }
    }
}

extension Sequence<Certificate> {
    /// Of a chain, the server's certificate first, the first that is used for what it is not meant for.
    var firstMisused: Certificate? {
        enumerated().first { index, certificate in
            index == 0 ? !certificate.isForServers : !certificate.isForSigningServers
        }?.element
    }
}

/// Reads the certificates where trust starts.
enum TrustRoots {
    /// Where systems have theirs: Debian and its kin, Fedora and its kin, Alpine and SUSE.
    static let systemPaths = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem",
        "/etc/ssl/ca-bundle.pem",
    ]

    /// The certificates that a policy names.
    ///
    /// - Throws: ``TLSPolicyError`` if there is no file, or none of a system's certificates can be read, or one of an
    ///   own file cannot.
    static func load(_ roots: TLSPolicy.Roots) throws(TLSPolicyError) -> [Certificate] {
        switch roots {
        case .file(let path):
            guard let text = text(path) else { throw .unreadableRoots(path: path) }
            return try certificates(text, path: path)
        case .system:
            for path in systemPaths {
                guard let text = text(path) else { continue }
                // A system has some that this library does not know the keys of.
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

    /// The certificate's subject.
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
