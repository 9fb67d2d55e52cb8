#if Network
import ByteSources
package import HLS
package import RandomAccess
import Synchronization
package import SystemPackage

/// The playlists of a folder, with the segments that they name.
///
/// A file whose name ends in `.m3u8` or `.m3u` is a playlist if it starts with `#EXTM3U`. The server rewrites its URIs:
/// each consists of the playlist's path and the part. A segment can therefore only be found through a playlist, in the
/// folder, and by the rules of ``ServedFolder``: nothing hidden, and nothing behind a link.
package struct ServedPlaylists: ContentCatalogue {
    /// The options for serving playlists.
    package struct Options: Sendable {
        /// True if segments stay encrypted; the server then offers their keys under its own URIs.
        package var keepsEncryption = false
        /// True if a trace is recorded. It has one object for all segments of a playlist.
        package var isRecorded = false
        /// True if a file with a playlist's name may be another kind of file, which is then no error.
        package var mayBeOthers = false
        /// The meaning of byte ranges, if it differs from RFC 8216.
        package var ranges = ByteRangeReadings()
        /// The names of the only playlists to serve, besides those that they refer to; empty for all.
        package var named: [String] = []
        /// The library that decrypts segments.
        package var backend: any CipherBackend
        /// Makes the key ring of a playlist.
        package var keys: @Sendable (any KeyProvider) -> KeyRing
        /// Reports problems of a playlist; never a key, a token or plaintext.
        package var report: @Sendable (String) -> Void = { _ in }

        package init(backend: any CipherBackend, keys: @escaping @Sendable (any KeyProvider) -> KeyRing) {
            self.backend = backend
            self.keys = keys
        }
    }

    let folder: ServedFolder
    let options: Options
    let cache = PlaylistCache()

    /// The limits of a playlist: a week of segments of ten seconds, in little memory.
    static let limits = PlaylistLimits(byteCount: 8 << 20, segmentCount: 60_480, problemCount: 100)

    /// Serves the playlists of a folder and of its subfolders.
    ///
    /// - Throws: `DecryptionError.io` if the folder cannot be opened.
    package init(folder: FilePath, options: Options) throws(DecryptionError) {
        self.folder = try ServedFolder(path: folder)
        self.options = options
    }

    /// Opens the current version of a playlist or of one of its parts.
    package func content(at path: [String]) throws(DecryptionError) -> ServedContent? {
        guard let address = PlaylistAddress(path), try isServed(address.playlist),
            let loaded = try load(address.playlist)
        else { return nil }
        switch (address.part, loaded.playlist) {
        case (.playlist, .media): return made(loaded.bytes, of: loaded)
        case (.playlist, .master): return made(try rewrittenMaster(loaded), of: loaded)
        case (_, .master): return nil
        case (.segment(let number), .media(let media)):
            guard number >= media.mediaSequence, number - media.mediaSequence < UInt64(media.segments.count) else {
                return nil
            }
            return try segment(Int(number - media.mediaSequence), of: media, loaded)
        case (.initializationSection(let hash), .media(let media)):
            guard let index = loaded.sections[hash] else { return nil }
            return try section(index, of: media, loaded)
        case (.key(let hash), .media(let media)):
            guard options.keepsEncryption,
                let uri = media.keyURIs.first(where: { PlaylistAddress.hash(key: $0) == hash })
            else { return nil }
            return try key(uri, loaded)
        }
    }

    /// Returns the playlists below the folder, or the ones that the user named.
    package func listing() throws(DecryptionError) -> [[String]] {
        guard options.named.isEmpty else { return options.named.map { [$0] } }
        return try folder.files().filter { PlaylistAddress.isPlaylist($0.last ?? "") }
    }

    /// Returns whether a playlist is one that the user named, or one that those refer to.
    private func isServed(_ path: [String]) throws(DecryptionError) -> Bool {
        if options.named.isEmpty || path.count == 1 && options.named.contains(path[0]) { return true }
        for name in options.named {
            guard let loaded = try load([name]), case .master(let master) = loaded.playlist else { continue }
            let uris = master.variants.map(\.uri) + master.renditions.compactMap(\.uri)
            if uris.contains(where: { names(of: $0, in: loaded) == path }) { return true }
        }
        return false
    }

    /// Returns the path that a URI of a playlist refers to; `nil` if it is outside of this folder.
    func names(of uri: String, in loaded: LoadedPlaylist) -> [String]? {
        URIReference(uri).resolved(against: loaded.base).fileNames
    }

    private func made(_ bytes: [UInt8], of loaded: LoadedPlaylist) -> ServedContent {
        let name = loaded.path.last ?? ""
        let (source, backend) = (MemorySource(bytes), options.backend)
        var content = ServedContent(
            contentType: ContentType.ofFile(named: name), byteCount: source.byteCount,
            entityTag: EntityTag(of: [String(decoding: bytes, as: UTF8.self)]), modified: nil
        ) { () throws(DecryptionError) in
            try OpenPiece(PiecePlace(0..<source.byteCount), of: source, backend: backend, keys: nil).makeCursor()
        }
        content.isRecorded = false
        return content
    }
}

extension ServedPlaylists {
    /// Returns a master playlist with the media playlists that can be served.
    ///
    /// Each of its playlists is checked. The server leaves out and reports the line of a playlist that is missing, or
    /// that is itself a master playlist, as in a cycle.
    ///
    /// - Throws: `DecryptionError` if no playlist is left.
    func rewrittenMaster(_ loaded: LoadedPlaylist) throws(DecryptionError) -> [UInt8] {
        // Several lines may name the same playlist.
        var known: [[String]: Bool] = [:]
        var firstError: DecryptionError?
        var count = 0
        func name(_ uri: String, _ line: Int) -> String? {
            do throws(DecryptionError) {
                guard let names = names(of: uri, in: loaded), PlaylistAddress.isPlaylist(names.last ?? "") else {
                    throw .unsupported("fetching \(URIReference(uri).redacted): expected a playlist of this folder")
                }
                if known[names] == nil {
                    known[names] = false
                    try checkMedia(names, uri, loaded)
                    known[names] = true
                }
                guard known[names] == true else { return nil }
                count += 1
                let up = String(repeating: "../", count: loaded.path.count - 1)
                return up + RequestTarget.encoded(names)
            } catch {
                let error = DecryptionError.inPart(loaded.name, .inPart("line \(line)", error))
                if let firstError { options.report("\(firstError)") }
                firstError = error
                return nil
            }
        }
        let text: String
        do throws(PlaylistProblem) {
            text = try loaded.bytes.withUnsafeBufferPointer { (bytes) throws(PlaylistProblem) in
                try MasterRewriter.rewrite(UnsafeRawBufferPointer(bytes), limits: Self.limits, name: name)
            }
        } catch {
            throw loaded.error(error)
        }
        if count == 0 {
            throw firstError ?? .inPart(loaded.name, .invalidPlaylist(reason: "no variant: expected one at least"))
        }
        if let firstError { options.report("\(firstError)") }
        return Array(text.utf8)
    }

    private func checkMedia(_ names: [String], _ uri: String, _ loaded: LoadedPlaylist) throws(DecryptionError) {
        let shown = URIReference(uri).redacted
        guard names != loaded.path else {
            throw .invalidPlaylist(reason: "\(shown) leads back to this playlist: expected a media playlist")
        }
        guard let isMedia = try isMedia(names) else { throw .missing(shown) }
        guard isMedia else {
            throw .unsupported("the master playlist \(shown) in a master playlist: expected a media playlist")
        }
    }
}
#endif
