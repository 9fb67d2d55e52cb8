/// A list of segments.
///
/// - Source: RFC 8216, section 4.3.3.
public struct MediaPlaylist: Hashable, Sendable {
    /// Whether the list only grows, or never changes. Source: RFC 8216, section 4.3.3.5.
    public enum Kind: String, CaseIterable, Hashable, Sendable {
        /// Segments are only added.
        case event = "EVENT"
        /// Nothing changes.
        case videoOnDemand = "VOD"
    }

    /// EXT-X-VERSION, 1 where there is none.
    public let version: UInt64
    /// EXT-X-TARGETDURATION in seconds; `nil` where there is none that can be read.
    public let targetDuration: UInt64?
    /// EXT-X-MEDIA-SEQUENCE, 0 where there is none.
    public let mediaSequence: UInt64
    /// EXT-X-DISCONTINUITY-SEQUENCE, 0 where there is none.
    public let discontinuitySequence: UInt64
    /// EXT-X-PLAYLIST-TYPE, `nil` where there is none.
    public let kind: Kind?
    /// Whether there is EXT-X-ENDLIST: no segment will be added.
    public let hasEndList: Bool
    /// The initialization sections, in the order of their tags.
    public let initializationSections: [InitializationSection]
    /// The segments, in order; those that cannot be served are among them.
    public let segments: [MediaSegment]
    /// All that is wrong, in the order in which it was found; not all of it keeps a segment from being served.
    public let problems: [PlaylistProblem]

    /// The URIs of all keys that segments and initialization sections need, each once, in order.
    public var keyURIs: [String] {
        var seen: Set<String> = []
        let encryptions = segments.flatMap { segment in
            [segment.initializationSection.map { initializationSections[$0].encryption } ?? .none, segment.encryption]
        }
        return encryptions.compactMap(\.keyURI).filter { seen.insert($0).inserted }
    }
}
