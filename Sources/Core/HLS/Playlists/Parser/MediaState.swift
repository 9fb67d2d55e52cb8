/// What the tags of a media playlist have said so far.
struct MediaState {
    /// What waits for the next segment's URI.
    struct Pending {
        /// EXTINF's line.
        var durationLine: Int?
        var duration: Double?
        var title = ""
        /// EXT-X-BYTERANGE's line.
        var byteRangeLine: Int?
        var byteRange: (byteCount: UInt64, offset: UInt64?)?
        /// What keeps the segment from being served.
        var problem: PlaylistProblem?
    }

    var targetDuration: UInt64?
    var sequence: UInt64 = 0
    var discontinuitySequence: UInt64 = 0
    var discontinuities: UInt64 = 0
    var kind: MediaPlaylist.Kind?
    var hasEndList = false
    /// The tags that may be there once, and were.
    var seen: Set<String> = []
    /// What is wrong with the media sequence number, on which IVs depend.
    var sequenceProblem: PlaylistProblem?
    var pending = Pending()
    var sections: [InitializationSection] = []
    /// The section in force.
    var section: Int?
    var segments: [MediaSegment] = []
    /// Where the previous segment's byte range ended, and in which resource.
    var rangeBefore: (uri: String, end: UInt64)?
}
