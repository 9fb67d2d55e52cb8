#if Network
import ByteSources
import FoundationEssentials
@_spi(DisableValidityCheck) import X509

/// Decides whether a server's certificates are accepted, and reports the finding of each check on its own.
struct CertificateJudge: Sendable {
    /// The trusted certificates.
    let roots: [Certificate]
    /// The rules for all other certificates.
    let policy: TLSPolicy
    /// The name or address of the server that the client asked for.
    let host: HostName

    /// Judges the certificates that a server sent: the signatures, the time, the name, the usage and the pins, in one
    /// chain.
    ///
    /// - Parameters:
    ///   - sent: The certificates as DER, the server's own first.
    ///   - date: The time that counts.
    ///   - explainsAcceptance: True to make each check on its own even if all pass. That takes several times as long as
    ///     the verdict.
    /// - Returns: The verdict and the reasons for it.
    func judge(_ sent: [[UInt8]], at date: Date, explainsAcceptance: Bool) async -> CertificateReport {
        guard let first = sent.first else { return CertificateReport(fault: .noCertificate) }
        let leaf: Certificate
        do {
            leaf = try Certificate(derEncoded: first)
        } catch {
            return CertificateReport(fault: CertificateStrength(first)?.fault ?? .unreadable(reason: "\(error)"))
        }
        // Further certificates that cannot be read are ignored.
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

    /// Returns whether one chain meets the whole policy.
    private func accepts(_ chain: [Certificate], _ policy: TLSPolicy, at date: Date) async -> Bool {
        let checks = ChainPolicy(
            date: date, allowsExpired: policy.allowances.contains(.expired),
            identity: policy.allowances.contains(.anyName) ? nil : host.identity, isServer: true, pins: policy.pins)
        return await path(chain, isTrusted: !policy.allowances.contains(.anyRoot), checks) != nil
    }

    /// Returns a chain that passes some checks. If it must be trusted, it leads to a trusted root, or is a trusted
    /// certificate alone; otherwise it is the server's certificate alone.
    func path(_ chain: [Certificate], isTrusted: Bool, _ checks: ChainPolicy) async -> [Certificate]? {
        // A certificate that is trusted itself needs no issuer, and need not be an authority's.
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

/// The checks one by one.
extension CertificateJudge {
    /// Returns the finding of each check, in the order of their names.
    ///
    /// - Parameters:
    ///   - chain: The certificates that were sent, the server's own first.
    ///   - unread: The certificates that were sent but cannot be read.
    ///   - date: The time that counts.
    /// - Returns: A check for each name.
    func checks(
        _ chain: [Certificate], unread: [CertificateStrength], at date: Date
    ) async -> [CertificateCheck] {
        let trusted = await path(chain, isTrusted: true, ChainPolicy())
        // Without a trusted chain, the checks apply to the first certificate only.
        let hasChain = trusted != nil && !policy.allowances.contains(.anyRoot)
        let isTimely = await path(chain, isTrusted: hasChain, ChainPolicy(date: date)) != nil
        let isNamed = await path(chain, isTrusted: false, ChainPolicy(identity: host.identity)) != nil
        let isPinned = await path(chain, isTrusted: hasChain, ChainPolicy(pins: policy.pins)) != nil
        let isUsable = await path(chain, isTrusted: hasChain, ChainPolicy(isServer: true)) != nil
        let leaf = chain[0]
        let rootFault = trusted == nil ? await rootFault(chain, unread: unread) : nil
        let misused = isUsable ? nil : (hasChain ? trusted ?? [leaf] : [leaf]).firstMisused ?? leaf
        return [
            check(.root, rootFault, .anyRoot),
            datesCheck(isTimely ? nil : hasChain ? trusted : [leaf], at: date),
            check(.name, isNamed ? nil : .wrongName(host: host.text, names: Self.names(leaf)), .anyName),
            check(.usage, misused.map { .wrongUsage(subject: "\($0.subject)") }, nil),
            policy.pins.isEmpty
                ? CertificateCheck(name: .pin, verdict: .notAsked)
                : check(
                    .pin, isPinned ? nil : .wrongKey(found: "\(PublicKeyPin(leaf).map { "\($0)" } ?? "none")"), nil),
        ]
    }

    private func check(
        _ name: CertificateCheck.Name, _ fault: CertificateFault?, _ allowance: TLSAllowance?
    ) -> CertificateCheck {
        guard let fault else { return CertificateCheck(name: name, verdict: .passed) }
        if let allowance, policy.allowances.contains(allowance) {
            return CertificateCheck(name: name, verdict: .allowed(fault, by: allowance))
        }
        return CertificateCheck(name: name, verdict: .failed(fault))
    }

    /// Returns the check of dates. The path has a certificate outside of its dates; it is `nil` if the check passed.
    private func datesCheck(_ path: [Certificate]?, at date: Date) -> CertificateCheck {
        guard let path else { return check(.dates, nil, nil) }
        // A certificate that is not valid yet is worse, because no switch allows it.
        if let early = path.first(where: { date < $0.notValidBefore }) {
            let from = early.notValidBefore.formatted(.iso8601)
            return check(.dates, .notYetValid(subject: "\(early.subject)", notBefore: from), nil)
        }
        let late = path.first { $0.notValidAfter < date } ?? path[0]
        let until = late.notValidAfter.formatted(.iso8601)
        return check(.dates, .expired(subject: "\(late.subject)", notAfter: until), .expired)
    }

    /// Returns the reason why no chain leads to a root.
    private func rootFault(_ chain: [Certificate], unread: [CertificateStrength]) async -> CertificateFault {
        let leaf = chain[0]
        if let weak = await path(chain, isTrusted: true, ChainPolicy(allowsWeakSignatures: true))?.firstWeaklySigned {
            return .weakSignature(subject: "\(weak.subject)", algorithm: "SHA-1 and RSA")
        }
        if leaf.isSelfSigned { return .selfSigned(subject: "\(leaf.subject)") }
        var (last, rest) = (leaf, Array(chain.dropFirst()))
        while let index = rest.firstIndex(where: { $0.subject == last.issuer }) {
            last = rest.remove(at: index)
            if last.subject == last.issuer { break }
        }
        if let fault = unread.first(where: { $0.subject == last.issuer && $0.fault != nil })?.fault { return fault }
        if roots.contains(where: { $0.subject == last.issuer }) { return .brokenChain(subject: "\(leaf.subject)") }
        return last.subject == last.issuer
            ? .unknownRoot(subject: "\(last.subject)") : .incompleteChain(issuer: "\(last.issuer)")
    }

    private static func names(_ leaf: Certificate) -> [String] {
        leaf.serverNames.isEmpty ? ["\(leaf.subject)"] : leaf.serverNames
    }
}
#endif
