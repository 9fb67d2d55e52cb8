public import RandomAccess

/// The resources around a playlist on a server.
///
/// URIs are resolved against the playlist's (RFC 3986, section 5.2). If the playlist came over TLS, all its resources
/// must come over TLS.
public struct ServedResources: SegmentResources {
    /// Opens an object.
    public typealias Opener = @Sendable (ServedRequest) throws(DecryptionError) -> ServedObject

    /// The playlist's URL, the base of relative URIs.
    public let base: URIReference

    /// The server that the caller named.
    private let home: String
    private let open: Opener

    /// The resources around a playlist.
    ///
    /// - Parameters:
    ///   - playlist: The playlist's URL, as the caller named it.
    ///   - open: Opens an object.
    public init(playlist: URIReference, open: @escaping Opener) {
        base = playlist
        home = playlist.server
        self.open = open
    }

    /// Returns the resources around a playlist that another one led to.
    func around(_ playlist: URIReference) -> ServedResources { ServedResources(self, base: playlist) }

    private init(_ first: ServedResources, base: URIReference) {
        self.base = base
        home = first.home
        open = first.open
    }

    /// 32, because each opening waits for a round trip or two.
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
    /// The identity of a server: scheme, host and port.
    fileprivate var server: String {
        let scheme = scheme?.lowercased() ?? ""
        let authority = (authority ?? "").lowercased()
        let port = scheme == "https" ? ":443" : ":80"
        return scheme + "://" + (authority.hasSuffix(port) ? String(authority.dropLast(port.count)) : authority)
    }
}

/// A request for a playlist on a server, or for an object that it names.
public struct ServedRequest: Hashable, Sendable {
    /// The object's URL.
    public let url: String
    /// True if the object is on the server that the caller named. A token for that server is sent to no other.
    public let isOnFirstServer: Bool
    /// True for a playlist or a key: these are short, and servers often generate them without support for ranges.
    public let isShort: Bool
}

/// An open object on a server.
public struct ServedObject: Sendable {
    /// The object's bytes.
    public let source: any ByteSource
    /// The object's final URL, which differs from the requested one after a redirect.
    public let url: String

    /// An open object at its final URL.
    public init(source: any ByteSource, url: String) {
        self.source = source
        self.url = url
    }
}

/// A playlist on a server, with the resources around it.
public struct ServedPlaylist: Sendable {
    /// The media playlist's URL.
    public let url: URIReference
    /// The media playlist.
    public let playlist: MediaPlaylist
    /// The resources at the playlist's URIs.
    public let resources: ServedResources
    /// Notes on parts of the content that a master playlist lists elsewhere.
    public private(set) var notes: [String] = []

    /// Fetches a playlist. For a master playlist, fetches the chosen media playlist too.
    ///
    /// - Parameters:
    ///   - url: An `http` or `https` URL.
    ///   - choice: The variant of a master playlist to fetch.
    ///   - limits: The limits of a playlist's size.
    ///   - open: Opens objects.
    /// - Throws: `DecryptionError` of `open`; `PartError` with the playlist's URL and the fault if no part of it is
    ///   usable.
    public init(
        url: String, choice: VariantChoice = .highestBandwidth, limits: PlaylistLimits = PlaylistLimits(),
        open: @escaping ServedResources.Opener
    ) throws(DecryptionError) {
        let named = URIReference(url)
        var resources = ServedResources(playlist: named, open: open)
        var found = try resources.short(for: "")
        var visited = [named.text]
        while true {
            // The base of relative URIs is the playlist's final URL (RFC 3986, section 5.1.3).
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
