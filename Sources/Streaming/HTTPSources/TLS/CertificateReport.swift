#if Network
public import ByteSources
import FoundationEssentials
import X509

/// The findings about a server's certificates.
public struct CertificateReport: Hashable, Sendable {
    /// True if the policy accepts the certificates.
    public var isAccepted: Bool
    /// The certificates that were sent, the server's own first, without those that cannot be read.
    public var chain: [CertificateSummary]
    /// The checks one by one; empty if there is nothing to check.
    public var checks: [CertificateCheck]
    /// The switches that would each be enough to accept the certificates; empty if they are accepted.
    public var helpful: [TLSAllowance]
    /// The reason why there is nothing to check.
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

    /// All reasons for refusing the certificates; empty if they are accepted.
    public var faults: [CertificateFault] {
        guard !isAccepted else { return [] }
        if let unreadable { return [unreadable] }
        let found = checks.compactMap { check in
            if case .failed(let fault) = check.verdict { fault } else { nil as CertificateFault? }
        }
        // Each check passes for some chain, but no chain passes all checks.
        return found.isEmpty ? [.brokenChain(subject: chain.first?.subject ?? "")] : found
    }
}

/// A check of a server's certificates on its own, with its finding.
public struct CertificateCheck: Hashable, Sendable {
    /// The subject of a check.
    public enum Name: String, CaseIterable, Hashable, Sendable {
        /// Signatures up to a trusted root, by certificates that may sign.
        case root
        /// The time lies within the dates of each certificate.
        case dates
        /// The server's certificate has the name that the client asked for.
        case name
        /// The server's certificate is for servers.
        case usage
        /// One of the keys is a pinned one.
        case pin
    }

    /// The finding of a check.
    public enum Verdict: Hashable, Sendable {
        /// There is no fault.
        case passed
        /// A fault for which the client refuses the connection.
        case failed(CertificateFault)
        /// A fault that the policy allows.
        case allowed(CertificateFault, by: TLSAllowance)
        /// The policy did not ask for the check.
        case notAsked
    }

    /// The subject of the check.
    public let name: Name
    /// The finding.
    public let verdict: Verdict
}

/// The facts about a certificate in a report.
public struct CertificateSummary: Encodable, Hashable, Sendable {
    /// Its subject.
    public let subject: String
    /// Its issuer.
    public let issuer: String
    /// The server names and addresses that the certificate is for.
    public let names: [String]
    /// The start of its validity, as ISO 8601 in UTC.
    public let notBefore: String
    /// The end of its validity, as ISO 8601 in UTC.
    public let notAfter: String
    /// The kind of its key.
    public let key: String
    /// The text by which a policy would pin its key.
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
    /// The names and addresses that the certificate is for, as text.
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
