import ByteSources
package import RandomAccess

/// An object that is defined by its ciphertext, so that any range of it, and that range's plaintext, costs the range
/// and not the object.
///
/// How to make one in any language. Let S be the byte stream of ``SplitMix64Stream`` for the seed, S[i] its byte i.
///
/// 1. The ciphertext's length follows from the plaintext's, as the format's description has it.
/// 2. Ciphertext byte i is S[i], except of what follows from other bytes: fields that the description tells the content
///    of, which where there are k contents is number seed mod k of them, or what they usually are; tags, each of which is
///    that of its chunk's ciphertext; and with `pkcs7` the last block of each chunk:
/// 3. let that block start at ciphertext byte b, and its chunk hold n plaintext bytes. Its plaintext is S[b], …,
///    S[b + n mod 16 − 1], then 16 − n mod 16 bytes of that value; its ciphertext is that plaintext encrypted in CBC:
///    AES(P ⊕ C), where C is the ciphertext block before it, or the chunk's IV if it is the chunk's only block.
///
/// 4. With a synthetic IV (`aes-gcm-siv`, `aes-siv`) a tag makes the ciphertext, and not the other way round: there the
///    plaintext of a chunk's data is S[i] of each of their places i, and ciphertext and tag are what comes of it.
///
/// C is never itself a last block, so step 3 looks back one block and no further. A tag costs its chunk to compute, and
/// no more.
package struct GeneratedObject: Sendable {
    /// The strategy.
    package let strategy: Strategy
    /// The key.
    package let key: SecretKey
    /// The plaintext's length in bytes.
    package let plaintextByteCount: UInt64
    /// What the stream is computed from.
    package let seed: UInt64
    /// The ciphertext.
    package let source: any ByteSource
    /// What the object decrypts to.
    package let oracle: Oracle
    /// The object as the oracle made it.
    private let object: OracleObject

    /// Creates an object.
    ///
    /// - Throws: `DecryptionError.invalidParameter` for an impossible chunk length, or a plaintext of more than 2⁶²
    ///   bytes; `.unalignedPlaintext` for a length that a strategy without padding cannot hold; `.unsupported` for a
    ///   format whose description does not say how objects are written.
    package init(
        strategy: Strategy, key: SecretKey, plaintextByteCount: UInt64, seed: UInt64
    ) throws(DecryptionError) {
        try strategy.validate()
        guard plaintextByteCount <= 1 << 62 else {
            throw .invalidParameter(
                name: "plaintext length", value: "\(plaintextByteCount)", expected: "at most \(UInt64(1) << 62) bytes")
        }
        try strategy.check(key)
        let sealer = try Self.sealer(strategy, key: key, plaintextByteCount: plaintextByteCount, seed: seed)
        (self.strategy, self.key, self.plaintextByteCount, self.seed) = (strategy, key, plaintextByteCount, seed)
        (source, object) = (OracleSource(sealer), sealer.object)
        oracle = Oracle(strategy: strategy, key: key)
        // What cannot be written is refused here, and not where it is read.
        if object.chunkCount > 0 { _ = try sealer.chunk(object.chunkCount - 1) }
    }

    /// Writes an object, of whatever format.
    static func sealer(
        _ strategy: Strategy, key: SecretKey, plaintextByteCount: UInt64, seed: UInt64
    ) throws(DecryptionError) -> OracleSealer {
        try OracleSealer(
            strategy, key: key, plaintextByteCount: plaintextByteCount,
            drawn: GeneratedSource(stream: SplitMix64Stream(seed: seed), byteCount: .max),
            alternative: seed)
    }

    /// The bytes of its header; of some formats it is a look at the first chunk.
    var headerByteCount: UInt64 { object.sizes.headerEnd }

    /// The cipher that a backend has to have for it; `nil` if it has no chunk.
    var need: CipherNeed? { (try? object.need()) ?? nil }

    /// The plaintext, of which any range is computed when it is wanted.
    package var plaintext: GroupPlaintext {
        GroupPlaintext(oracle: oracle, ciphertext: source, byteCount: plaintextByteCount)
    }
}
