import ByteSources
public import RandomAccess
public import SystemPackage

/// A playlist in a file, with the files around it.
public struct PlaylistFile: Sendable {
    /// The media playlist's path.
    public let path: FilePath
    /// The media playlist.
    public let playlist: MediaPlaylist
    /// The files at the playlist's URIs.
    public let resources: FolderResources
    /// Notes on parts of the content that a master playlist lists elsewhere.
    public private(set) var notes: [String] = []

    /// Reads a playlist. For a master playlist, reads the chosen media playlist too.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - root: The folder that paths in the playlists cannot leave; `nil` for the file's folder, `/` for no
    ///     restriction.
    ///   - choice: The variant of a master playlist to read.
    ///   - limits: The limits of a playlist's size.
    /// - Throws: `DecryptionError.io` if a playlist cannot be read; `PartError` with the playlist's path and the fault
    ///   if no part of it is usable.
    public init(
        path: FilePath, root: FilePath? = nil, choice: VariantChoice = .highestBandwidth,
        limits: PlaylistLimits = PlaylistLimits()
    ) throws(DecryptionError) {
        let folder = path.removingLastComponent()
        let root = root ?? (folder.isEmpty ? "." : folder)
        var path = path
        var visited: [String] = []
        while true {
            let found = try Self.read(path, limits)
            let resources = try FolderResources(playlist: path, root: root)
            visited.append(resources.base.text)
            switch found {
            case .media(let playlist):
                self.path = path
                self.playlist = playlist
                self.resources = resources
                return
            case .master(let master):
                do throws(DecryptionError) {
                    path = try resources.path(for: master.next(choice, in: resources.base, visited: visited))
                    notes += master.notes(choice)
                } catch {
                    throw .inPart(path.string, error)
                }
            }
        }
    }

    /// Reads and parses one playlist of either kind; does not read a file that is too long for a playlist.
    ///
    /// - Throws: `DecryptionError.io`, `PartError`.
    public static func read(
        _ path: FilePath, _ limits: PlaylistLimits = PlaylistLimits()
    ) throws(DecryptionError) -> Playlist {
        try Playlist.read(FileSource(path: path), named: path.string, limits)
    }
}

extension Playlist {
    /// Reads and parses one playlist of either kind; does not read a source that is too long for a playlist.
    ///
    /// - Parameters:
    ///   - source: The playlist's bytes.
    ///   - name: The playlist's name in messages.
    ///   - limits: The limits of its size.
    /// - Returns: The playlist.
    /// - Throws: `DecryptionError.io`; `PartError` with the name if no part of it is usable.
    static func read(
        _ source: any ByteSource, named name: String, _ limits: PlaylistLimits
    ) throws(DecryptionError) -> Playlist {
        do throws(PlaylistProblem) {
            guard source.byteCount <= UInt64(limits.byteCount) else {
                throw PlaylistProblem(
                    line: 1, kind: .tooLarge, found: "\(source.byteCount) bytes",
                    expected: "a playlist of at most \(limits.byteCount)")
            }
        } catch {
            throw .inPart(name, error.decryptionError)
        }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Int(source.byteCount), alignment: 16)
        defer { buffer.deallocate() }
        try source.fetch(at: 0, into: buffer)
        do throws(PlaylistProblem) {
            return try parse(UnsafeRawBufferPointer(buffer), limits: limits)
        } catch {
            throw .inPart(name, error.decryptionError)
        }
    }
}

extension MasterPlaylist {
    /// The max number of steps to a media playlist. A real master playlist needs one; more than this is a loop.
    private static let maxSteps = 16

    /// Returns the URI of the playlist that this one leads to, as written.
    ///
    /// - Parameters:
    ///   - choice: The variant to read.
    ///   - base: This playlist's URI.
    ///   - visited: The URIs of all playlists that led here, and this one's.
    /// - Returns: The URI.
    /// - Throws: `PlaylistError.invalid` if the variant does not exist, or leads back to an earlier playlist.
    func next(
        _ choice: VariantChoice, in base: URIReference, visited: [String]
    ) throws(DecryptionError) -> String {
        do throws(PlaylistProblem) {
            let variant = try variant(choice)
            let target = URIReference(variant.uri).resolved(against: base).text
            guard !visited.contains(target), visited.count < Self.maxSteps else {
                throw PlaylistProblem(
                    line: variant.line, kind: .cycle,
                    found: "\(URIReference(variant.uri).redacted), which leads back to a playlist that led here",
                    expected: "a media playlist")
            }
            return variant.uri
        } catch {
            throw error.decryptionError
        }
    }
}
