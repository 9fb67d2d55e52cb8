/// A stretch of plaintext whose ciphertext lies in one piece and can be decrypted on its own: a chunk of the format.
///
/// Offsets are in bytes and relative to the whole object.
public struct Extent: Hashable, Sendable {
    /// The plaintext that the chunk holds, padding not counted.
    public let plaintext: Range<UInt64>

    /// The ciphertext of the chunk, padding or tag counted.
    public let ciphertext: Range<UInt64>

    /// The IV of the chunk's first block in CBC, its counter block in CTR; in GCM its nonce and the number 1 (J₀).
    public let iv: Block

    /// How the ciphertext becomes plaintext.
    public let mode: CipherMode
}
