internal import ByteSources
public import RandomAccess
public import SystemPackage

/// A playlist in a file, with the files around it.
public struct PlaylistFile: Sendable {
    /// The media playlist's path.
    public let path: FilePath
    /// The media playlist.
    public let playlist: MediaPlaylist
    /// The files that its URIs mean.
    public let resources: FolderResources

    /// A master playlist leads to a media playlist at once; what takes more steps than this leads nowhere.
    private static let mostSteps = 8

    /// Reads a playlist, and the one that it leads to if it is a master playlist.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - root: The folder that no path in the playlists leaves; `nil` if any file may be named.
    ///   - choice: Which variant of a master playlist is meant.
    ///   - limits: What a playlist may have.
    /// - Throws: `DecryptionError.io` if a playlist cannot be read; `.inPart` with the playlist's path and what is wrong
    ///   if no part of it can be used.
    public init(
        path: FilePath, root: FilePath? = nil, choice: VariantChoice = .highestBandwidth,
        limits: PlaylistLimits = PlaylistLimits()
    ) throws(DecryptionError) {
        var path = path
        var visited: [String] = []
        while true {
            let resources = try FolderResources(playlist: path, root: root)
            visited.append(resources.base.path)
            switch try Self.read(path, limits) {
            case .media(let playlist):
                self.path = path
                self.playlist = playlist
                self.resources = resources
                return
            case .master(let master):
                do throws(DecryptionError) {
                    path = try Self.next(master, choice, resources, visited)
                } catch {
                    throw .inPart(path.string, error)
                }
            }
        }
    }

    /// Reads and parses one playlist of either kind; a file that is too long to be one is not read.
    ///
    /// - Throws: `DecryptionError.io`, `.inPart`.
    public static func read(
        _ path: FilePath, _ limits: PlaylistLimits = PlaylistLimits()
    ) throws(DecryptionError) -> Playlist {
        let source = try FileSource(path: path)
        do throws(PlaylistProblem) {
            guard source.byteCount <= UInt64(limits.byteCount) else {
                throw PlaylistProblem(
                    line: 1, kind: .tooLarge, found: "\(source.byteCount) bytes",
                    expected: "a playlist of at most \(limits.byteCount)")
            }
        } catch {
            throw .inPart(path.string, error.decryptionError)
        }
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: Int(source.byteCount), alignment: 16)
        defer { room.deallocate() }
        try source.fetch(at: 0, into: room)
        do throws(PlaylistProblem) {
            return try Playlist.parse(UnsafeRawBufferPointer(room), limits: limits)
        } catch {
            throw .inPart(path.string, error.decryptionError)
        }
    }

    /// The path of the playlist that a master playlist leads to.
    private static func next(
        _ master: MasterPlaylist, _ choice: VariantChoice, _ resources: FolderResources, _ visited: [String]
    ) throws(DecryptionError) -> FilePath {
        let variant: MasterPlaylist.Variant
        do throws(PlaylistProblem) {
            variant = try master.variant(choice)
            let target = URIReference(variant.uri).resolved(against: resources.base).path
            guard !visited.contains(target), visited.count < mostSteps else {
                throw PlaylistProblem(
                    line: variant.line, kind: .cycle,
                    found: "\(URIReference(variant.uri).shown), which leads back to a playlist that led here",
                    expected: "a media playlist")
            }
        } catch {
            throw error.decryptionError
        }
        return try resources.path(for: variant.uri)
    }
}
