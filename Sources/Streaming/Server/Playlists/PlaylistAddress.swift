#if Network
import HLS
import RandomAccess

/// The URIs of playlists' resources, such as `list.m3u8/s120/film.ts`.
///
/// They keep their meaning when a playlist grows: segments have numbers, and the other parts have hashes.
struct PlaylistAddress {
    /// The addressed part of a playlist.
    enum Part: Equatable {
        /// The playlist.
        case playlist
        /// The segment with this media sequence number.
        case segment(UInt64)
        /// The initialization section with this hash.
        case initializationSection(String)
        /// The key with this hash.
        case key(String)
    }

    /// The playlist's folders and name.
    let playlist: [String]
    /// The addressed part.
    let part: Part

    /// Reads a path.
    ///
    /// - Returns: `nil` if the path contains no playlist's name, or if the rest has no meaning.
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

    /// Returns whether a file name is that of a playlist. Source: RFC 8216, section 4.
    static func isPlaylist(_ name: String) -> Bool {
        let name = name.lowercased()
        return name.hasSuffix(".m3u8") || name.hasSuffix(".m3u")
    }

    /// Returns the hash of an initialization section.
    static func hash(_ section: InitializationSection) -> String {
        EntityTag(of: [section.uri, "\(section.byteRange.map { "\($0)" } ?? "")", "\(section.encryption)"]).opaque
    }

    /// Returns the hash of a key's URI.
    static func hash(key uri: String) -> String { EntityTag(of: [uri]).opaque }

    /// Returns the relative URI of a part of a playlist.
    ///
    /// - Parameters:
    ///   - part: `s`, `m` or `k`, and the number or hash.
    ///   - uri: The resource's URI as written. Its name is kept, because some players go by the suffix.
    ///   - playlist: The playlist's name.
    /// - Returns: The URI.
    static func uri(_ part: String, for uri: String, in playlist: String) -> String {
        let last = URIReference(uri).fileNames?.last ?? ""
        let name = last.isEmpty || last.utf8.count > 200 ? "part" : last
        return RequestTarget.encoded([playlist, part, name])
    }
}
#endif
