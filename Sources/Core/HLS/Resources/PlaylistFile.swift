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

    /// Reads a playlist, and the one that it leads to if it is a master playlist.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - root: The folder that no path in the playlists leaves; `nil` if any file may be named.
    ///   - choice: Which variant of a master playlist is meant.
    ///   - limits: What a playlist may have.
    /// - Throws: `DecryptionError.io` if a playlist cannot be read; `PlaylistError.inPart` with the playlist's path and what is wrong
    ///   if no part of it can be used.
    public init(
        path: FilePath, root: FilePath? = nil, choice: VariantChoice = .highestBandwidth,
        limits: PlaylistLimits = PlaylistLimits()
    ) throws(DecryptionError) {
        var path = path
        var visited: [String] = []
        while true {
            let resources = try FolderResources(playlist: path, root: root)
            visited.append(resources.base.text)
            switch try Self.read(path, limits) {
            case .media(let playlist):
                self.path = path
                self.playlist = playlist
                self.resources = resources
                return
            case .master(let master):
                do throws(DecryptionError) {
                    path = try resources.path(for: master.next(choice, in: resources.base, visited: visited))
                } catch {
                    throw .inPart(path.string, error)
                }
            }
        }
    }

    /// Reads and parses one playlist of either kind; a file that is too long to be one is not read.
    ///
    /// - Throws: `DecryptionError.io`, `PlaylistError.inPart`.
    public static func read(
        _ path: FilePath, _ limits: PlaylistLimits = PlaylistLimits()
    ) throws(DecryptionError) -> Playlist {
        try Playlist.read(FileSource(path: path), named: path.string, limits)
    }
}
