/// What becomes of tags when a playlist is rewritten.
enum RewrittenTags {
    /// A line's tag, by its name without `#`; `nil` for a comment.
    ///
    /// White space and small letters are mended, so that what was meant for one of ``dropped`` is dropped.
    static func name(_ line: String) -> String? {
        guard line.hasPrefix("#") else { return nil }
        let name = line.dropFirst().prefix { $0 != ":" }
        guard name.utf8.count <= 64 else { return nil }
        let folded = name.uppercased().filter { $0 != " " && $0 != "\t" }
        return folded.hasPrefix("EXT") ? folded : nil
    }

    /// Tags of resources that are not served, or not under the URIs that they say.
    ///
    /// - Source: RFC 8216, section 4.3; draft-pantos-hls-rfc8216bis, sections 4.4.2.3 and 4.4.3.7 on.
    static let dropped: Set<String> = [
        "EXTM3U", "EXT-X-KEY", "EXT-X-BYTERANGE", "EXT-X-DEFINE", "EXT-X-PART", "EXT-X-PART-INF",
        "EXT-X-PRELOAD-HINT", "EXT-X-RENDITION-REPORT", "EXT-X-SERVER-CONTROL", "EXT-X-SESSION-KEY",
        "EXT-X-CONTENT-STEERING",
    ]

    /// Tags that may be there once.
    static let single: Set<String> = [
        "EXT-X-VERSION", "EXT-X-TARGETDURATION", "EXT-X-MEDIA-SEQUENCE", "EXT-X-DISCONTINUITY-SEQUENCE",
        "EXT-X-ENDLIST", "EXT-X-PLAYLIST-TYPE", "EXT-X-I-FRAMES-ONLY",
    ]

    /// A line without control characters.
    static func clean(_ line: PlaylistLine) -> String {
        guard line.problem != nil else { return line.text }
        return String(
            String.UnicodeScalarView(line.text.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }))
    }
}
