package import RandomAccess
import Support

extension HLSObject {
    /// Opens a media playlist with keys that the caller has, if all of it can be read.
    ///
    /// - Parameters:
    ///   - text: The playlist.
    ///   - resources: The playlist's resources.
    ///   - keys: The bytes of keys, by their URIs as written.
    ///   - backend: The library that decrypts.
    /// - Returns: The open playlist.
    /// - Throws: `DecryptionError` if any part of the playlist cannot be read.
    package static func whole(
        _ text: String, resources: any SegmentResources, keys: [String: [UInt8]], backend: any CipherBackend
    ) throws(DecryptionError) -> HLSObject {
        let ring = KeyRing(
            HandlerKeys { uri in
                guard let bytes = keys[uri] else { throw KeyError.missing(location: "the key", reason: "none given") }
                return try SecretKey(bytes)
            })
        let object = try HLSObject(
            playlist: try MediaPlaylist(text: text), resources: resources, keys: ring, backend: backend)
        try object.requireAll()
        return object
    }
}

extension MediaPlaylist {
    /// Parses a playlist that must be a media playlist.
    package init(text: String) throws(DecryptionError) {
        let playlist = try rethrowing(as: \PlaylistProblem.decryptionError, try Playlist.parse(text))
        guard case .media(let media) = playlist else {
            throw .unsupported("a master playlist: expected a media playlist")
        }
        self = media
    }
}

/// Resources by URI as written.
package struct NamedSources: SegmentResources {
    private let sources: [String: any ByteSource]

    package init(_ sources: [String: any ByteSource]) {
        self.sources = sources
    }

    package func source(for uri: String) throws(DecryptionError) -> any ByteSource {
        guard let source = sources[uri] else {
            // ENOENT.
            throw .io(operation: "open \(URIReference(uri).redacted)", code: 2, reason: "there is no such resource")
        }
        return source
    }
}
