internal import ByteSources
internal import RandomAccess
internal import Vectors

extension ConformanceSubject {
    /// Whether it says that it can do what a group asks for.
    func supports(_ group: VectorGroup) -> Bool {
        group.playlist == nil ? supports(group.strategy, group.key.byteCount) : openPlaylist != nil
    }

    /// Opens a group's object, each source of which goes through `wrap` first.
    func open(
        _ group: VectorGroup, setup: ReaderSetup, wrap: (any ByteSource) -> any ByteSource = { $0 }
    ) throws(DecryptionError) -> any RandomAccessDecryptor {
        guard let playlist = group.playlist else {
            return try open(setup, wrap(try located(group.ciphertext)), group.strategy, group.key)
        }
        guard let openPlaylist else { throw .unsupported("playlists") }
        var resources: [String: any ByteSource] = [:]
        for (uri, bytes) in playlist.resources { resources[uri] = wrap(try located(MemorySource(bytes))) }
        return try openPlaylist(setup, playlist, resources)
    }

    /// What is read instead of a source.
    func located(_ source: any ByteSource) throws(DecryptionError) -> any ByteSource {
        guard let relocate else { return source }
        return try relocate(source)
    }
}
