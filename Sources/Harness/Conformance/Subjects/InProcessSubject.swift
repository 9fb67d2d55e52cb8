import ByteSources
import HLS
package import RandomAccess
package import Vectors

/// A subject in this process: a way to open objects, and what it claims to support.
package struct InProcessSubject: Sendable {
    /// Opens an object for reading with one of our readers.
    package typealias Open =
        @Sendable (
            _ setup: ReaderSetup, _ source: any ByteSource, _ strategy: Strategy, _ key: SecretKey
        ) throws(DecryptionError) -> any RandomAccessDecryptor

    /// Opens an object once, and makes a number of readers of it, each for a thread of its own.
    package typealias OpenShared =
        @Sendable (
            _ readerCount: Int, _ source: any ByteSource, _ strategy: Strategy, _ key: SecretKey
        ) throws(DecryptionError) -> [any RandomAccessDecryptor]

    /// Opens a whole playlist. Its resources come from `resources`, by URI as written.
    package typealias OpenPlaylist =
        @Sendable (
            _ setup: ReaderSetup, _ playlist: PlaylistObject, _ resources: [String: any ByteSource]
        ) throws(DecryptionError) -> any RandomAccessDecryptor

    /// Opens a film's bytes, after what is wrong with the list or the key was found.
    package typealias FilmSource = () throws(DecryptionError) -> any ByteSource
    /// Opens a film.
    package typealias OpenFilm =
        @Sendable (
            _ setup: ReaderSetup, _ film: FilmObject, _ source: FilmSource, _ key: SecretKey
        ) throws(DecryptionError) -> any RandomAccessDecryptor

    /// The name in results.
    package let name: String
    /// The largest read that the subject gets, for backends that would take minutes over larger ones.
    package let largestReadByteCount: Int

    /// True if the subject claims to fetch adjacent ranges in one request.
    package let mergesRequests: Bool

    /// Says whether the subject claims to support a strategy with a key length.
    package let supports: @Sendable (_ strategy: Strategy, _ keyByteCount: Int) -> Bool
    /// Says whether the subject has the cipher that an object requires.
    package private(set) var fits: @Sendable (_ need: CipherNeed) -> Bool
    /// Opens an object.
    package let open: Open
    /// Opens the source that subjects read instead of a group's own, such as the same bytes on a server.
    package typealias Relocate = @Sendable (any ByteSource) throws(DecryptionError) -> any ByteSource

    /// Opens the sources that are read instead of a group's own; `nil` to read the group's own.
    private var relocate: Relocate?

    /// Opens an object for several threads; `nil` if an object belongs to one reader.
    package let openShared: OpenShared?
    /// Opens a playlist; `nil` if the subject does not support `hls-aes128`.
    package let openPlaylist: OpenPlaylist?
    /// Opens a film; `nil` if the subject does not support `film`.
    package let openFilm: OpenFilm?

    /// A strategy that `supports` does not claim counts as unsupported. Without `openShared`, threads that read the
    /// same object at once each open it for themselves.
    package init(
        name: String, largestReadByteCount: Int = .max, mergesRequests: Bool = true,
        supports: @escaping @Sendable (_ strategy: Strategy, _ keyByteCount: Int) -> Bool = { _, _ in true },
        fits: @escaping @Sendable (_ need: CipherNeed) -> Bool = { _ in true },
        openShared: OpenShared? = nil, openPlaylist: OpenPlaylist? = nil, openFilm: OpenFilm? = nil,
        open: @escaping Open
    ) {
        self.name = name
        self.largestReadByteCount = largestReadByteCount
        self.mergesRequests = mergesRequests
        self.supports = supports
        self.fits = fits
        self.open = open
        self.openShared = openShared
        self.openPlaylist = openPlaylist
        self.openFilm = openFilm
    }

    /// Returns the same subject, limited to objects for which a backend has all ciphers.
    func limited(to backend: any CipherBackend) -> InProcessSubject {
        var subject = self
        subject.fits = { [fits] need in fits(need) && need.isMet(by: backend) }
        return subject
    }

    /// Our readers over a backend.
    package init(backend: any CipherBackend, largestReadByteCount: Int = .max, relocate: Relocate? = nil) {
        self.init(
            name: backend.name, largestReadByteCount: largestReadByteCount,
            supports: { strategy, keyByteCount in
                // Where a header chooses, each object shows its need.
                guard !strategy.isCipherOfHeader else {
                    return strategy.format.rules.sealedCiphers.allSatisfy { backend.supports($0) }
                }
                return CipherNeed(of: strategy, keyByteCount: keyByteCount)?.isMet(by: backend)
                    ?? backend.supports(strategy)
            },
            fits: { $0.isMet(by: backend) },
            openShared: { (readerCount, source, strategy, key) throws(DecryptionError) in
                let object = try EncryptedObject(source: source, strategy: strategy, backend: backend, key: key)
                var readers: [any RandomAccessDecryptor] = []
                for _ in 0..<readerCount { readers.append(try object.makeCursor()) }
                return readers
            },
            openPlaylist: Self.playlists(over: backend), openFilm: Self.films(over: backend),
            open: { (setup, source, strategy, key) throws(DecryptionError) in
                let object = try EncryptedObject(source: source, strategy: strategy, backend: backend, key: key)
                return switch setup.access {
                case .cursor(let window): try object.makeCursor(windowByteCount: window)
                case .wholeChunk(let byteCount): try ChunkCacheReader(object: object, chunkByteCount: byteCount)
                case .freshBuffers(let window): try FreshBufferReader(object: object, windowByteCount: window)
                }
            })
        self.relocate = relocate
    }

    /// Opens a group's object, after `wrap` is applied to each source.
    func open(
        _ group: VectorGroup, setup: ReaderSetup, wrap: (any ByteSource) -> any ByteSource = { $0 }
    ) throws(DecryptionError) -> any RandomAccessDecryptor {
        if let film = group.film {
            let source = wrap(try located(group.ciphertext))
            return try open(film: film, { source }, group.key, setup)
        }
        guard let playlist = group.playlist else {
            return try open(setup, wrap(try located(group.ciphertext)), group.strategy, group.key)
        }
        guard let openPlaylist else { throw .unsupported("playlists") }
        var resources: [String: any ByteSource] = [:]
        for (uri, bytes) in playlist.resources { resources[uri] = wrap(try located(MemorySource(bytes))) }
        return try openPlaylist(setup, playlist, resources)
    }

    /// Opens a film.
    func open(
        film: FilmObject, _ source: FilmSource, _ key: SecretKey, _ setup: ReaderSetup
    ) throws(DecryptionError) -> any RandomAccessDecryptor {
        guard let openFilm else { throw .unsupported("films") }
        return try openFilm(setup, film, source, key)
    }

    /// Returns the source that is read instead of a group's own.
    func located(_ source: any ByteSource) throws(DecryptionError) -> any ByteSource {
        guard let relocate else { return source }
        return try relocate(source)
    }

    /// Returns a closure that opens playlists with our reader over a backend, or `nil` if the backend lacks the cipher.
    /// It refuses a playlist of which any part cannot be read.
    static func playlists(over backend: any CipherBackend) -> OpenPlaylist? {
        guard backend.supports(.aesCBC, keyByteCount: 16) else { return nil }
        return { (setup, playlist, resources) throws(DecryptionError) in
            let object = try HLSObject.whole(
                playlist.text, resources: NamedSources(resources), keys: playlist.keys, backend: backend)
            return try object.makeCursor(windowByteCount: setup.windowByteCount)
        }
    }

    /// Returns a closure that opens films with our reader over a backend, or `nil` if the backend lacks a cipher.
    static func films(over backend: any CipherBackend) -> OpenFilm? {
        guard FilmObject.isRead(by: backend) else { return nil }
        return { (setup, film, source, key) throws(DecryptionError) in
            try film.open(key: key, backend: backend, source: source)
                .makeCursor(windowByteCount: setup.windowByteCount)
        }
    }
}
