import ByteSources
import RandomAccess
import Synchronization

/// The playlists that were used last: a player asks for one, and then for its segments one by one.
final class PlaylistCache: Sendable {
    private let state = Mutex<[LoadedPlaylist]>([])

    /// The most that are kept.
    private static let most = 4

    /// A playlist of the version that a file has now, loaded if need be, one at a time.
    ///
    /// - Parameters:
    ///   - path: The names of the folders and of the file.
    ///   - identity: The file's version.
    ///   - load: Loads it, given an older version if there is one.
    /// - Returns: The playlist.
    /// - Throws: What `load` throws.
    func playlist(
        _ path: [String], _ identity: FileIdentity,
        load: (LoadedPlaylist?) throws(DecryptionError) -> LoadedPlaylist
    ) throws(DecryptionError) -> LoadedPlaylist {
        try state.withLock { (kept) throws(DecryptionError) in
            let place = kept.firstIndex { $0.path == path }
            let old = place.map { kept[$0] }
            let now: LoadedPlaylist
            if let old, old.identity == identity { now = old } else { now = try load(old) }
            if let place { kept.remove(at: place) }
            kept.append(now)
            if kept.count > Self.most { kept.removeFirst() }
            return now
        }
    }
}
