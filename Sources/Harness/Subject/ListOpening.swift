import ByteSources
import HLS
import RandomAccess
import SubjectProtocol
import Support
import SystemPackage
import Vectors

/// Opens a playlist or a film, which no strategy describes, any number of times.
protocol ListOpening {
    /// Opens the object.
    ///
    /// - Parameters:
    ///   - backend: The library that decrypts.
    ///   - fetched: Records the ciphertext that is fetched from now on; `nil` to record nothing.
    /// - Returns: The object.
    /// - Throws: `DecryptionError`.
    func open(with backend: any CipherBackend, fetched: FetchRecord?) throws(DecryptionError) -> ReadObject

    /// The file that contains everything, or `nil` if there is no such file.
    var path: FilePath? { get }
}

/// Opens a film.
struct FilmOpening: ListOpening {
    let request: FilmRequest

    func open(with backend: any CipherBackend, fetched: FetchRecord?) throws(DecryptionError) -> ReadObject {
        let film = FilmObject(samples: request.samples)
        return .film(
            try film.open(key: request.key, backend: backend) { () throws(DecryptionError) in
                let source = try request.source()
                return fetched.map { RecordingSource(source, record: $0) } ?? source
            })
    }

    var path: FilePath? { request.served == nil ? FilePath(request.path) : nil }
}

/// Opens a playlist.
struct PlaylistOpening: ListOpening {
    let request: PlaylistRequest

    /// Opens the whole playlist; throws for one of which any part cannot be read.
    func open(with backend: any CipherBackend, fetched: FetchRecord?) throws(DecryptionError) -> ReadObject {
        .composite(
            try HLSObject.whole(
                request.text, resources: RecordedResources(base: try resources(), record: fetched), keys: request.keys,
                backend: backend
            ).pieces)
    }

    /// The file that contains all segments, or `nil` if there is no such file.
    var path: FilePath? {
        guard case .folder(let folder) = request.resources, request.description["generated"] == nil,
            let uris = try? Set(MediaPlaylist(text: request.text).segments.map(\.uri)), uris.count == 1,
            let uri = uris.first
        else { return nil }
        return try? Self.files(of: folder).path(for: uri)
    }

    private func resources() throws(DecryptionError) -> any SegmentResources {
        switch request.resources {
        case .served(let sources): return NamedSources(sources)
        case .folder(let path):
            let link = try link()
            do throws(DecryptionError) {
                return RemoteResources(base: try Self.files(of: path), link: link)
            } catch {
                // Errors in the playlist and its keys are reported first.
                return NoResources(error: error)
            }
        case .described:
            guard let source = try generated() else {
                throw .missing("source", "a path or byteCounts")
            }
            return RemoteResources(base: OneSource(source: source), link: try link())
        }
    }

    private static func files(of folder: String) throws(DecryptionError) -> FolderResources {
        try FolderResources(playlist: FilePath(folder).appending("playlist.m3u8"))
    }

    /// Returns a generated object, which only this program requests of itself. The segments are byte ranges of one
    /// resource, like those of a measured playlist.
    private func generated() throws(DecryptionError) -> (any ByteSource)? {
        guard let generated = request.description["generated"], let seed = generated["seed"]?.integer,
            let byteCount = generated["plaintextByteCount"]?.integer,
            let segmentByteCount = generated["segmentByteCount"]?.integer, let key = request.keys.values.first
        else { return nil }
        return try GeneratedObject(
            strategy: try .segments(of: segmentByteCount), key: try SecretKey(key), plaintextByteCount: byteCount,
            seed: seed
        ).source
    }

    private func link() throws(DecryptionError) -> RemoteLink? {
        guard let remote = request.description["remote"] else { return nil }
        return try RemoteLink(described: remote)
    }
}

extension RemoteLink {
    /// Reads a link from a request.
    ///
    /// - Throws: `DecryptionError.invalidParameter`.
    init(described remote: JSONValue) throws(DecryptionError) {
        guard let latency = remote["latencyNanoseconds"]?.integer,
            let link = RemoteLink(latencyNanoseconds: latency, bytesPerSecond: remote["bytesPerSecond"]?.integer)
        else {
            throw .missing("remote", "a latency and bytes per second")
        }
        self = link
    }
}

/// Resources of which every read fails.
struct NoResources: SegmentResources {
    let error: DecryptionError

    func source(for uri: String) throws(DecryptionError) -> any ByteSource { throw error }
}

/// The same source for every URI.
struct OneSource: SegmentResources {
    let source: any ByteSource

    func source(for uri: String) throws(DecryptionError) -> any ByteSource { source }
}

/// Resources behind a simulated link, or unchanged without one.
struct RemoteResources: SegmentResources {
    let base: any SegmentResources
    let link: RemoteLink?

    func source(for uri: String) throws(DecryptionError) -> any ByteSource {
        let source = try base.source(for: uri)
        return link.map { RemoteSource(source, link: $0) } ?? source
    }
}

/// Resources whose fetches are recorded, or unchanged without a record.
struct RecordedResources: SegmentResources {
    let base: any SegmentResources
    let record: FetchRecord?

    func source(for uri: String) throws(DecryptionError) -> any ByteSource {
        let source = try base.source(for: uri)
        return record.map { RecordingSource(source, record: $0) } ?? source
    }
}
