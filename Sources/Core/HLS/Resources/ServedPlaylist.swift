public import RandomAccess

/// A playlist on a server, with what lies around it.
public struct ServedPlaylist: Sendable {
    /// The media playlist's URL.
    public let url: URIReference
    /// The media playlist.
    public let playlist: MediaPlaylist
    /// What its URIs mean.
    public let resources: ServedResources

    /// Fetches a playlist, and the one that it leads to if it is a master playlist.
    ///
    /// - Parameters:
    ///   - url: An `http` or `https` URL.
    ///   - choice: Which variant of a master playlist is meant.
    ///   - limits: What a playlist may have.
    ///   - open: What opens objects.
    /// - Throws: `DecryptionError` of `open`; `PlaylistError.inPart` with the playlist's URL and what is wrong if no part of it can be
    ///   used.
    public init(
        url: String, choice: VariantChoice = .highestBandwidth, limits: PlaylistLimits = PlaylistLimits(),
        open: @escaping ServedResources.Opener
    ) throws(DecryptionError) {
        var url = URIReference(url)
        var resources = ServedResources(playlist: url, open: open)
        var source = try resources.short(for: "")
        var visited: [String] = []
        while true {
            visited.append(url.text)
            switch try Playlist.read(source, named: url.shown, limits) {
            case .media(let playlist):
                self.url = url
                self.playlist = playlist
                self.resources = resources
                return
            case .master(let master):
                do throws(DecryptionError) {
                    let uri = try master.next(choice, in: url, visited: visited)
                    source = try resources.short(for: uri)
                    url = URIReference(uri).resolved(against: url)
                    resources = resources.around(url)
                } catch {
                    throw .inPart(url.shown, error)
                }
            }
        }
    }
}
