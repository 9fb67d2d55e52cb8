/// A playlist of HTTP Live Streaming.
///
/// - Source: RFC 8216, section 4.
public enum Playlist: Hashable, Sendable {
    /// A list of segments.
    case media(MediaPlaylist)
    /// A list of playlists of the same content.
    case master(MasterPlaylist)

    /// Reads a playlist: one pass over its bytes.
    ///
    /// What is wrong with a part of it is collected in `problems`, and with the segments that it concerns; the rest can
    /// be used.
    ///
    /// - Parameters:
    ///   - bytes: The playlist as it was received.
    ///   - limits: What it may have.
    /// - Returns: The playlist.
    /// - Throws: `PlaylistProblem` if no part of it can be used.
    /// - Complexity: O(n) in the bytes, and never more than the limits allow.
    public static func parse(
        _ bytes: UnsafeRawBufferPointer, limits: PlaylistLimits = PlaylistLimits()
    ) throws(PlaylistProblem) -> Playlist {
        guard bytes.count <= limits.byteCount else {
            throw PlaylistProblem(
                line: 1, kind: .tooLarge, found: "\(bytes.count) bytes",
                expected: "a playlist of at most \(limits.byteCount)")
        }
        var parser = PlaylistParser(limits: limits)
        return try parser.parse(bytes)
    }

    /// Reads a playlist from bytes that are held in an array; see ``parse(_:limits:)-(UnsafeRawBufferPointer,_)``.
    public static func parse(
        _ bytes: [UInt8], limits: PlaylistLimits = PlaylistLimits()
    ) throws(PlaylistProblem) -> Playlist {
        try bytes.withUnsafeBufferPointer { (bytes) throws(PlaylistProblem) in
            try parse(UnsafeRawBufferPointer(bytes), limits: limits)
        }
    }

    /// Reads a playlist from text; see ``parse(_:limits:)-(UnsafeRawBufferPointer,_)``.
    public static func parse(
        _ text: String, limits: PlaylistLimits = PlaylistLimits()
    ) throws(PlaylistProblem) -> Playlist {
        try parse(Array(text.utf8), limits: limits)
    }

    /// Whether a playlist is a media playlist, by the first lines that tell.
    ///
    /// - Parameters:
    ///   - bytes: The playlist, or its first lines.
    ///   - limits: What it may have.
    /// - Returns: `nil` if none of the lines tells, or something is wrong with one before.
    package static func isMedia(_ bytes: UnsafeRawBufferPointer, limits: PlaylistLimits = PlaylistLimits()) -> Bool? {
        var parser = PlaylistParser(limits: limits)
        guard let side = try? parser.side(bytes) else { return nil }
        return side == .media
    }
}
