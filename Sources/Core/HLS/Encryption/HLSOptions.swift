public import RandomAccess

/// The options for turning a plain file into encrypted segments.
public struct HLSOptions: Hashable, Sendable {
    /// The files that hold the segments.
    public enum Arrangement: Hashable, Sendable {
        /// One file per segment.
        case files
        /// One file for all, with one segment behind the other. The playlist has an offset in every byte range, or only
        /// where a player cannot infer it from the range before.
        case byteRanges(allOffsets: Bool)
    }

    /// The plaintext lengths of the segments, repeated from the start as often as needed; all above 0.
    public var segmentByteCounts: [UInt64]
    /// The number of segments per key; `nil` for one key for all.
    public var segmentsPerKey: Int?
    /// The source of IVs: an attribute, new for each segment, or the media sequence number.
    public var ivRule: SegmentIVRule
    /// EXT-X-MEDIA-SEQUENCE.
    public var mediaSequence: UInt64
    /// The files that hold the segments.
    public var arrangement: Arrangement
    /// The segments to leave unencrypted, by their indices from 0.
    public var clearSegments: Set<Int>
    /// The number of bytes at the plain file's start that form the initialization section; 0 for none.
    public var initializationByteCount: UInt64
    /// EXTINF of each segment, in seconds.
    public var secondsPerSegment: UInt64
    /// The part of a key's URI before the name of its file, such as `mykey://film/`.
    public var keyURIPrefix: String
    /// The end of the names of segment files.
    public var segmentSuffix: String
    /// The playlist's name.
    public var playlistName: String

    /// The given options; without arguments, the defaults.
    public init(
        segmentByteCounts: [UInt64] = [1 << 20], segmentsPerKey: Int? = nil, ivRule: SegmentIVRule = .attribute,
        mediaSequence: UInt64 = 0, arrangement: Arrangement = .files, clearSegments: Set<Int> = [],
        initializationByteCount: UInt64 = 0, secondsPerSegment: UInt64 = 6, keyURIPrefix: String = "",
        segmentSuffix: String = ".ts", playlistName: String = "playlist.m3u8"
    ) {
        self.segmentByteCounts = segmentByteCounts
        self.segmentsPerKey = segmentsPerKey
        self.ivRule = ivRule
        self.mediaSequence = mediaSequence
        self.arrangement = arrangement
        self.clearSegments = clearSegments
        self.initializationByteCount = initializationByteCount
        self.secondsPerSegment = secondsPerSegment
        self.keyURIPrefix = keyURIPrefix
        self.segmentSuffix = segmentSuffix
        self.playlistName = playlistName
    }
}

/// A source of new keys and IVs.
public struct HLSSecrets: Sendable {
    /// Returns the key with a number from 0 on: 16 bytes.
    public let key: @Sendable (_ number: Int) throws(DecryptionError) -> SecretKey
    /// Returns the IV of a segment by its index from 0, or of the initialization section (-1).
    public let iv: @Sendable (_ segment: Int) -> Block

    /// A source of the caller's own keys and IVs, such as fixed ones for tests.
    public init(
        key: @escaping @Sendable (_ number: Int) throws(DecryptionError) -> SecretKey,
        iv: @escaping @Sendable (_ segment: Int) -> Block
    ) {
        self.key = key
        self.iv = iv
    }

    /// Keys and IVs from the system's random generator, new each time.
    public static let random = HLSSecrets(
        key: { (_) throws(DecryptionError) in
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16, alignment: 16)
            defer {
                eraseBytes(buffer)
                buffer.deallocate()
            }
            buffer.storeBytes(of: UInt128.random(in: .min ... .max), as: UInt128.self)
            return try SecretKey(buffer)
        },
        iv: { _ in Block(bigEndianValue: .random(in: .min ... .max)) })
}
