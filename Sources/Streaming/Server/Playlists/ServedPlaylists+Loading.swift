#if Network
import ByteSources
import HLS
import RandomAccess
import SystemPackage

extension ServedPlaylists {
    private static let start = Array("#EXTM3U".utf8)
    /// What is read of a playlist to know its kind.
    private static let firstByteCount: UInt64 = 16 << 10

    /// Reads a playlist as it is now.
    ///
    /// - Returns: `nil` if there is no such file, or it is something else and may be.
    /// - Throws: `DecryptionError` for what cannot be read, or be used as a playlist.
    func load(_ path: [String]) throws(DecryptionError) -> LoadedPlaylist? {
        guard let file = try folder.open(path) else { return nil }
        if options.mayBeOthers {
            let room = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.start.count, alignment: 16)
            defer { room.deallocate() }
            guard file.byteCount >= UInt64(room.count) else { return nil }
            try file.fetch(at: 0, into: room)
            guard room.elementsEqual(Self.start) else { return nil }
        }
        return try cache.playlist(path, file.identity) { (old) throws(DecryptionError) in
            try read(file, path, old)
        }
    }

    /// Whether a playlist is a media playlist; `nil` if there is no such file.
    ///
    /// The first lines tell, as a rule, and the rest is then not read.
    ///
    /// - Throws: `DecryptionError` for what cannot be read, or be used as a playlist.
    func isMedia(_ path: [String]) throws(DecryptionError) -> Bool? {
        guard let file = try folder.open(path) else { return nil }
        let count = Int(min(file.byteCount, Self.firstByteCount))
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
        defer { room.deallocate() }
        try file.fetch(at: 0, into: room)
        let whole = room.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        let lines = UnsafeRawBufferPointer(rebasing: room[..<whole])
        if let isMedia = Playlist.isMedia(lines, limits: Self.limits) { return isMedia }
        guard let loaded = try load(path) else { return nil }
        if case .media = loaded.playlist { return true }
        return false
    }

    private func read(
        _ file: PinnedFile, _ path: [String], _ old: LoadedPlaylist?
    ) throws(DecryptionError) -> LoadedPlaylist {
        let name = path.joined(separator: "/")
        // What is too long is not read, but for what says whether it is a playlist at all.
        let isTooLong = file.byteCount > UInt64(Self.limits.byteCount)
        let count = isTooLong ? Self.start.count : Int(file.byteCount)
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
        defer { room.deallocate() }
        try file.fetch(at: 0, into: room)
        try file.checkUnchanged()
        let bytes = UnsafeRawBufferPointer(room)
        do throws(PlaylistProblem) {
            let playlist = try Playlist.parse(bytes, limits: Self.limits)
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
        _ playlist: Playlist, _ bytes: UnsafeRawBufferPointer, _ file: PinnedFile, _ path: [String],
        _ old: LoadedPlaylist?
    ) throws(PlaylistProblem) -> LoadedPlaylist {
        let ring = old?.ring ?? makeRing(path)
        ring.forgetFailures()
        guard case .media(let media) = playlist else {
            return LoadedPlaylist(
                identity: file.identity, path: path, playlist: playlist, bytes: Array(bytes), ring: ring, sections: [:])
        }
        let text = try MediaRewriter.rewrite(bytes, media, names: names(media, path), limits: Self.limits)
        let sections = Dictionary(
            media.initializationSections.enumerated().map { (PlaylistAddress.hash($1), $0) }
        ) { first, _ in first }
        var loaded = LoadedPlaylist(
            identity: file.identity, path: path, playlist: playlist, bytes: Array(text.utf8), ring: ring,
            sections: sections)
        reportProblems(media, of: loaded)
        // What grows has no length that a trace could have.
        if options.isRecorded, media.hasEndList { loaded.places = places(of: media, loaded) }
        return loaded
    }

    /// The folder that is served is the one that no key's URI leads out of.
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
        let (list, query) = (path.last ?? "", options.query)
        func uri(_ part: String, _ uri: String) -> String {
            PlaylistAddress.uri(part, for: uri, in: list, query: query)
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

    /// Says what is wrong once for each version of a playlist.
    private func reportProblems(_ media: MediaPlaylist, of loaded: LoadedPlaylist) {
        for problem in media.problems.prefix(10) { options.report("\(loaded.name): \(problem)") }
        if media.problems.count > 10 {
            options.report("\(loaded.name): and \(media.problems.count - 10) more lines with problems")
        }
    }
}
#endif
