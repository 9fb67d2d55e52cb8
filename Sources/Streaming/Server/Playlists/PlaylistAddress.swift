#if Network
import HLS
import RandomAccess

/// The URIs under which the resources of playlists are served: `list.m3u8/s120/film.ts`.
///
/// The numbers of segments and the hashes of the rest mean the same thing when a playlist has grown.
struct PlaylistAddress {
    /// What is meant.
    enum Part: Equatable {
        /// The playlist.
        case playlist
        /// The segment of a media sequence number.
        case segment(UInt64)
        /// The initialization section of a hash.
        case initializationSection(String)
        /// The key of a hash.
        case key(String)
    }

    /// The playlist's folders and name.
    let playlist: [String]
    /// What of it.
    let part: Part

    /// Reads a path.
    ///
    /// - Returns: `nil` if no name in it is a playlist's, or what follows means nothing.
    init?(_ path: [String]) {
        guard let index = path.firstIndex(where: PlaylistAddress.isPlaylist) else { return nil }
        playlist = Array(path[...index])
        let rest = path[(index + 1)...]
        guard let kind = rest.first else {
            part = .playlist
            return
        }
        guard rest.count == 2 else { return nil }
        let value = String(kind.dropFirst())
        switch kind.first {
        case "s":
            guard let number = UInt64(value), "\(number)" == value else { return nil }
            part = .segment(number)
        case "m": part = .initializationSection(value)
        case "k": part = .key(value)
        default: return nil
        }
    }

    /// Whether a file is taken for a playlist. Source: RFC 8216, section 4.
    static func isPlaylist(_ name: String) -> Bool {
        let name = name.lowercased()
        return name.hasSuffix(".m3u8") || name.hasSuffix(".m3u")
    }

    /// The hash of an initialization section.
    static func hash(_ section: InitializationSection) -> String {
        EntityTag(of: [section.uri, "\(section.byteRange.map { "\($0)" } ?? "")", "\(section.encryption)"]).opaque
    }

    /// The hash of a key's URI.
    static func hash(key uri: String) -> String { EntityTag(of: [uri]).opaque }

    /// The relative URI of a part of a playlist.
    ///
    /// - Parameters:
    ///   - part: `s`, `m` or `k` and what follows it.
    ///   - uri: The resource's URI as written, whose name is kept: some players go by its end.
    ///   - playlist: The playlist's name.
    /// - Returns: The URI.
    static func uri(_ part: String, for uri: String, in playlist: String) -> String {
        let last = URIReference(uri).fileNames?.last ?? ""
        let name = last.isEmpty || last.utf8.count > 200 ? "part" : last
        return RequestTarget.encoded([playlist, part, name])
    }
}
#endif
