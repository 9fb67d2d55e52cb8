internal import HLS
internal import RandomAccess
internal import Vectors

extension ConformanceSubject {
    /// How our reader over a backend opens playlists, refusing one of which any part cannot be read; `nil` if the
    /// backend lacks the cipher.
    static func playlists(over backend: any CipherBackend) -> OpenPlaylist? {
        guard backend.modes.contains(.cbc), backend.keyByteCounts.contains(16) else { return nil }
        return { (setup, playlist, resources) throws(DecryptionError) in
            let keys = playlist.keys
            let ring = KeyRing(
                HandlerKeys { uri in
                    guard let bytes = keys[uri] else { throw KeyError.missing(place: "the key", reason: "none given") }
                    return try SecretKey(bytes)
                })
            let object = try HLSObject(
                playlist: try media(playlist.text), resources: NamedSources(sources: resources), keys: ring,
                backend: backend)
            try object.requireAll()
            return try object.makeCursor(windowByteCount: setup.windowByteCount)
        }
    }

    private static func media(_ text: String) throws(DecryptionError) -> MediaPlaylist {
        do throws(PlaylistProblem) {
            if case .media(let playlist) = try Playlist.parse(text) { return playlist }
        } catch {
            throw error.decryptionError
        }
        throw .unsupported("a master playlist: expected a media playlist")
    }
}

/// Resources by URI as written.
private struct NamedSources: SegmentResources {
    let sources: [String: any ByteSource]

    func source(for uri: String) throws(DecryptionError) -> any ByteSource {
        guard let source = sources[uri] else {
            // ENOENT.
            throw .io(operation: "open \(URIReference(uri).shown)", code: 2, reason: "there is no such resource")
        }
        return source
    }
}
