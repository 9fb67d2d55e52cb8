public import RandomAccess

/// What lies around a playlist on a server.
///
/// URIs are resolved against the playlist's (RFC 3986, section 5.2). Nothing is fetched without TLS for a playlist that
/// came over TLS.
public struct ServedResources: SegmentResources {
    /// Opens an object.
    public typealias Opener = @Sendable (ServedRequest) throws(DecryptionError) -> ServedObject

    /// The playlist's URL, which relative URIs start from.
    public let base: URIReference

    /// The server that the caller named.
    private let home: String
    private let open: Opener

    /// Creates the resources around a playlist.
    ///
    /// - Parameters:
    ///   - playlist: The playlist's URL, as the caller named it.
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

    /// 32: each waits for a round trip or two.
    public var openingsAtOnce: Int? { 32 }

    /// Opens an object; see ``SegmentResources/source(for:)``.
    public func source(for uri: String) throws(DecryptionError) -> any ByteSource {
        try object(for: uri, isShort: false).source
    }

    /// Opens a playlist or a key; see ``source(for:)``.
    func short(for uri: String) throws(DecryptionError) -> ServedObject {
        try object(for: uri, isShort: true)
    }

    private func object(for uri: String, isShort: Bool) throws(DecryptionError) -> ServedObject {
        var target = URIReference(uri).resolved(against: base)
        let scheme = target.scheme?.lowercased() ?? ""
        guard ["http", "https"].contains(scheme) else {
            throw .unsupported(
                "fetching \(target.redacted) by the scheme \"\(scheme)\": expected https or http, such as a relative "
                    + "URI"
            )
        }
        guard scheme == "https" || base.scheme?.lowercased() == "http" else {
            throw .unsupported(
                "fetching \(target.redacted) without TLS for a playlist that came over TLS: expected https")
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

/// An object on a server that a playlist names, or is.
public struct ServedRequest: Hashable, Sendable {
    /// Its URL.
    public let url: String
    /// Whether it is on the server that the caller named: a token for that one goes to no other.
    public let isOnFirstServer: Bool
    /// Whether it is a playlist or a key: short, and often made on demand, by servers that know no ranges.
    public let isShort: Bool
}

/// An object on a server, open.
public struct ServedObject: Sendable {
    /// Its bytes.
    public let source: any ByteSource
    /// Where it was found, which is not where it was asked for if the server named another URL.
    public let url: String

    /// Creates an object.
    public init(source: any ByteSource, url: String) {
        self.source = source
        self.url = url
    }
}

/// A playlist on a server, with what lies around it.
public struct ServedPlaylist: Sendable {
    /// The media playlist's URL.
    public let url: URIReference
    /// The media playlist.
    public let playlist: MediaPlaylist
    /// What its URIs mean.
    public let resources: ServedResources
    /// What a master playlist that led here has besides, which belongs to the media playlist.
    public private(set) var notes: [String] = []

    /// Fetches a playlist, and the one that it leads to if it is a master playlist.
    ///
    /// - Parameters:
    ///   - url: An `http` or `https` URL.
    ///   - choice: Which variant of a master playlist is meant.
    ///   - limits: What a playlist may have.
    ///   - open: What opens objects.
    /// - Throws: `DecryptionError` of `open`; `PartError` with the playlist's URL and what is wrong if no part of it
    ///   can be used.
    public init(
        url: String, choice: VariantChoice = .highestBandwidth, limits: PlaylistLimits = PlaylistLimits(),
        open: @escaping ServedResources.Opener
    ) throws(DecryptionError) {
        let named = URIReference(url)
        var resources = ServedResources(playlist: named, open: open)
        var found = try resources.short(for: "")
        var visited = [named.text]
        while true {
            // Relative URIs start from where the playlist was found (RFC 3986, section 5.1.3).
            let url = URIReference(found.url)
            resources = resources.around(url)
            visited.append(url.text)
            switch try Playlist.read(found.source, named: url.redacted, limits) {
            case .media(let playlist):
                self.url = url
                self.playlist = playlist
                self.resources = resources
                return
            case .master(let master):
                do throws(DecryptionError) {
                    let uri = try master.next(choice, in: url, visited: visited)
                    notes += master.notes(choice)
                    found = try resources.short(for: uri)
                } catch {
                    throw .inPart(url.redacted, error)
                }
            }
        }
    }
}
