#if Network
import ByteSources
import RandomAccess
import Synchronization

/// The playlists that were used last: a player asks for one, and then for its segments one by one.
final class PlaylistCache: Sendable {
    /// A playlist's place, whose lock is held while it is loaded: who asks for the same one waits, nobody else.
    private final class Place: Sendable {
        let path: [String]
        let loaded = Mutex<LoadedPlaylist?>(nil)

        init(path: [String]) {
            self.path = path
        }
    }

    /// The places, that used last at the end.
    private let places = Mutex<[Place]>([])

    /// The most that are kept.
    private static let maximum = 4

    /// A playlist of the version that a file has now, loaded if need be.
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
        try place(of: path).loaded.withLock { (loaded) throws(DecryptionError) in
            if let loaded, loaded.identity == identity { return loaded }
            let now = try load(loaded)
            loaded = now
            return now
        }
    }

    private func place(of path: [String]) -> Place {
        places.withLock { places in
            let index = places.firstIndex { $0.path == path }
            let place = index.map { places.remove(at: $0) } ?? Place(path: path)
            places.append(place)
            if places.count > Self.maximum { places.removeFirst() }
            return place
        }
    }
}
#endif
