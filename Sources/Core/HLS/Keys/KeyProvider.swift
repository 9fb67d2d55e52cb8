public import RandomAccess

/// Where keys come from.
///
/// A provider is asked once for each URI of a playlist, and again when its ``version(for:)`` has changed; what it returns
/// is kept by a ``KeyRing``, or by a session of the module `Keys`.
public protocol KeyProvider: Sendable {
    /// Finds a key.
    ///
    /// - Parameter uri: The key's URI as the playlist has it.
    /// - Returns: The key, and what is worth a warning.
    /// - Throws: `KeyError`.
    func key(for uri: String) throws(KeyError) -> ProvidedKey

    /// What tells a key from the one that was there before it, such as a file's version.
    ///
    /// - Parameter uri: The key's URI as the playlist has it.
    /// - Returns: `nil` where it cannot be known, or there is no key: as long as it stays so, nobody is asked again.
    func version(for uri: String) -> String?

    /// Takes note of keys that are probably asked for soon, so that they may come together.
    ///
    /// - Parameter uris: The keys' URIs as the playlist has them.
    func expect(_ uris: [String])
}

extension KeyProvider {
    /// Keys are as they were.
    public func version(for uri: String) -> String? { nil }

    /// Keys come one by one.
    public func expect(_ uris: [String]) {}
}

/// A key, and what its owner should know about where it was found.
public struct ProvidedKey: Sendable {
    /// The key.
    public let key: SecretKey
    /// What is worth a warning.
    public let warnings: [KeyWarning]

    /// Creates a provider's answer.
    public init(_ key: SecretKey, warnings: [KeyWarning] = []) {
        self.key = key
        self.warnings = warnings
    }
}

/// Something about a key that is no error, and should not be.
public enum KeyWarning: Hashable, Sendable, CustomStringConvertible {
    /// Others than the file's owner may read it.
    case readableByOthers(path: String, permissions: UInt32)
    /// Others than the owner of a folder with keys may list it, or change what is in it.
    case folderOpenToOthers(path: String, permissions: UInt32)
    /// The key came over a connection that others can read.
    case inTheClear(place: String)

    /// What is wrong, and what to do.
    public var description: String {
        switch self {
        case .readableByOthers(let path, let permissions):
            "key file \(path) can be read by others (permissions \(String(permissions, radix: 8))): expected 600"
        case .folderOpenToOthers(let path, let permissions):
            "key folder \(path) is open to others (permissions \(String(permissions, radix: 8))): expected 700"
        case .inTheClear(let place):
            "\(place) came without TLS, for anybody on the way to read: expected https"
        }
    }
}
