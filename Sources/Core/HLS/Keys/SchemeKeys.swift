/// Providers by the scheme of the URI, such as `mykey` for `mykey://film/1`.
public struct SchemeKeys: KeyProvider {
    private let handlers: [String: any KeyProvider]
    private let fallback: (any KeyProvider)?

    /// Creates a provider.
    ///
    /// - Parameters:
    ///   - handlers: A provider for each scheme, whose case does not matter; the empty scheme is that of relative URIs.
    ///   - fallback: Who is asked for all other URIs; nobody, unless told otherwise.
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
