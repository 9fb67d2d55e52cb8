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
    /// Of a chain, the server's certificate first, the first whose signature anybody could make. That of the root counts
    /// for nothing.
    ///
    /// Whoever is signed by anything weaker is none that the library reads.
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
#endif
