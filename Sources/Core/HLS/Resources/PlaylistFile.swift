import ByteSources
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
    /// What a master playlist that led here has besides, which belongs to the media playlist.
    public private(set) var notes: [String] = []

    /// Reads a playlist, and the one that it leads to if it is a master playlist.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - root: The folder that no path in the playlists leaves; `nil` for the one that the file lies in, `/` for any.
    ///   - choice: Which variant of a master playlist is meant.
    ///   - limits: What a playlist may have.
    /// - Throws: `DecryptionError.io` if a playlist cannot be read; `PartError` with the playlist's path and what is
    ///   wrong if no part of it can be used.
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

    /// Reads and parses one playlist of either kind; a file that is too long to be one is not read.
    ///
    /// - Throws: `DecryptionError.io`, `PartError`.
    public static func read(
        _ path: FilePath, _ limits: PlaylistLimits = PlaylistLimits()
    ) throws(DecryptionError) -> Playlist {
        try Playlist.read(FileSource(path: path), named: path.string, limits)
    }
}

extension Playlist {
    /// Reads and parses one playlist of either kind; what is too long to be one is not read.
    ///
    /// - Parameters:
    ///   - source: Its bytes.
    ///   - name: What it is called in messages.
    ///   - limits: What it may have.
    /// - Returns: The playlist.
    /// - Throws: `DecryptionError.io`; `PartError` with the name if no part of it can be used.
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
    /// A master playlist leads to a media playlist at once; what takes more steps than this leads nowhere.
    private static let maxSteps = 16

    /// The URI of the playlist that this one leads to, as written.
    ///
    /// - Parameters:
    ///   - choice: Which variant is meant.
    ///   - base: This playlist's URI.
    ///   - visited: The URIs of all playlists that led here, and this one's.
    /// - Returns: The URI.
    /// - Throws: `PlaylistError.invalid` if there is no such variant, or it leads back.
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
