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
    /// - Returns: `nil` where it cannot be known, or there is no key: while that is so, the provider is not asked again.
    func version(for uri: String) -> String?

    /// Tells the provider which keys will probably be asked for soon, so that they may come together.
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

/// A key, and what is worth a warning about where it was found.
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

/// Something that is wrong about where a key was found, but no error.
public enum KeyWarning: Hashable, Sendable, CustomStringConvertible {
    /// Others than the file's owner may read it.
    case readableByOthers(path: String, permissions: UInt32)
    /// Others than the owner of a folder with keys may list it, or change what is in it.
    case folderOpenToOthers(path: String, permissions: UInt32)
    /// The key came over a connection that others can read.
    case inTheClear(location: String)

    /// What is wrong, and what to do.
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

/// Why there is no key for a URI. Never holds a part of a key.
public enum KeyError: Error, Hashable, Sendable {
    /// No provider fetches keys by this scheme; empty for a relative URI.
    case unhandledScheme(String, handled: [String])
    /// What was found has another length than 16 bytes.
    case wrongLength(byteCount: Int, isMore: Bool, location: String, isHexadecimal: Bool)
    /// A URI that should be the key itself cannot be decoded.
    case invalidDataURI(reason: String)
    /// There is no such key.
    case missing(location: String, reason: String)
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

/// A provider that is a function of the program's own.
public struct HandlerKeys: KeyProvider {
    private let handler: @Sendable (_ uri: String) throws -> SecretKey

    /// Creates a provider.
    ///
    /// - Parameter handler: Finds the key for a URI. What it throws becomes `KeyError.refused` with the error's
    ///   description, unless it is a `KeyError`; the description must not hold the key.
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

    /// Creates a provider.
    ///
    /// - Parameters:
    ///   - handlers: A provider for each scheme, whose case does not matter; the empty scheme is that of relative URIs.
    ///   - fallback: The provider for all other URIs, if there is one.
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

    /// What the scheme's provider says; see `KeyProvider.version(for:)`.
    public func version(for uri: String) -> String? { provider(for: uri)?.version(for: uri) }

    /// Tells each scheme's provider its own; see `KeyProvider.expect(_:)`.
    public func expect(_ uris: [String]) {
        for (_, group) in Dictionary(grouping: uris, by: Self.scheme) { provider(for: group[0])?.expect(group) }
    }

    private func provider(for uri: String) -> (any KeyProvider)? { handlers[Self.scheme(of: uri)] ?? fallback }

    /// Source: RFC 3986, section 3.1: schemes are case-insensitive.
    private static func scheme(of uri: String) -> String { URIReference(uri).scheme?.lowercased() ?? "" }
}
