public import RandomAccess

/// How a plain file is made into encrypted segments.
public struct HLSOptions: Hashable, Sendable {
    /// Where segments lie.
    public enum Arrangement: Hashable, Sendable {
        /// Each in a file of its own.
        case files
        /// All in one file, one behind the other. Offsets are written with every byte range, or only where a reader
        /// cannot know them from the one before.
        case byteRanges(allOffsets: Bool)
    }

    /// Plaintext bytes of the segments, from the first on and then from the start again; all above 0.
    public var segmentByteCounts: [UInt64]
    /// How many segments have the same key; `nil` for one key for all.
    public var segmentsPerKey: Int?
    /// Where IVs come from: an attribute, new for each segment, or the media sequence number.
    public var ivRule: SegmentIVRule
    /// EXT-X-MEDIA-SEQUENCE.
    public var mediaSequence: UInt64
    /// Where segments lie.
    public var arrangement: Arrangement
    /// Segments that are not encrypted, by their indices from 0.
    public var clearSegments: Set<Int>
    /// How many bytes at the plain file's start are the initialization section; 0 for none.
    public var initializationByteCount: UInt64
    /// EXTINF of each segment, in seconds.
    public var secondsPerSegment: UInt64
    /// What stands before a key file's name in its URI, such as `mykey://film/`.
    public var keyURIPrefix: String
    /// The names of segment files end with it.
    public var segmentSuffix: String
    /// The playlist's name.
    public var playlistName: String

    /// Creates options.
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

/// Where new keys and IVs come from.
public struct HLSSecrets: Sendable {
    /// The key with a number from 0 on: 16 bytes.
    public let key: @Sendable (_ number: Int) throws(DecryptionError) -> SecretKey
    /// The IV of a segment by its index from 0, or of the initialization section (-1).
    public let iv: @Sendable (_ segment: Int) -> Block

    /// Creates a source of secrets, such as one for tests.
    public init(
        key: @escaping @Sendable (_ number: Int) throws(DecryptionError) -> SecretKey,
        iv: @escaping @Sendable (_ segment: Int) -> Block
    ) {
        self.key = key
        self.iv = iv
    }

    /// Keys and IVs from the system's generator, new each time.
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
