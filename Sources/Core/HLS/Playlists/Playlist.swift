public import RandomAccess

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
    public internal(set) var initializationSections: [InitializationSection]
    /// The segments, in order; those that cannot be served are among them.
    public internal(set) var segments: [MediaSegment]
    /// All that is wrong, in the order in which it was found; not all of it keeps a segment from being served.
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
    /// The discontinuity sequence number: EXT-X-DISCONTINUITY-SEQUENCE and the EXT-X-DISCONTINUITY tags before.
    public let discontinuityNumber: UInt64
    /// EXTINF in seconds; `nil` if it cannot be read.
    public let duration: Double?
    /// What EXTINF says after the comma.
    public let title: String
    /// The part of the resource in bytes; `nil` for all of it.
    public let byteRange: Range<UInt64>?
    /// The meaning of the byte range, where the segment is encrypted.
    public internal(set) var reading = ByteRangeReading.ciphertext
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
    /// The meaning of the byte range, where the section is encrypted.
    public internal(set) var reading = ByteRangeReading.ciphertext
    /// How the section is encrypted: by the key in force at its tag.
    public let encryption: SegmentEncryption
    /// What keeps the section from being served.
    public internal(set) var problem: PlaylistProblem?

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

/// How large a playlist may be before it is taken for something else.
///
/// What exceeds a limit is refused without being looked at further, so that garbage of any length costs little.
public struct PlaylistLimits: Hashable, Sendable {
    /// The max number of bytes of a playlist.
    public var byteCount: Int
    /// The max number of bytes of a line, its end not counted.
    public var lineByteCount: Int
    /// The max number of segments; at two seconds each, a million are three weeks.
    public var segmentCount: Int
    /// The max number of problems that are collected before the rest of the playlist is given up.
    public var problemCount: Int

    /// Creates limits.
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
