#if Network
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
#endif
