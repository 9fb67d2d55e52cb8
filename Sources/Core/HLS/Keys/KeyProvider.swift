public import RandomAccess

/// A source of keys.
///
/// A ``KeyRing``, or a session of the module `Keys`, asks a provider once for each URI of a playlist, and keeps the
/// answer. It asks again when the ``version(for:)`` has changed.
public protocol KeyProvider: Sendable {
    /// Returns a key.
    ///
    /// - Parameter uri: The key's URI as in the playlist.
    /// - Returns: The key, and warnings.
    /// - Throws: `KeyError`.
    func key(for uri: String) throws(KeyError) -> ProvidedKey

    /// Returns a text that differs between a key and its predecessor, such as a file's version.
    ///
    /// - Parameter uri: The key's URI as in the playlist.
    /// - Returns: `nil` if the version is unknown, or there is no key. As long as it stays `nil`, the provider is not
    ///   asked again.
    func version(for uri: String) -> String?

    /// Tells the provider which keys will probably be requested soon, so that it can fetch them together.
    ///
    /// - Parameter uris: The keys' URIs as in the playlist.
    func expect(_ uris: [String])
}

extension KeyProvider {
    /// Returns `nil`: keys do not change.
    public func version(for uri: String) -> String? { nil }

    /// Does nothing: the provider fetches keys one by one.
    public func expect(_ uris: [String]) {}
}

/// A key, and warnings about its source.
public struct ProvidedKey: Sendable {
    /// The key.
    public let key: SecretKey
    /// The warnings about the key's source.
    public let warnings: [KeyWarning]

    /// A provider's answer.
    public init(_ key: SecretKey, warnings: [KeyWarning] = []) {
        self.key = key
        self.warnings = warnings
    }
}

/// A problem with a key's source that is not an error.
public enum KeyWarning: Hashable, Sendable, CustomStringConvertible {
    /// Users other than the file's owner may read it.
    case readableByOthers(path: String, permissions: UInt32)
    /// Users other than the owner of a folder with keys may list it, or change its content.
    case folderOpenToOthers(path: String, permissions: UInt32)
    /// The key came over an unencrypted connection.
    case inTheClear(location: String)

    /// The problem, and the remedy.
    public var description: String {
        switch self {
        case .readableByOthers(let path, let permissions):
            "key file \(path) can be read by others (permissions \(String(permissions, radix: 8))): expected 600"
        case .folderOpenToOthers(let path, let permissions):
            "key folder \(path) is open to others (permissions \(String(permissions, radix: 8))): expected 700"
        case .inTheClear(let location):
            "\(location) came without TLS, so that others on the way can read it: expected https"
        }
    }
}

/// The reason that a URI has no key. It never contains a part of a key.
public enum KeyError: Error, Hashable, Sendable {
    /// No provider handles this scheme; empty for a relative URI.
    case unhandledScheme(String, handled: [String])
    /// The data is not 16 bytes long.
    case wrongLength(byteCount: Int, isMore: Bool, location: String, isHexadecimal: Bool)
    /// A `data` URI cannot be decoded.
    case invalidDataURI(reason: String)
    /// The key does not exist.
    case missing(location: String, reason: String)
    /// The key could not be read.
    case unreadable(DecryptionError)
    /// The owner of the key could not be reached, or gave no proper answer.
    case notFetched(DecryptionError)
    /// A command printed no key.
    case commandFailed(command: String, reason: String)
    /// Other users may access a key file, and that is an error here.
    case openToOthers(KeyWarning)
    /// A source that fetches keys by itself, such as a session, has none.
    case noKey(reason: String)
    /// The handler refused.
    case refused(reason: String)
}

extension KeyError: CustomStringConvertible {
    /// The failure, the value, and the expectation.
    public var description: String {
        switch self {
        case .unhandledScheme(let scheme, let handled):
            (scheme.isEmpty
                ? "no provider handles URIs without a scheme" : "no provider handles the scheme \"\(scheme)\"")
                + ": expected "
                + (handled.isEmpty
                    ? "a handler for it, of which there is none"
                    : handled.map { $0.isEmpty ? "a relative URI" : "\"\($0)\"" }.joined(separator: " or "))
        case .wrongLength(let byteCount, let isMore, let location, let isHexadecimal):
            "\(location) has \(byteCount == 0 ? "no" : "\(byteCount)")\(isMore ? " or more" : "") bytes: expected 16"
                + (isHexadecimal ? " raw ones, not hexadecimal digits (which --key-file takes)" : "")
        case .invalidDataURI(let reason):
            "the key's data URI cannot be decoded: \(reason): expected 16 bytes in base64 or percent-encoded"
        case .missing(let location, let reason):
            "\(location) is missing: \(reason): expected 16 bytes there"
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

/// A provider that calls a function of the program.
public struct HandlerKeys: KeyProvider {
    private let handler: @Sendable (_ uri: String) throws -> SecretKey

    /// A provider that calls `handler`.
    ///
    /// - Parameter handler: Returns the key for a URI. An error other than a `KeyError` becomes `KeyError.refused` with
    ///   its description, which must not contain the key.
    public init(_ handler: @escaping @Sendable (_ uri: String) throws -> SecretKey) {
        self.handler = handler
    }

    /// Calls the handler; see `KeyProvider.key(for:)`.
    public func key(for uri: String) throws(KeyError) -> ProvidedKey {
        do {
            return ProvidedKey(try handler(uri))
        } catch let error as KeyError {
            throw error
        } catch DecryptionError.invalidKey(let byteCount) {
            throw .wrongLength(
                byteCount: byteCount, isMore: false, location: "what the handler returned", isHexadecimal: false)
        } catch {
            throw .refused(reason: "\(error)")
        }
    }
}

/// Providers by the scheme of the URI, such as `mykey` for `mykey://film/1`.
public struct SchemeKeys: KeyProvider {
    private let handlers: [String: any KeyProvider]
    private let fallback: (any KeyProvider)?

    /// A provider that delegates by scheme.
    ///
    /// - Parameters:
    ///   - handlers: A provider for each scheme, in any case; relative URIs have the empty scheme.
    ///   - fallback: The provider for all other URIs, if any.
    public init(_ handlers: [String: any KeyProvider], fallback: (any KeyProvider)? = nil) {
        self.handlers = Dictionary(handlers.map { ($0.key.lowercased(), $0.value) }) { first, _ in first }
        self.fallback = fallback
    }

    /// Asks the scheme's provider; see `KeyProvider.key(for:)`.
    public func key(for uri: String) throws(KeyError) -> ProvidedKey {
        guard let provider = provider(for: uri) else {
            throw .unhandledScheme(Self.scheme(of: uri), handled: handlers.keys.sorted())
        }
        return try provider.key(for: uri)
    }

    /// Asks the scheme's provider; see `KeyProvider.version(for:)`.
    public func version(for uri: String) -> String? { provider(for: uri)?.version(for: uri) }

    /// Tells each scheme's provider about its own keys; see `KeyProvider.expect(_:)`.
    public func expect(_ uris: [String]) {
        for (_, group) in Dictionary(grouping: uris, by: Self.scheme) { provider(for: group[0])?.expect(group) }
    }

    private func provider(for uri: String) -> (any KeyProvider)? { handlers[Self.scheme(of: uri)] ?? fallback }

    /// Source: RFC 3986, section 3.1: schemes are case-insensitive.
    private static func scheme(of uri: String) -> String { URIReference(uri).scheme?.lowercased() ?? "" }
}
