#if Network
public import ByteSources
import Foundation
import X509

/// What was found about a server's certificates.
public struct CertificateReport: Hashable, Sendable {
    /// Whether the policy takes them.
    public var isAccepted: Bool
    /// What was sent, the server's own certificate first, without those that cannot be read.
    public var chain: [CertificateSummary]
    /// Each check on its own; none if there is nothing to check.
    public var checks: [CertificateCheck]
    /// What of the policy would have to be given up, each alone enough; none if the certificates are taken.
    public var helpful: [TLSAllowance]
    /// Why there is nothing to check.
    private var unreadable: CertificateFault?

    init(isAccepted: Bool, chain: [CertificateSummary]) {
        self.isAccepted = isAccepted
        self.chain = chain
        checks = []
        helpful = []
    }

    init(fault: CertificateFault) {
        self.init(isAccepted: false, chain: [])
        unreadable = fault
    }

    /// Everything for which the certificates are refused; empty if they are taken.
    public var faults: [CertificateFault] {
        guard !isAccepted else { return [] }
        if let unreadable { return [unreadable] }
        let found = checks.compactMap { check in
            if case .failed(let fault) = check.verdict { fault } else { nil as CertificateFault? }
        }
        // Each check passes by some chain, and no chain passes all.
        return found.isEmpty ? [.brokenChain(subject: chain.first?.subject ?? "")] : found
    }
}

/// One check of a server's certificates, with what it found on its own.
public struct CertificateCheck: Hashable, Sendable {
    /// What is checked.
    public enum Name: String, CaseIterable, Hashable, Sendable {
        /// Signatures up to a trusted root, by certificates that may sign.
        case root
        /// The time is within that of each certificate.
        case dates
        /// The server's certificate has the name that was asked for.
        case name
        /// The server's certificate is for servers.
        case usage
        /// One of the keys is a pinned one.
        case pin
    }

    /// What a check found.
    public enum Verdict: Hashable, Sendable {
        /// Nothing.
        case passed
        /// A fault, for which the connection is refused.
        case failed(CertificateFault)
        /// A fault that the policy allows.
        case allowed(CertificateFault, by: TLSAllowance)
        /// It was not asked for.
        case notAsked
    }

    /// What is checked.
    public let name: Name
    /// What was found.
    public let verdict: Verdict
}

/// What a report says of a certificate.
public struct CertificateSummary: Hashable, Sendable {
    /// Its subject.
    public let subject: String
    /// Its issuer.
    public let issuer: String
    /// The names and addresses of servers that it is for.
    public let names: [String]
    /// From when on it is valid, as ISO 8601 in UTC.
    public let notBefore: String
    /// Until when it is valid, as ISO 8601 in UTC.
    public let notAfter: String
    /// The kind of its key.
    public let key: String
    /// What a policy would pin its key by.
    public let pin: String

    init(_ certificate: Certificate) {
        subject = "\(certificate.subject)"
        issuer = "\(certificate.issuer)"
        names = certificate.serverNames
        notBefore = certificate.notValidBefore.formatted(.iso8601)
        notAfter = certificate.notValidAfter.formatted(.iso8601)
        key = "\(certificate.publicKey)".replacing(".PublicKey", with: "")
        pin = PublicKeyPin(certificate).map { "\($0)" } ?? ""
    }
}

extension Certificate {
    /// The names and addresses that it is for, as text.
    var serverNames: [String] {
        guard let names = try? extensions.subjectAlternativeNames else { return [] }
        return names.compactMap { name in
            switch name {
            case .dnsName(let text): text
            case .ipAddress(let address): Self.text(address.bytes)
            default: nil
            }
        }
    }

    private static func text(_ address: ArraySlice<UInt8>) -> String {
        if address.count == 4 { return address.map { "\($0)" }.joined(separator: ".") }
        let bytes = Array(address)
        let groups = stride(from: 0, to: bytes.count - 1, by: 2).map {
            String(UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]), radix: 16)
        }
        return groups.joined(separator: ":")
    }
}
#endif
