/// A class of bugs that vectors of `hls-aes128` stand for.
package enum PlaylistFlag: String, CaseIterable, Codable, Hashable, Sendable {
    /// The IV is the media sequence number, big-endian.
    case sequenceIV = "SequenceIV"
    /// Media sequence numbers that need more than 31, 32 or 53 bits, or carry past them.
    case wideSequence = "WideSequence"
    /// The IV is an attribute, which holds as long as its key.
    case ivAttribute = "IVAttribute"
    /// Keys change within the playlist.
    case keyRotation = "KeyRotation"
    /// METHOD=NONE ends encryption.
    case methodNone = "MethodNone"
    /// Several KEYFORMATs at a time.
    case keyFormat = "KeyFormat"
    /// Each segment has its own padding.
    case segmentPadding = "SegmentPadding"
    /// Reads that cross from one segment into another.
    case segmentEdge = "SegmentEdge"
    /// Segments are parts of resources.
    case byteRange = "SegmentByteRange"
    /// Initialization sections.
    case initializationSection = "InitializationSection"
    /// Playlists that do not parse, or ask for what is not served.
    case badPlaylist = "BadPlaylist"
    /// Keys that are missing.
    case missingKey = "MissingKey"
    /// Segments that are missing, cut short, or do not unpad.
    case badSegment = "BadSegment"

    /// What goes wrong in programs that fail such a vector.
    package var explanation: String {
        switch self {
        case .sequenceIV: "the IV counts from 0, is off by one, or has its bytes in the wrong order"
        case .wideSequence: "the media sequence number is held in too few bits"
        case .ivAttribute: "the attribute is ignored, or kept for a key that has none"
        case .keyRotation: "the first key is used for all segments, or the last"
        case .methodNone: "plain segments are decrypted, or a key is forgotten to be forgotten"
        case .keyFormat: "another format's key takes the place of the one that can be used"
        case .segmentPadding: "padding is delivered between segments, or stripped where there is none"
        case .segmentEdge: "the chain goes on from one segment to the next, or a read ends at a segment's end"
        case .byteRange: "a byte range without an offset starts anew, or where another resource's ended"
        case .initializationSection: "the section is left out, repeated, or decrypted with what is in force later"
        case .badPlaylist: "what cannot be understood is guessed"
        case .missingKey: "ciphertext is delivered where there is no key"
        case .badSegment: "missing segments pass for empty ones, and padding is trusted"
        }
    }

    /// Where the class is from: a standard, or programs that had the bug.
    package var source: String {
        switch self {
        case .sequenceIV: "RFC 8216, section 5.2; google/ExoPlayer#354"
        case .wideSequence: "RFC 8216, section 4.2; FFmpeg, hls.js and Shaka keep 32 or 64 bits"
        case .ivAttribute: "RFC 8216, section 4.3.2.4"
        case .keyRotation: "RFC 8216, section 4.3.2.4; androidx/media#1291"
        case .methodNone: "RFC 8216, section 4.3.2.4; shaka-project/shaka-player#4846"
        case .keyFormat: "RFC 8216, section 4.3.2.4"
        case .segmentPadding: "RFC 8216, section 4.3.2.4; google/ExoPlayer#3917"
        case .segmentEdge: "PROTOCOL.md, \"open\""
        case .byteRange: "RFC 8216, section 4.3.2.2; video-dev/hls.js#4933"
        case .initializationSection: "RFC 8216, section 4.3.2.5; google/ExoPlayer#5441"
        case .badPlaylist: "RFC 8216, section 6.3.1; PROTOCOL.md, \"open\""
        case .missingKey: "PROTOCOL.md, \"open\"; FFmpeg, hls.c"
        case .badSegment: "PROTOCOL.md, \"open\""
        }
    }
}
