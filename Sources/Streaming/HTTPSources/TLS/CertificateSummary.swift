#if Network
import Foundation
import X509

/// What a report says of a certificate.
public struct CertificateSummary: Hashable, Sendable {
    /// Whose it is.
    public let subject: String
    /// Who signed it.
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
