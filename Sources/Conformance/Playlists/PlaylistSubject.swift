internal import HLS
package import RandomAccess
internal import Vectors

/// What is put to the vectors of `hls-aes128`.
package struct PlaylistSubject: Sendable {
    /// Opens a playlist, all of it, with resources and keys by their URIs as written.
    package typealias Open =
        @Sendable (
            _ playlist: String, _ resources: [String: [UInt8]], _ keys: [String: [UInt8]]
        ) throws(DecryptionError) -> any RandomAccessDecryptor

    /// The name in results.
    package let name: String
    /// Opens a playlist.
    package let open: Open

    /// Creates a subject.
    package init(name: String, open: @escaping Open) {
        self.name = name
        self.open = open
    }

    /// Our reader over a backend, which refuses a playlist of which any part cannot be read.
    package init(backend: any CipherBackend) {
        self.init(name: backend.name) { (text, resources, keys) throws(DecryptionError) in
            let playlist = try Self.media(text)
            let ring = KeyRing(
                HandlerKeys { uri in
                    guard let bytes = keys[uri] else { throw KeyError.missing(place: "the key", reason: "none given") }
                    return try SecretKey(bytes)
                })
            let object = try HLSObject(
                playlist: playlist, resources: MemoryResources(resources), keys: ring, backend: backend)
            try object.requireAll()
            return try object.makeCursor()
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
