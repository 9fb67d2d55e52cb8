public import RandomAccess

/// What lies around a playlist on a server.
///
/// URIs are resolved against the playlist's (RFC 3986, section 5.2). Nothing is fetched without TLS for a playlist that
/// came over TLS.
public struct ServedResources: SegmentResources {
    /// Opens an object.
    public typealias Opener = @Sendable (ServedRequest) throws(DecryptionError) -> any ByteSource

    /// The playlist's URL, which relative URIs start from.
    public let base: URIReference

    /// The server that was named first, by whoever asks.
    private let home: String
    private let open: Opener

    /// Creates the resources around a playlist.
    ///
    /// - Parameters:
    ///   - playlist: The playlist's URL, as somebody named it.
    ///   - open: What opens an object.
    public init(playlist: URIReference, open: @escaping Opener) {
        base = playlist
        home = playlist.server
        self.open = open
    }

    /// What lies around a playlist that another one led to.
    func around(_ playlist: URIReference) -> ServedResources { ServedResources(self, base: playlist) }

    private init(_ first: ServedResources, base: URIReference) {
        self.base = base
        home = first.home
        open = first.open
    }

    /// Opens an object; see ``SegmentResources/source(for:)``.
    public func source(for uri: String) throws(DecryptionError) -> any ByteSource {
        try source(for: uri, isShort: false)
    }

    /// Opens a playlist or a key; see ``source(for:)``.
    func short(for uri: String) throws(DecryptionError) -> any ByteSource {
        try source(for: uri, isShort: true)
    }

    private func source(for uri: String, isShort: Bool) throws(DecryptionError) -> any ByteSource {
        var target = URIReference(uri).resolved(against: base)
        let scheme = target.scheme?.lowercased() ?? ""
        guard ["http", "https"].contains(scheme) else {
            throw .unsupported(
                "fetching \(target.shown) by the scheme \"\(scheme)\": expected https or http, such as a relative URI")
        }
        guard scheme == "https" || base.scheme?.lowercased() == "http" else {
            throw .unsupported(
                "fetching \(target.shown) without TLS for a playlist that came over TLS: expected https")
        }
        target.fragment = nil
        return try open(ServedRequest(url: target.text, isOnFirstServer: target.server == home, isShort: isShort))
    }
}

extension URIReference {
    /// What tells a server from others: scheme, host and port.
    fileprivate var server: String {
        let scheme = scheme?.lowercased() ?? ""
        let authority = (authority ?? "").lowercased()
        let port = scheme == "https" ? ":443" : ":80"
        return scheme + "://" + (authority.hasSuffix(port) ? String(authority.dropLast(port.count)) : authority)
    }
}
