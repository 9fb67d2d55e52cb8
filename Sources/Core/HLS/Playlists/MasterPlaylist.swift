/// A list of playlists of the same content.
///
/// - Source: RFC 8216, section 4.3.4.
public struct MasterPlaylist: Hashable, Sendable {
    /// A media playlist among which a player chooses. Source: RFC 8216, section 4.3.4.2.
    public struct Variant: Hashable, Sendable {
        /// The line of the URI, or of the tag where the URI is an attribute.
        public let line: Int
        /// The media playlist's URI as written.
        public let uri: String
        /// BANDWIDTH in bits per second; `nil` if it cannot be read.
        public let bandwidth: UInt64?
        /// The other attributes by name, without quotation marks.
        public let attributes: [String: String]
        /// Whether it only has frames to seek by. Source: RFC 8216, section 4.3.4.3.
        public let isIFramesOnly: Bool
    }

    /// A rendition that goes with variants, such as another language. Source: RFC 8216, section 4.3.4.1.
    public struct Rendition: Hashable, Sendable {
        /// The line of the tag.
        public let line: Int
        /// TYPE.
        public let type: String
        /// GROUP-ID.
        public let groupID: String
        /// NAME.
        public let name: String
        /// The media playlist's URI as written; `nil` where the variant has the rendition in it.
        public let uri: String?
        /// All attributes by name, without quotation marks.
        public let attributes: [String: String]
    }

    /// EXT-X-VERSION, 1 where there is none.
    public let version: UInt64
    /// The variants, in order.
    public let variants: [Variant]
    /// The renditions, in order.
    public let renditions: [Rendition]
    /// All that is wrong.
    public let problems: [PlaylistProblem]
}
