public import RandomAccess

/// A playlist of HTTP Live Streaming.
///
/// - Source: RFC 8216, section 4.
public enum Playlist: Hashable, Sendable {
    /// A list of segments.
    case media(MediaPlaylist)
    /// A list of playlists of the same content.
    case master(MasterPlaylist)

    /// Parses a playlist in one pass over its bytes.
    ///
    /// Faults of a part are collected in `problems`, and in the segments that they concern; the rest remains usable.
    ///
    /// - Parameters:
    ///   - bytes: The playlist as received.
    ///   - limits: The limits of its size.
    /// - Returns: The playlist.
    /// - Throws: `PlaylistProblem` if no part of it is usable.
    /// - Complexity: O(n) in the bytes, up to the limits.
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

    /// Parses a playlist from an array of bytes; see ``parse(_:limits:)-(UnsafeRawBufferPointer,_)``.
    public static func parse(
        _ bytes: [UInt8], limits: PlaylistLimits = PlaylistLimits()
    ) throws(PlaylistProblem) -> Playlist {
        try bytes.withUnsafeBufferPointer { (bytes) throws(PlaylistProblem) in
            try parse(UnsafeRawBufferPointer(bytes), limits: limits)
        }
    }

    /// Parses a playlist from text; see ``parse(_:limits:)-(UnsafeRawBufferPointer,_)``.
    public static func parse(
        _ text: String, limits: PlaylistLimits = PlaylistLimits()
    ) throws(PlaylistProblem) -> Playlist {
        try parse(Array(text.utf8), limits: limits)
    }

    /// Returns whether a playlist is a media playlist, from the first lines that tell.
    ///
    /// - Parameters:
    ///   - bytes: The playlist, or its first lines.
    ///   - limits: The limits of its size.
    /// - Returns: `nil` if no line tells, or a line before is invalid.
    package static func isMedia(_ bytes: UnsafeRawBufferPointer, limits: PlaylistLimits = PlaylistLimits()) -> Bool? {
        var parser = PlaylistParser(limits: limits)
        guard let side = try? parser.side(bytes) else { return nil }
        return side == .media
    }
}

/// A list of segments.
///
/// - Source: RFC 8216, section 4.3.3.
public struct MediaPlaylist: Hashable, Sendable {
    /// The promise about later changes of the list. Source: RFC 8216, section 4.3.3.5.
    public enum Kind: String, CaseIterable, Hashable, Sendable {
        /// The server only appends segments.
        case event = "EVENT"
        /// The list never changes.
        case videoOnDemand = "VOD"
    }

    /// EXT-X-VERSION; 1 by default.
    public let version: UInt64
    /// EXT-X-TARGETDURATION in seconds; `nil` if it is missing or invalid.
    public let targetDuration: UInt64?
    /// EXT-X-MEDIA-SEQUENCE; 0 by default.
    public let mediaSequence: UInt64
    /// EXT-X-DISCONTINUITY-SEQUENCE; 0 by default.
    public let discontinuitySequence: UInt64
    /// EXT-X-PLAYLIST-TYPE; `nil` if it is missing.
    public let kind: Kind?
    /// True if EXT-X-ENDLIST is present: the server adds no more segments.
    public let hasEndList: Bool
    /// The initialization sections, in the order of their tags.
    public internal(set) var initializationSections: [InitializationSection]
    /// The segments, in order, including unusable ones.
    public internal(set) var segments: [MediaSegment]
    /// All problems, in the order in which the parser found them; some of them leave all segments usable.
    public internal(set) var problems: [PlaylistProblem]

    /// The URIs of all keys that segments and initialization sections need, each once, in order.
    public var keyURIs: [String] {
        var seen: Set<String> = []
        let encryptions = segments.flatMap { segment in
            [segment.initializationSection.map { initializationSections[$0].encryption } ?? .none, segment.encryption]
        }
        return encryptions.compactMap(\.keyURI).filter { seen.insert($0).inserted }
    }
}

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
    /// The discontinuity sequence number: EXT-X-DISCONTINUITY-SEQUENCE plus the number of EXT-X-DISCONTINUITY tags
    /// before.
    public let discontinuityNumber: UInt64
    /// EXTINF in seconds; `nil` if it is invalid.
    public let duration: Double?
    /// The text of EXTINF after the comma.
    public let title: String
    /// The part of the resource in bytes; `nil` for all of it.
    public let byteRange: Range<UInt64>?
    /// The meaning of the byte range, if the segment is encrypted.
    public internal(set) var reading = ByteRangeReading.ciphertext
    /// The segment's encryption.
    public var encryption: SegmentEncryption
    /// The initialization section that the segment needs, as an index into the playlist's; `nil` for none.
    public let initializationSection: Int?
    /// The problem that makes the segment unusable, if any.
    public var problem: PlaylistProblem?
}

/// The data that a player needs to parse a segment, such as the head of a fragmented MP4.
///
/// - Source: RFC 8216, section 4.3.2.5.
public struct InitializationSection: Hashable, Sendable {
    /// The line of the tag.
    public let line: Int
    /// The URI as written; empty if the tag has none.
    public let uri: String
    /// The part of the resource in bytes; `nil` for all of it.
    public let byteRange: Range<UInt64>?
    /// The meaning of the byte range, if the section is encrypted.
    public internal(set) var reading = ByteRangeReading.ciphertext
    /// The section's encryption: the key in force at its tag.
    public let encryption: SegmentEncryption
    /// The problem that makes the section unusable, if any.
    public internal(set) var problem: PlaylistProblem?

    /// Returns whether the section has the same bytes as the one before it, so that it need not be repeated.
    ///
    /// - Source: PROTOCOL.md, "open".
    public func isSameResource(as previous: InitializationSection) -> Bool {
        uri == previous.uri && byteRange == previous.byteRange
            && (previous.problem == nil || previous.problem == problem)
    }
}

/// The encryption of a segment.
public enum SegmentEncryption: Hashable, Sendable {
    /// No encryption.
    case none
    /// AES-128 in CBC mode with PKCS#7 padding, over the whole segment. Source: RFC 8216, section 4.3.2.4.
    case aes128(keyURI: String, iv: Block, ivRule: SegmentIVRule)

    /// The key's URI as written; `nil` without encryption.
    public var keyURI: String? {
        if case .aes128(let keyURI, _, _) = self { keyURI } else { nil }
    }
}

/// The origin of a segment's IV.
public enum SegmentIVRule: String, CaseIterable, Hashable, Sendable {
    /// The key's IV attribute.
    case attribute
    /// The media sequence number, as a big-endian number of 128 bits. Source: RFC 8216, section 5.2.
    case sequenceNumber
}

/// The limits of a playlist's size.
///
/// The parser refuses anything beyond a limit without reading on, so that garbage of any length costs little.
public struct PlaylistLimits: Hashable, Sendable {
    /// The max number of bytes of a playlist.
    public var byteCount: Int
    /// The max number of bytes of a line, without its line break.
    public var lineByteCount: Int
    /// The max number of segments; at two seconds each, a million are three weeks.
    public var segmentCount: Int
    /// The max number of problems to collect before the parser gives up.
    public var problemCount: Int

    /// The given limits; without arguments, the defaults.
    public init(
        byteCount: Int = 64 << 20, lineByteCount: Int = 64 << 10, segmentCount: Int = 1_000_000,
        problemCount: Int = 1000
    ) {
        self.byteCount = byteCount
        self.lineByteCount = lineByteCount
        self.segmentCount = segmentCount
        self.problemCount = problemCount
    }
}
