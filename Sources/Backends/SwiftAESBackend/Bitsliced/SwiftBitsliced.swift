public import RandomAccess

/// AES in plain Swift, fast and constant-time: no branch and no address depends on a key or on data.
///
/// Bit-slicing takes one bit of many blocks into one vector and runs the S-box as a circuit of gates, so that each
/// operation works on 32 blocks, or on 8 at the end of a stretch. CBC encryption, where each block waits for the one
/// before, gains nothing from that. The round keys and the space for blocks are erased with the context.
///
/// - Source: Biham, "A Fast New DES Implementation in Software" (FSE 1997), for bit-slicing; FIPS 197 for the rest.
public struct SwiftBitsliced: CipherBackend {
    /// `swift-bitsliced`
    public let name = "swift-bitsliced"
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
        return SwiftBitslicedContext(mode: mode, direction: direction, key: key)
    }

    /// Makes a context that opens or seals chunks with AES-GCM.
    public func makeChunkContext(
        direction: CipherDirection, key: SecretKey
    ) throws(DecryptionError) -> any ChunkContext {
        try SwiftChunkContext(
            backend: name, counters: SwiftBitslicedContext(mode: .ctr, direction: .encrypt, key: key),
            direction: direction)
    }
}
