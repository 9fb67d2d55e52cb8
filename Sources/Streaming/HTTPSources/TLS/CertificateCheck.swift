#if Network
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
        /// Nobody asked.
        case notAsked
    }

    /// What is checked.
    public let name: Name
    /// What was found.
    public let verdict: Verdict
}
#endif
