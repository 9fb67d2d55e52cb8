#if Network
/// Why a policy cannot be followed.
public enum TLSPolicyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A file of trusted certificates is not there or cannot be read.
    case unreadableRoots(path: String)
    /// A file of trusted certificates has something else in it.
    case invalidRoots(path: String, reason: String)
    /// The system has no trusted certificates.
    case noSystemRoots(paths: [String])
    /// The TLS library failed.
    case library(reason: String)

    /// What failed, the value, what was expected.
    public var description: String {
        switch self {
        case .unreadableRoots(let path): "certificates \(path): expected a file that can be read"
        case .invalidRoots(let path, let reason): "certificates \(path): \(reason): expected PEM, one or more"
        case .noSystemRoots(let paths):
            "the system trusts no certificate: expected some in \(paths.joined(separator: ", ")), or an own file"
        case .library(let reason): "TLS cannot be set up: \(reason): expected it to start"
        }
    }
}
#endif
