/// The resources of a playlist, each once: a byte-range playlist has one for all its segments.
struct ResourceTable {
    /// Their URIs as written.
    private(set) var uris: [String] = []
    private var indices: [String: Int] = [:]

    /// Collects the URIs of all segments and initialization sections.
    init(_ playlist: MediaPlaylist) {
        for section in playlist.initializationSections { add(section.uri) }
        for segment in playlist.segments { add(segment.uri) }
    }

    /// The resource with a URI of the playlist.
    func index(of uri: String) -> Int { indices[uri] ?? 0 }

    private mutating func add(_ uri: String) {
        guard indices[uri] == nil else { return }
        indices[uri] = uris.count
        uris.append(uri)
    }
}
