#if Network
import ByteSources
import HLS
import RandomAccess
import Synchronization
import SystemPackage

extension ServedPlaylists {
    private static let start = Array("#EXTM3U".utf8)
    /// The number of bytes of a playlist that are read to find out its kind.
    private static let firstByteCount: UInt64 = 16 << 10

    /// Reads the current version of a playlist.
    ///
    /// - Returns: The playlist; `nil` if there is no such file, or if it is another kind of file and the options allow
    ///   that.
    /// - Throws: `DecryptionError` if the file cannot be read, or not be used as a playlist.
    func load(_ path: [String]) throws(DecryptionError) -> LoadedPlaylist? {
        guard let file = try folder.open(path) else { return nil }
        if options.mayBeOthers {
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.start.count, alignment: 16)
            defer { buffer.deallocate() }
            guard file.byteCount >= UInt64(buffer.count) else { return nil }
            try file.fetch(at: 0, into: buffer)
            guard buffer.elementsEqual(Self.start) else { return nil }
        }
        return try cache.playlist(path, file.opened) { (old) throws(DecryptionError) in
            try read(file, path, old)
        }
    }

    /// Returns whether a playlist is a media playlist; `nil` if there is no such file.
    ///
    /// Usually the first lines decide, and the rest is not read.
    ///
    /// - Throws: `DecryptionError` if the file cannot be read, or not be used as a playlist.
    func isMedia(_ path: [String]) throws(DecryptionError) -> Bool? {
        guard let file = try folder.open(path) else { return nil }
        let count = Int(min(file.byteCount, Self.firstByteCount))
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
        defer { buffer.deallocate() }
        try file.fetch(at: 0, into: buffer)
        let whole = buffer.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        let lines = UnsafeRawBufferPointer(rebasing: buffer[..<whole])
        if let isMedia = Playlist.isMedia(lines, limits: Self.limits) { return isMedia }
        guard let loaded = try load(path) else { return nil }
        if case .media = loaded.playlist { return true }
        return false
    }

    private func read(
        _ file: FileSource, _ path: [String], _ old: LoadedPlaylist?
    ) throws(DecryptionError) -> LoadedPlaylist {
        let name = path.joined(separator: "/")
        // Of a file that is too long, only the mark of a playlist is read.
        let isTooLong = file.byteCount > UInt64(Self.limits.byteCount)
        let count = isTooLong ? Self.start.count : Int(file.byteCount)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
        defer { buffer.deallocate() }
        try file.fetch(at: 0, into: buffer)
        try file.checkVersion()
        let bytes = UnsafeRawBufferPointer(buffer)
        do throws(PlaylistProblem) {
            var playlist = try Playlist.parse(bytes, limits: Self.limits)
            if case .media(let media) = playlist {
                var read = media.reading(options.ranges)
                if options.keepsEncryption { read.refuseChains() }
                playlist = .media(read)
            }
            if isTooLong {
                throw PlaylistProblem(
                    line: 1, kind: .tooLarge, found: "\(file.byteCount) bytes",
                    expected: "a playlist of at most \(Self.limits.byteCount)")
            }
            return try loaded(playlist, bytes, file, path, old)
        } catch {
            throw .inPart(name, error.decryptionError)
        }
    }

    private func loaded(
        _ playlist: Playlist, _ bytes: UnsafeRawBufferPointer, _ file: FileSource, _ path: [String],
        _ old: LoadedPlaylist?
    ) throws(PlaylistProblem) -> LoadedPlaylist {
        let ring = old?.ring ?? makeRing(path)
        ring.forgetFailures()
        guard case .media(let media) = playlist else {
            return LoadedPlaylist(
                identity: file.opened, path: path, playlist: playlist, bytes: Array(bytes), ring: ring, sections: [:])
        }
        let text = try MediaRewriter.rewrite(bytes, media, names: names(media, path), limits: Self.limits)
        let sections = Dictionary(
            media.initializationSections.enumerated().map { (PlaylistAddress.hash($1), $0) }
        ) { first, _ in first }
        var loaded = LoadedPlaylist(
            identity: file.opened, path: path, playlist: playlist, bytes: Array(text.utf8), ring: ring,
            sections: sections)
        reportProblems(media, of: loaded)
        // A playlist that grows has no length for a trace.
        if options.isRecorded, media.hasEndList { loaded.segmentOffsets = segmentOffsets(of: media, loaded) }
        return loaded
    }

    /// The root is the served folder; no key's URI may lead out of it.
    private func makeRing(_ path: [String]) -> KeyRing {
        let file = path.reduce(into: folder.path) { $0.append($1) }
        do throws(DecryptionError) {
            return options.keys(PlaylistKeys(try FolderResources(playlist: file, root: folder.path)))
        } catch {
            let reason = "\(error)"
            return KeyRing(HandlerKeys { _ in throw KeyError.refused(reason: reason) })
        }
    }

    private func names(_ media: MediaPlaylist, _ path: [String]) -> RewrittenNames {
        let list = path.last ?? ""
        func uri(_ part: String, _ uri: String) -> String {
            PlaylistAddress.uri(part, for: uri, in: list)
        }
        return RewrittenNames(
            segment: { index in
                uri("s\(media.mediaSequence &+ UInt64(index))", media.segments[index].uri)
            },
            initializationSection: { index in
                let section = media.initializationSections[index]
                return uri("m" + PlaylistAddress.hash(section), section.uri)
            },
            key: options.keepsEncryption ? { uri("k" + PlaylistAddress.hash(key: $0), $0) } : nil)
    }

    /// Reports the problems of each version of a playlist once.
    private func reportProblems(_ media: MediaPlaylist, of loaded: LoadedPlaylist) {
        for problem in media.problems.prefix(10) { options.report("\(loaded.name): \(problem)") }
        if media.problems.count > 10 {
            options.report("\(loaded.name): and \(media.problems.count - 10) more lines with problems")
        }
    }
}

/// A playlist that was read, and the data derived from it.
struct LoadedPlaylist: Sendable {
    /// The version of the file.
    let identity: FileIdentity
    /// The names of the folders and of the file.
    let path: [String]
    /// The parsed playlist.
    let playlist: Playlist
    /// The bytes of a master playlist, or of the rewritten media playlist.
    let bytes: [UInt8]
    /// The keys of a media playlist.
    let ring: KeyRing
    /// The indices of the initialization sections by their hashes. Of equal sections, the first counts.
    let sections: [String: Int]
    /// The start of each segment, with its initialization section, in the concatenation of all; empty if not recorded.
    var segmentOffsets: [UInt64] = []

    /// The name in messages.
    var name: String { path.joined(separator: "/") }

    /// The URI that relative URIs refer to.
    var base: URIReference { URIReference(names: path) }

    /// Returns the error for a problem in a line of the playlist.
    func error(_ problem: PlaylistProblem) -> DecryptionError {
        .inPart(name, problem.decryptionError)
    }
}

extension DecryptionError {
    /// Returns the error for a missing file. The corresponding C constant is `ENOENT`.
    static func missing(_ name: String) -> DecryptionError {
        .io(operation: "open \(name)", code: 2, reason: "no such file in the folder that is served")
    }

    /// True if the error says that a file is missing.
    var isMissing: Bool {
        if case .io(_, let code, _) = self { return code == 2 }
        return partError?.error.isMissing ?? false
    }
}

/// The most recently used playlists. A player asks for a playlist, and then for its segments one by one.
final class PlaylistCache: Sendable {
    /// A playlist's entry. Its lock is held while the playlist is loaded, so that only requests for this playlist wait.
    private final class Entry: Sendable {
        let path: [String]
        let loaded = Mutex<LoadedPlaylist?>(nil)

        init(path: [String]) {
            self.path = path
        }
    }

    /// The entries; the most recently used one is last.
    private let entries = Mutex<[Entry]>([])

    /// The max number of entries.
    private static let maximum = 4

    /// Returns the playlist of a file's current version, and loads it if necessary.
    ///
    /// - Parameters:
    ///   - path: The names of the folders and of the file.
    ///   - identity: The file's version.
    ///   - load: Loads the playlist; its argument is an older version if there is one.
    /// - Returns: The playlist.
    /// - Throws: The errors of `load`.
    func playlist(
        _ path: [String], _ identity: FileIdentity,
        load: (LoadedPlaylist?) throws(DecryptionError) -> LoadedPlaylist
    ) throws(DecryptionError) -> LoadedPlaylist {
        try entry(of: path).loaded.withLock { (loaded) throws(DecryptionError) in
            if let loaded, loaded.identity == identity { return loaded }
            let now = try load(loaded)
            loaded = now
            return now
        }
    }

    private func entry(of path: [String]) -> Entry {
        entries.withLock { entries in
            let index = entries.firstIndex { $0.path == path }
            let entry = index.map { entries.remove(at: $0) } ?? Entry(path: path)
            entries.append(entry)
            if entries.count > Self.maximum { entries.removeFirst() }
            return entry
        }
    }
}
#endif
