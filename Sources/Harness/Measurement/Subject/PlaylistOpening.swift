import ByteSources
import HLS
import RandomAccess
import SubjectProtocol
import Support
import SystemPackage
import Vectors

/// What it takes to open a playlist, as often as it is wanted.
struct PlaylistOpening {
    let request: PlaylistRequest

    /// Opens the playlist, all of it.
    ///
    /// - Parameters:
    ///   - backend: The library that decrypts.
    ///   - fetched: Counts the ciphertext that is fetched from now on; `nil` if nobody wants to know.
    /// - Returns: The open playlist.
    /// - Throws: `DecryptionError` for a playlist of which any part cannot be read.
    func open(with backend: any CipherBackend, fetched: ByteCounter? = nil) throws(DecryptionError) -> HLSObject {
        let playlist = try media()
        let keys = request.keys
        let ring = KeyRing(
            HandlerKeys { uri in
                guard let bytes = keys[uri] else { throw KeyError.missing(place: "the key", reason: "none given") }
                return try SecretKey(bytes)
            })
        let object = try HLSObject(
            playlist: playlist, resources: CountedResources(base: try resources(), counter: fetched), keys: ring,
            backend: backend)
        try object.requireAll()
        return object
    }

    /// The file that all segments are parts of, or `nil` if there is no such file.
    var path: FilePath? {
        guard case .folder(let folder) = request.resources, request.description["generated"] == nil,
            let uris = try? Set(media().segments.map(\.uri)), uris.count == 1, let uri = uris.first
        else { return nil }
        return try? Self.files(of: folder).path(for: uri)
    }

    private func media() throws(DecryptionError) -> MediaPlaylist {
        do throws(PlaylistProblem) {
            if case .media(let playlist) = try Playlist.parse(request.text) { return playlist }
        } catch {
            throw error.decryptionError
        }
        throw .unsupported("a master playlist: expected a media playlist")
    }

    private func resources() throws(DecryptionError) -> any SegmentResources {
        switch request.resources {
        case .served(let sources): return NamedSources(sources: sources)
        case .folder(let path): return RemoteResources(base: try Self.files(of: path), link: try link())
        case .described:
            guard let source = try generated() else {
                throw .invalidParameter(name: "member", value: "\"source\"", expected: "a path or byteCounts")
            }
            return RemoteResources(base: OneSource(source: source), link: try link())
        }
    }

    private static func files(of folder: String) throws(DecryptionError) -> FolderResources {
        try FolderResources(playlist: FilePath(folder).appending("playlist.m3u8"))
    }

    /// A generated object, which only this program asks of itself: segments as byte ranges of one resource, which are
    /// what the chunks of `cbc-chunked` are whose IVs count from 0.
    private func generated() throws(DecryptionError) -> (any ByteSource)? {
        guard let generated = request.description["generated"], let seed = generated["seed"]?.integer,
            let byteCount = generated["plaintextByteCount"]?.integer,
            let segmentByteCount = generated["segmentByteCount"]?.integer, let key = request.keys.values.first
        else { return nil }
        return try GeneratedObject(
            strategy: .segments(of: segmentByteCount), key: try SecretKey(key), plaintextByteCount: byteCount,
            seed: seed
        ).source
    }

    private func link() throws(DecryptionError) -> RemoteLink? {
        guard let remote = request.description["remote"] else { return nil }
        return try RemoteLink(described: remote)
    }
}

extension RemoteLink {
    /// A link as a request describes it.
    ///
    /// - Throws: `DecryptionError.invalidParameter`.
    init(described remote: JSONValue) throws(DecryptionError) {
        guard let latency = remote["latencyNanoseconds"]?.integer,
            let link = RemoteLink(latencyNanoseconds: latency, bytesPerSecond: remote["bytesPerSecond"]?.integer)
        else {
            throw .invalidParameter(name: "member", value: "\"remote\"", expected: "a latency and bytes per second")
        }
        self = link
    }
}

extension Strategy {
    /// What the segments of a measured playlist are, one behind the other in one file: chunks of CBC whose IVs count
    /// from 0, as media sequence numbers do. Source: RFC 8216, section 5.2.
    static func segments(of byteCount: UInt64) -> Strategy {
        .cbcChunked(
            chunkByteCount: byteCount, iv: Block(bigEndianValue: 0), ivRule: .sequence, padding: .pkcs7)
    }
}
