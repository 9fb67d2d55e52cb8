#if Network
/// The reason why a connection is not secure.
public enum TLSFailure: Error, Hashable, Sendable {
    /// The certificates are refused.
    case refused(CertificateReport)
    /// The server speaks another protocol.
    case notTLS(spoken: String)
    /// The server speaks only versions that are no longer secure.
    case oldVersion(spoken: String?)
    /// The server ended the handshake with an alert.
    case alert(String)
    /// The server closed the connection during the handshake, or before it.
    case closed(afterByteCount: Int)
    /// The handshake did not end in time.
    case silent(afterByteCount: Int, milliseconds: Int64)
    /// The handshake failed for another reason.
    case handshake(reason: String)

    /// The failure's stable name; for refused certificates, the name of the first fault.
    public var name: String {
        switch self {
        case .refused(let report): report.faults.first?.name ?? "refused"
        case .notTLS: "notTLS"
        case .oldVersion: "oldVersion"
        case .alert: "alert"
        case .closed: "closedInHandshake"
        case .silent: "noAnswer"
        case .handshake: "handshakeFailed"
        }
    }
}

extension TLSFailure: CustomStringConvertible {
    /// The name, the finding, and the expectation.
    public var description: String {
        switch self {
        case .refused(let report): report.faults.map { "\($0)" }.joined(separator: "; ")
        case .notTLS(let spoken): "\(name): the server spoke \(spoken): expected TLS"
        case .oldVersion(let spoken):
            "\(name): the server speaks \(spoken ?? "neither TLS 1.2 nor 1.3"): expected TLS 1.2 or 1.3"
        case .alert(let text): "\(name): the server ended the handshake with \(text): expected it to go on"
        case .closed(let count):
            "\(name): the server closed the connection after \(count) bytes of it: expected the handshake to end first"
        case .silent(let count, let milliseconds):
            "\(name): \(count) bytes in \(milliseconds) ms: expected the handshake to be done by then"
        case .handshake(let reason): "\(name): \(reason): expected a handshake"
        }
    }
}

/// A fault of a server's certificates.
public enum CertificateFault: Hashable, Sendable {
    /// The server sent no certificate.
    case noCertificate
    /// The server's certificate cannot be read.
    case unreadable(reason: String)
    /// A certificate's signature has an algorithm for which others can forge signatures.
    case weakSignature(subject: String, algorithm: String)
    /// A certificate's RSA key is so short that others can compute it.
    case weakKey(subject: String, bitCount: Int)
    /// The server's certificate is signed by its own key, and is not itself trusted.
    case selfSigned(subject: String)
    /// The chain ends in a root that is not trusted.
    case unknownRoot(subject: String)
    /// The issuer of the last certificate was not sent and is not trusted. Either certificates in between are missing,
    /// or the authority is unknown.
    case incompleteChain(issuer: String)
    /// There is a path to a trusted root, but its certificates do not allow it, or a signature is wrong.
    case brokenChain(subject: String)
    /// A certificate has expired.
    case expired(subject: String, notAfter: String)
    /// A certificate is not valid yet.
    case notYetValid(subject: String, notBefore: String)
    /// The certificate is for other names.
    case wrongName(host: String, names: [String])
    /// The certificate is not for servers, or an authority's certificate is not for signing those.
    case wrongUsage(subject: String)
    /// None of the keys is pinned.
    case wrongKey(found: String)

    /// The fault's stable name.
    public var name: String {
        switch self {
        case .noCertificate: "noCertificate"
        case .unreadable: "unreadableCertificate"
        case .weakSignature: "weakSignature"
        case .weakKey: "weakKey"
        case .selfSigned: "selfSigned"
        case .unknownRoot: "unknownRoot"
        case .incompleteChain: "incompleteChain"
        case .brokenChain: "brokenChain"
        case .expired: "expired"
        case .notYetValid: "notYetValid"
        case .wrongName: "wrongName"
        case .wrongUsage: "wrongUsage"
        case .wrongKey: "wrongKey"
        }
    }
}

extension CertificateFault: CustomStringConvertible {
    /// The name, the finding, and the expectation.
    public var description: String { "\(name): \(explanation)" }

    private var explanation: String {
        switch self {
        case .noCertificate: "the server sent no certificate: expected one"
        case .unreadable(let reason): "the server's certificate cannot be read (\(reason)): expected X.509"
        case .weakSignature(let subject, let algorithm):
            "\"\(subject)\" is signed with \(algorithm), which others can imitate: expected SHA-256 or better"
        case .weakKey(let subject, let bitCount):
            "\"\(subject)\" has an RSA key of \(bitCount) bits, which others can find: expected at least 2048"
        case .selfSigned(let subject):
            "\"\(subject)\" is signed by its own key: expected a trusted root's signature, or the certificate itself "
                + "among the trusted ones"
        case .unknownRoot(let subject): "the chain ends in \"\(subject)\": expected a root that is trusted"
        case .incompleteChain(let issuer):
            "the issuer \"\(issuer)\" was not sent and is not trusted: expected the certificates in between, or an "
                + "authority that is known"
        case .brokenChain(let subject):
            "\"\(subject)\" has no valid way to a root: expected signatures that match, by certificates that may sign"
        case .expired(let subject, let notAfter): "\"\(subject)\" was valid until \(notAfter): expected it to be now"
        case .notYetValid(let subject, let notBefore):
            "\"\(subject)\" is valid from \(notBefore): expected it to be now"
        case .wrongName(let host, let names):
            "the certificate is for \(names.isEmpty ? "no name" : names.joined(separator: ", ")): expected \(host)"
        case .wrongUsage(let subject):
            "\"\(subject)\" is not for servers: expected the usage serverAuth, and keyCertSign of an authority"
        case .wrongKey(let found): "the key is \(found): expected one of those that are pinned"
        }
    }
}
#endif
