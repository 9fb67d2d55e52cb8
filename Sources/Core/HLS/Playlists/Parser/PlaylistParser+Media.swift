/// The tags of media playlists. Source: RFC 8216, sections 4.3.2 and 4.3.3.
extension PlaylistParser {
    /// Handles a tag.
    ///
    /// - Returns: `true` if the tag belongs to media playlists.
    mutating func mediaTag(
        _ name: String, _ value: Substring, _ line: PlaylistLine
    ) throws(PlaylistProblem) -> Bool {
        guard Self.mediaTags.contains(name) else { return false }
        try take(.media, name, line.number)
        let number = line.number
        switch name {
        case "EXTINF": try duration(value, number)
        case "EXT-X-BYTERANGE": try byteRange(value, line)
        case "EXT-X-KEY": try keyTag(value, line)
        case "EXT-X-MAP": try mapTag(value, line)
        case "EXT-X-DISCONTINUITY": media.discontinuities += 1
        case "EXT-X-GAP":
            media.pending.problem = PlaylistProblem(
                line: number, kind: .gap, found: "a segment that EXT-X-GAP says is missing",
                expected: "one that is there")
        case "EXT-X-SKIP":
            throw PlaylistProblem(
                line: number, kind: .unsupportedTag, found: "EXT-X-SKIP, which leaves out segments",
                expected: "a playlist with all its segments")
        default: try playlistTag(name, value, number)
        }
        return true
    }

    static let mediaTags: Set<String> = [
        "EXTINF", "EXT-X-BYTERANGE", "EXT-X-DISCONTINUITY", "EXT-X-KEY", "EXT-X-MAP", "EXT-X-PROGRAM-DATE-TIME",
        "EXT-X-DATERANGE", "EXT-X-GAP", "EXT-X-SKIP", "EXT-X-TARGETDURATION", "EXT-X-MEDIA-SEQUENCE",
        "EXT-X-DISCONTINUITY-SEQUENCE", "EXT-X-ENDLIST", "EXT-X-PLAYLIST-TYPE", "EXT-X-I-FRAMES-ONLY",
    ]

    /// Handles a tag about the whole playlist, which may occur once.
    private mutating func playlistTag(
        _ name: String, _ value: Substring, _ line: Int
    ) throws(PlaylistProblem) {
        guard ["EXT-X-DATERANGE", "EXT-X-PROGRAM-DATE-TIME"].contains(name) || media.seen.insert(name).inserted else {
            let problem = PlaylistProblem(
                line: line, kind: .duplicateTag, found: "\(name) again", expected: "it once")
            if name == "EXT-X-MEDIA-SEQUENCE" { media.sequenceProblem = problem }
            return try note(problem)
        }
        do throws(PlaylistProblem) {
            switch name {
            case "EXT-X-TARGETDURATION": media.targetDuration = try integer(name, value, line)
            case "EXT-X-MEDIA-SEQUENCE":
                do throws(PlaylistProblem) {
                    media.sequence = try integer(name, value, line)
                    try checkPlace(name, line)
                } catch {
                    media.sequenceProblem = error
                    throw error
                }
            case "EXT-X-DISCONTINUITY-SEQUENCE":
                media.discontinuitySequence = try integer(name, value, line)
                try checkPlace(name, line)
            case "EXT-X-ENDLIST": media.hasEndList = true
            case "EXT-X-PLAYLIST-TYPE":
                media.kind = MediaPlaylist.Kind(rawValue: String(value))
                guard media.kind != nil else {
                    throw PlaylistProblem(
                        line: line, kind: .invalidAttribute, found: "\(name) \(DecimalText.excerpt(value))",
                        expected: "EVENT or VOD")
                }
            default: break
            }
        } catch {
            try note(error)
        }
    }

    private func integer(_ name: String, _ value: Substring, _ line: Int) throws(PlaylistProblem) -> UInt64 {
        guard let number = DecimalText.integer(value) else {
            throw PlaylistProblem(
                line: line, kind: .invalidNumber, found: "\(name) \(DecimalText.excerpt(value))",
                expected: "an integer below 2^64 in decimal digits")
        }
        return number
    }

    private func checkPlace(_ name: String, _ line: Int) throws(PlaylistProblem) {
        guard media.segments.isEmpty else {
            throw PlaylistProblem(
                line: line, kind: .misplacedTag, found: "\(name) after a segment", expected: "it before the first one")
        }
    }

    private mutating func duration(_ value: Substring, _ line: Int) throws(PlaylistProblem) {
        if media.pending.durationLine != nil {
            try note(
                PlaylistProblem(
                    line: line, kind: .duplicateTag, found: "EXTINF again before a URI", expected: "one a segment"))
        }
        media.pending.durationLine = line
        let parts = value.split(separator: ",", maxSplits: 1, omittingEmptySubsequences: false)
        media.pending.title = parts.count == 2 ? String(parts[1]) : ""
        media.pending.duration = parts.first.flatMap(DecimalText.number)
        if media.pending.duration == nil {
            try note(
                PlaylistProblem(
                    line: line, kind: .invalidDuration, found: "EXTINF \(DecimalText.excerpt(parts.first ?? ""))",
                    expected: "seconds as a decimal number, and a comma"))
        } else if parts.count < 2 {
            try note(
                PlaylistProblem(
                    line: line, kind: .invalidDuration, found: "EXTINF without a comma",
                    expected: "a comma after the duration"))
        }
    }

    private mutating func byteRange(_ value: Substring, _ line: PlaylistLine) throws(PlaylistProblem) {
        var problem = line.problem
        if media.pending.byteRangeLine != nil {
            problem = PlaylistProblem(
                line: line.number, kind: .duplicateTag, found: "EXT-X-BYTERANGE again before a URI",
                expected: "one a segment")
        }
        media.pending.byteRangeLine = line.number
        media.pending.byteRange = DecimalText.byteRange(value)
        if media.pending.byteRange == nil {
            problem = PlaylistProblem(
                line: line.number, kind: .invalidByteRange, found: "EXT-X-BYTERANGE \(DecimalText.excerpt(value))",
                expected: "a length and perhaps @ and an offset, below 2^64 together")
        }
        if let problem {
            media.pending.problem = media.pending.problem ?? problem
            try note(problem)
        }
    }
}

/// The state after the tags of a media playlist so far.
struct MediaState {
    /// The tags that apply to the next segment.
    struct Pending {
        /// The line of EXTINF.
        var durationLine: Int?
        var duration: Double?
        var title = ""
        /// The line of EXT-X-BYTERANGE.
        var byteRangeLine: Int?
        var byteRange: (byteCount: UInt64, offset: UInt64?)?
        /// The problem that makes the segment unusable.
        var problem: PlaylistProblem?
    }

    var targetDuration: UInt64?
    var sequence: UInt64 = 0
    var discontinuitySequence: UInt64 = 0
    var discontinuities: UInt64 = 0
    var kind: MediaPlaylist.Kind?
    var hasEndList = false
    /// The tags seen so far among those that may occur once.
    var seen: Set<String> = []
    /// The problem with the media sequence number, on which IVs depend.
    var sequenceProblem: PlaylistProblem?
    var pending = Pending()
    var sections: [InitializationSection] = []
    /// The section in force.
    var section: Int?
    var segments: [MediaSegment] = []
    /// The resource and the end of the previous segment's byte range.
    var rangeBefore: (uri: String, end: UInt64)?
}
