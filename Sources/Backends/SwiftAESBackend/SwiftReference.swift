public import RandomAccess

/// AES in plain Swift, meant to be read beside FIPS 197: every step has the standard's name and cites its section.
///
/// Slow, and not constant-time: for comparison and for understanding, not for secrets.
public struct SwiftReference: CipherBackend {
    /// `swift-reference`
    public let name = "swift-reference"
    /// The edition of the standard that it follows.
    public let version = "FIPS 197 (2023 update)"
    /// The AES key lengths in bytes.
    public let keyByteCounts = [16, 24, 32]
    /// The modes offered.
    public let modes: [CipherMode] = [.cbc, .ctr, .gcm]
    /// None: portable code.
    public let cpuFeatures: [String] = []

    /// Creates the backend.
    public init() {}

    /// Makes a context for one key, mode and direction.
    public func makeContext(
        mode: CipherMode, direction: CipherDirection, key: SecretKey
    ) throws(DecryptionError) -> any CipherContext {
        guard mode != .gcm else { throw .unsupported("GCM without chunks") }
        return SwiftReferenceContext(mode: mode, direction: direction, key: key)
    }

    /// Makes a context that opens or seals chunks with AES-GCM.
    public func makeChunkContext(
        direction: CipherDirection, key: SecretKey
    ) throws(DecryptionError) -> any ChunkContext {
        try SwiftChunkContext(
            backend: name, counters: SwiftReferenceContext(mode: .ctr, direction: .encrypt, key: key),
            direction: direction)
    }
}
