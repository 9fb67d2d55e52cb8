public import RandomAccess

/// A segment: one resource, or a part of one.
///
/// - Source: RFC 8216, sections 3 and 4.3.2.
public struct MediaSegment: Hashable, Sendable {
    /// The line of the segment's URI.
    public let line: Int
    /// The URI as written.
    public let uri: String
    /// The media sequence number; `nil` if it does not fit into 64 bits.
    public let sequenceNumber: UInt64?
    /// The discontinuity sequence number: EXT-X-DISCONTINUITY-SEQUENCE and the EXT-X-DISCONTINUITY tags before.
    public let discontinuityNumber: UInt64
    /// EXTINF in seconds; `nil` if it cannot be read.
    public let duration: Double?
    /// What EXTINF says after the comma.
    public let title: String
    /// The part of the resource in bytes; `nil` for all of it.
    public let byteRange: Range<UInt64>?
    /// How the segment is encrypted.
    public var encryption: SegmentEncryption
    /// The initialization section that the segment needs, as an index into the playlist's; `nil` for none.
    public let initializationSection: Int?
    /// What keeps the segment from being served.
    public var problem: PlaylistProblem?
}

/// What a segment needs to be parsed, such as the head of a fragmented MP4.
///
/// - Source: RFC 8216, section 4.3.2.5.
public struct InitializationSection: Hashable, Sendable {
    /// The line of the tag.
    public let line: Int
    /// The URI as written; empty where the tag has none.
    public let uri: String
    /// The part of the resource in bytes; `nil` for all of it.
    public let byteRange: Range<UInt64>?
    /// How the section is encrypted: by the key in force at its tag.
    public let encryption: SegmentEncryption
    /// What keeps the section from being served.
    public let problem: PlaylistProblem?

    /// Whether the section is the same bytes as the one before it, so that it need not be there again.
    ///
    /// - Source: PROTOCOL.md, "open".
    public func isSameResource(as previous: InitializationSection) -> Bool {
        uri == previous.uri && byteRange == previous.byteRange
            && (previous.problem == nil || previous.problem == problem)
    }
}

/// How a segment is encrypted.
public enum SegmentEncryption: Hashable, Sendable {
    /// Not at all.
    case none
    /// AES-128 in CBC mode with PKCS#7 padding, over the whole segment. Source: RFC 8216, section 4.3.2.4.
    case aes128(keyURI: String, iv: Block, ivRule: SegmentIVRule)

    /// The key's URI as written, `nil` where there is no key.
    public var keyURI: String? {
        if case .aes128(let keyURI, _, _) = self { keyURI } else { nil }
    }
}

/// Where a segment's IV comes from.
public enum SegmentIVRule: String, CaseIterable, Hashable, Sendable {
    /// It is the key's IV attribute.
    case attribute
    /// It is the media sequence number, as a big-endian number of 128 bits. Source: RFC 8216, section 5.2.
    case sequenceNumber
}
