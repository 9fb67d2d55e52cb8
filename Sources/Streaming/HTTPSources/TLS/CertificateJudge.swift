#if Network
import Foundation
@_spi(DisableValidityCheck) import X509

/// Decides about a server's certificates, and says of each check what it finds on its own.
struct CertificateJudge: Sendable {
    /// The certificates that are trusted.
    let roots: [Certificate]
    /// What is asked of the others.
    let policy: TLSPolicy
    /// The name or the address that the server was asked for.
    let host: HostName

    /// Decides about what a server sent: the signatures, the time, the name, the usage and the pins, in one chain.
    ///
    /// - Parameters:
    ///   - sent: The certificates as DER, the server's own first.
    ///   - date: The time that counts.
    ///   - explainsAcceptance: Whether each check is made on its own where all are passed, too: that takes several times
    ///     as long as the verdict.
    /// - Returns: The verdict and what led to it.
    func judge(_ sent: [[UInt8]], at date: Date, explainsAcceptance: Bool) async -> CertificateReport {
        guard let first = sent.first else { return CertificateReport(fault: .noCertificate) }
        let leaf: Certificate
        do {
            leaf = try Certificate(derEncoded: first)
        } catch {
            return CertificateReport(fault: CertificateStrength(first)?.fault ?? .unreadable(reason: "\(error)"))
        }
        // Of the others, those that cannot be read are of no use.
        let chain = [leaf] + sent.dropFirst().compactMap { try? Certificate(derEncoded: $0) }
        let isAccepted = await accepts(chain, policy, at: date)
        var report = CertificateReport(isAccepted: isAccepted, chain: chain.map(CertificateSummary.init))
        guard !isAccepted || explainsAcceptance else { return report }
        let unread = sent.dropFirst().filter { (try? Certificate(derEncoded: $0)) == nil }
        report.checks = await checks(chain, unread: unread.compactMap(CertificateStrength.init), at: date)
        guard !isAccepted else { return report }
        for allowance in TLSAllowance.allCases where !policy.allowances.contains(allowance) {
            if await accepts(chain, policy.allowing(allowance), at: date) { report.helpful.append(allowance) }
        }
        return report
    }

    /// Whether some chain meets all of a policy at once.
    private func accepts(_ chain: [Certificate], _ policy: TLSPolicy, at date: Date) async -> Bool {
        let checks = ChainPolicy(
            date: date, allowsExpired: policy.allowances.contains(.expired),
            identity: policy.allowances.contains(.anyName) ? nil : host.identity, isServer: true, pins: policy.pins)
        return await path(chain, isTrusted: !policy.allowances.contains(.anyRoot), checks) != nil
    }

    /// A chain that meets some checks: to a trusted root, or else the server's certificate alone.
    func path(_ chain: [Certificate], isTrusted: Bool, _ checks: ChainPolicy) async -> [Certificate]? {
        // A certificate that is trusted itself has nothing above it, and need not be an authority's.
        if !isTrusted || roots.contains(chain[0]) {
            var alone = Verifier(rootCertificates: CertificateStore(chain.prefix(1))) { checks }
            if case .validCertificate(let path) = await alone.validate(
                leaf: chain[0], intermediates: CertificateStore())
            {
                return Array(path)
            }
        }
        guard isTrusted else { return nil }
        var verifier = Verifier(rootCertificates: CertificateStore(roots)) {
            RFC5280Policy.withValidityCheckDisabled()
            checks
        }
        let others = CertificateStore(chain.dropFirst())
        guard case .validCertificate(let path) = await verifier.validate(leaf: chain[0], intermediates: others) else {
            return nil
        }
        return Array(path)
    }
}
#endif
