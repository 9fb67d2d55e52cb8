#if Network
/// Why a connection that should be secure is none.
public enum TLSFailure: Error, Hashable, Sendable {
    /// The certificates are refused.
    case refused(CertificateReport)
    /// The server speaks something else.
    case notTLS(spoken: String)
    /// The server speaks only versions that are not secure any more.
    case oldVersion(spoken: String?)
    /// The server ended the handshake, and said why.
    case alert(String)
    /// The server closed the connection within the handshake, or before it.
    case closed(afterByteCount: Int)
    /// The handshake was not done in time.
    case silent(afterByteCount: Int, milliseconds: Int64)
    /// The handshake failed for another reason.
    case handshake(reason: String)

    /// The failure's name, which does not change; for refused certificates that of the first fault.
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
    /// The name, what was found, and what was expected.
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
#endif
