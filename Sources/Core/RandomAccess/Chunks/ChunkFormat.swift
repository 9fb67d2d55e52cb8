/// A format whose chunks are each encrypted and authenticated with AES-GCM under a key that is derived for the object.
public enum ChunkFormat: Hashable, Sendable {
    /// Cobblestone: `keyByteCount` is 16 (Cobblestone-128) or 32 (Cobblestone-256); `context` is what the application
    /// binds the object to. Source: c2sp.org/chunked-encryption.
    case cobblestone(keyByteCount: Int, context: [UInt8])
    /// Tink's streaming AEAD AES-GCM-HKDF with SHA-256: `segmentByteCount` is that of the ciphertext, such as 4096 or
    /// 1,048,576; `derivedKeyByteCount` is 16 or 32. Source: Tink's documentation, "Streaming AEAD: AES-GCM-HKDF".
    case tinkAESGCMHKDF(associatedData: [UInt8], segmentByteCount: UInt64, derivedKeyByteCount: Int)

    /// The length of a chunk's tag in bytes.
    public static let tagByteCount = 16

    /// The format's name on the command line and in the subject protocol.
    public var name: String {
        switch self {
        case .cobblestone(let keyByteCount, _): keyByteCount == 32 ? "cobblestone-256" : "cobblestone-128"
        case .tinkAESGCMHKDF: "tink-aes-gcm-hkdf"
        }
    }

    /// The bytes before the first chunk.
    ///
    /// Cobblestone: salt (24) ‖ commitment (32). Tink: the header's length (1) ‖ salt ‖ nonce prefix (7).
    public var headerByteCount: Int {
        switch self {
        case .cobblestone: Self.saltByteCount + Self.commitmentByteCount
        case .tinkAESGCMHKDF(_, _, let derivedKeyByteCount): 1 + derivedKeyByteCount + Self.noncePrefixByteCount
        }
    }

    /// The length of the AES key that chunks are encrypted with, in bytes; Tink derives it from key material of any length.
    public var cipherKeyByteCount: Int {
        switch self {
        case .cobblestone(let keyByteCount, _): keyByteCount
        case .tinkAESGCMHKDF(_, _, let derivedKeyByteCount): derivedKeyByteCount
        }
    }

    /// The header's bytes that are drawn at random when an object is written; the others follow from them.
    var randomByteCount: Int {
        switch self {
        case .cobblestone: Self.saltByteCount
        case .tinkAESGCMHKDF(_, _, let derivedKeyByteCount): derivedKeyByteCount + Self.noncePrefixByteCount
        }
    }

    /// The ciphertext bytes of a full chunk, tag included.
    public var chunkCiphertextByteCount: UInt64 {
        switch self {
        case .cobblestone: (16 << 10) + UInt64(Self.tagByteCount)
        case .tinkAESGCMHKDF(_, let segmentByteCount, _): segmentByteCount
        }
    }

    /// The plaintext bytes of a full chunk.
    public var chunkByteCount: UInt64 { chunkCiphertextByteCount - UInt64(Self.tagByteCount) }

    /// Whether the first chunk is shorter by the header.
    var countsHeaderToFirstChunk: Bool {
        if case .tinkAESGCMHKDF = self { true } else { false }
    }

    /// Whether the last chunk is always shorter than the others, so that the ciphertext's length tells a whole object
    /// from one that was cut at a chunk's end. Otherwise, the last chunk's nonce says that it is the last.
    var hasShortLastChunk: Bool {
        if case .cobblestone = self { true } else { false }
    }

    /// The max number of chunks of an object. Source: c2sp.org/chunked-encryption, "Message chunking"; Tink's segment numbers
    /// have 32 bits.
    var maxChunkCount: UInt64 {
        switch self {
        case .cobblestone: 1 << 38
        case .tinkAESGCMHKDF: 1 << 32
        }
    }

    /// Checks what the types do not.
    ///
    /// - Throws: `DecryptionError.invalidParameter`.
    func validate() throws(DecryptionError) {
        switch self {
        case .cobblestone(let keyByteCount, let context):
            guard keyByteCount == 16 || keyByteCount == 32 else {
                throw .invalidParameter(name: "key length", value: "\(keyByteCount)", expected: "16 or 32 bytes")
            }
            try Self.validate(context, "context")
        case .tinkAESGCMHKDF(let associatedData, let segmentByteCount, let derivedKeyByteCount):
            guard derivedKeyByteCount == 16 || derivedKeyByteCount == 32 else {
                throw .invalidParameter(
                    name: "derived key length", value: "\(derivedKeyByteCount)", expected: "16 or 32 bytes")
            }
            // A segment has space for the header, a tag and something; one is held whole.
            let minimum = UInt64(headerByteCount + Self.tagByteCount + 1)
            guard (minimum...Self.largestSegmentByteCount).contains(segmentByteCount) else {
                throw .invalidParameter(
                    name: "segment length", value: "\(segmentByteCount)",
                    expected: "\(minimum) to \(Self.largestSegmentByteCount) bytes, such as 4096 or 1048576")
            }
            try Self.validate(associatedData, "associated data")
        }
    }

    /// Checks the key that an object is opened with.
    ///
    /// - Throws: `DecryptionError.invalidKeyMaterial`.
    package func check(_ key: SecretKey) throws(DecryptionError) {
        switch self {
        case .cobblestone(let keyByteCount, _):
            guard key.byteCount == keyByteCount else {
                throw .invalidKeyMaterial(byteCount: key.byteCount, expected: "\(keyByteCount), for \(name)")
            }
        case .tinkAESGCMHKDF(_, _, let derivedKeyByteCount):
            guard key.byteCount >= derivedKeyByteCount else {
                throw .invalidKeyMaterial(
                    byteCount: key.byteCount, expected: "at least \(derivedKeyByteCount), the derived key's length")
            }
        }
    }

    static let saltByteCount = 24
    static let commitmentByteCount = 32
    static let noncePrefixByteCount = 7
    private static let largestSegmentByteCount: UInt64 = 1 << 28
    /// Far more than applications bind an object to.
    private static let largestContextByteCount = 1 << 20

    private static func validate(_ context: [UInt8], _ name: String) throws(DecryptionError) {
        guard context.count <= largestContextByteCount else {
            throw .invalidParameter(
                name: name, value: "of \(context.count) bytes", expected: "at most \(largestContextByteCount)")
        }
    }
}
