public import RandomAccess

/// Why there is no key for a URI. Never holds a part of a key.
public enum KeyError: Error, Hashable, Sendable {
    /// Nobody knows how to fetch keys by this scheme; empty for a relative URI.
    case unhandledScheme(String, handled: [String])
    /// What was found has another length than 16 bytes.
    case wrongLength(byteCount: Int, isMore: Bool, place: String, isHexadecimal: Bool)
    /// There is no such key.
    case missing(place: String, reason: String)
    /// The key could not be read.
    case unreadable(DecryptionError)
    /// The owner of the key could not be asked, or did not answer as it should.
    case notFetched(DecryptionError)
    /// A command gave no key.
    case commandFailed(command: String, reason: String)
    /// A key file is open to others, where that is an error.
    case openToOthers(KeyWarning)
    /// What asks for keys in its own time has none.
    case noKey(reason: String)
    /// A handler refused.
    case refused(reason: String)
}

extension KeyError: CustomStringConvertible {
    /// What failed, the value, what was expected.
    public var description: String {
        switch self {
        case .unhandledScheme(let scheme, let handled):
            (scheme.isEmpty ? "nobody handles URIs without a scheme" : "nobody handles the scheme \"\(scheme)\"")
                + ": expected "
                + (handled.isEmpty
                    ? "a handler for it, of which there is none"
                    : handled.map { $0.isEmpty ? "a relative URI" : "\"\($0)\"" }.joined(separator: " or "))
        case .wrongLength(let byteCount, let isMore, let place, let isHexadecimal):
            "\(place) has \(byteCount == 0 ? "no" : "\(byteCount)")\(isMore ? " or more" : "") bytes: expected 16"
                + (isHexadecimal ? " raw ones, not hexadecimal digits" : "")
        case .missing(let place, let reason):
            "\(place) is missing: \(reason): expected 16 bytes there"
        case .unreadable(let error), .notFetched(let error):
            "\(error)"
        case .commandFailed(let command, let reason):
            "key command \(command) \(reason)"
        case .openToOthers(let warning):
            "\(warning)"
        case .noKey(let reason):
            reason
        case .refused(let reason):
            "the key's handler refused: \(reason)"
        }
    }
}
