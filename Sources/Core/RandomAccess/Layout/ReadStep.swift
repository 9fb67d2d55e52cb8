/// One stretch of ciphertext that is fetched and decrypted in one go.
public struct ReadStep: Hashable, Sendable {
    /// Where the first block's IV comes from.
    public enum IVSource: Hashable, Sendable {
        /// It is known: the chunk's IV, a counter block, or the block that GCM starts to count from.
        case value(Block)
        /// It is the ciphertext block just before the stretch. Source: NIST SP 800-38A, section 6.2.
        case precedingBlock
    }

    /// How the ciphertext becomes plaintext.
    public let mode: CipherMode

    /// The ciphertext to decrypt: whole blocks in CBC; in CTR from a block's start to the last byte that is wanted; in GCM
    /// a whole chunk and its tag.
    public let ciphertext: Range<UInt64>

    /// Where the first block's IV comes from.
    public let iv: IVSource

    /// The plaintext bytes at the start of the stretch that were not asked for: 0 to 15, or any number in GCM.
    public let skip: Int

    /// The plaintext bytes that the stretch delivers, after `skip` of them.
    public let count: Int

    /// The ciphertext to fetch: the stretch, and the block before it where that is the IV.
    public var fetch: Range<UInt64> {
        iv == .precedingBlock ? ciphertext.lowerBound - 16..<ciphertext.upperBound : ciphertext
    }
}
