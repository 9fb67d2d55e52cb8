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

    /// Asks the scheme's provider; see ``KeyProvider/key(for:)``.
    public func key(for uri: String) throws(KeyError) -> ProvidedKey {
        // Source: RFC 3986, section 3.1: schemes are case-insensitive.
        let scheme = URIReference(uri).scheme?.lowercased() ?? ""
        guard let provider = handlers[scheme] ?? fallback else {
            throw .unhandledScheme(scheme, handled: handlers.keys.sorted())
        }
        return try provider.key(for: uri)
    }
}
