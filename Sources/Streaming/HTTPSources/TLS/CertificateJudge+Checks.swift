#if Network
import Foundation
import X509

/// Each check on its own.
extension CertificateJudge {
    /// What each check finds, in the order of their names.
    ///
    /// - Parameters:
    ///   - chain: The certificates that were sent, the server's own first.
    ///   - unread: What else was sent, and cannot be read.
    ///   - date: The time that counts.
    /// - Returns: A check for each name.
    func checks(
        _ chain: [Certificate], unread: [CertificateStrength], at date: Date
    ) async -> [CertificateCheck] {
        let trusted = await path(chain, isTrusted: true, ChainPolicy())
        // What is not asked to lead anywhere speaks for the first certificate only.
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

    /// Which certificate's time is not now, of a chain in which there is one.
    private func datesCheck(_ path: [Certificate]?, at date: Date) -> CertificateCheck {
        guard let path else { return check(.dates, nil, nil) }
        // What has not begun is worse: nothing allows it.
        if let early = path.first(where: { date < $0.notValidBefore }) {
            let from = early.notValidBefore.formatted(.iso8601)
            return check(.dates, .notYetValid(subject: "\(early.subject)", notBefore: from), nil)
        }
        let late = path.first { $0.notValidAfter < date } ?? path[0]
        let until = late.notValidAfter.formatted(.iso8601)
        return check(.dates, .expired(subject: "\(late.subject)", notAfter: until), .expired)
    }

    /// Why no chain leads to a root.
    private func rootFault(_ chain: [Certificate], unread: [CertificateStrength]) async -> CertificateFault {
        let leaf = chain[0]
        if let weak = await path(chain, isTrusted: true, ChainPolicy(allowsWeakSignatures: true))?.firstWeaklySigned {
            return .weakSignature(subject: "\(weak.subject)", algorithm: "SHA-1 and RSA")
        }
        if leaf.isSelfSigned { return .selfSigned(subject: "\(leaf.subject)") }
        var (last, rest) = (leaf, Array(chain.dropFirst()))
        while let place = rest.firstIndex(where: { $0.subject == last.issuer }) {
            last = rest.remove(at: place)
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
