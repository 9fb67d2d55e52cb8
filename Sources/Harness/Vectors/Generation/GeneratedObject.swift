import ByteSources
package import RandomAccess

/// An object that is defined by its ciphertext. So the cost of any range, and of that range's plaintext, depends on the
/// length of the range and not on the object's.
///
/// The rules, for any language: let S be the byte stream of ``SplitMix64Stream`` for the seed, and S[i] its byte i.
///
/// 1. The ciphertext's length follows from the plaintext's, by the format's description.
/// 2. Ciphertext byte i is S[i], except for bytes that depend on others: fields whose content the description gives,
///    tags, and with `pkcs7` the last block of each chunk. If a field has k possible contents, it has number seed mod k
///    of them, or its usual content if the description gives one. A tag is computed from its chunk's ciphertext.
/// 3. Let the last block of a padded chunk start at ciphertext byte b, and the chunk hold n plaintext bytes. The
///    block's plaintext is S[b], …, S[b + n mod 16 − 1], then 16 − n mod 16 bytes of that value. Its ciphertext is that
///    plaintext encrypted in CBC: AES(P ⊕ C), where C is the ciphertext block before it, or the chunk's IV if it is the
///    chunk's only block.
///
/// 4. With a synthetic IV (`aes-gcm-siv`, `aes-siv`) the ciphertext follows from the tag, and not the other way round.
///    There the plaintext of a chunk's data is S[i] at each of their offsets i, and the ciphertext and the tag are
///    computed from it.
///
/// 5. If the data stand behind a table (`dataStart`), this is the object with contiguous chunks. It is rearranged: the
///    header, the other parts of each chunk, zeros, the data of all chunks.
///
/// C is never itself a last block, so step 3 looks back one block and no further. Computing a tag
/// takes only its chunk.
package struct GeneratedObject: Sendable {
    /// The strategy.
    package let strategy: Strategy
    /// The key.
    package let key: SecretKey
    /// The plaintext's length in bytes.
    package let plaintextByteCount: UInt64
    /// The seed of the stream.
    package let seed: UInt64
    /// The ciphertext.
    package let source: any ByteSource
    /// The oracle for the object's plaintext.
    package let oracle: Oracle
    /// The object as the oracle wrote it.
    private let object: OracleObject

    /// Computes an object.
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
        (source, object) = (try sealer.source(), sealer.object)
        oracle = Oracle(strategy: strategy, key: key)
        // An object that cannot be written must fail here, and not when it is read.
        if object.chunkCount > 0 { _ = try sealer.chunk(object.chunkCount - 1) }
    }

    /// Returns the sealer for an object of any format.
    static func sealer(
        _ strategy: Strategy, key: SecretKey, plaintextByteCount: UInt64, seed: UInt64
    ) throws(DecryptionError) -> OracleSealer {
        try OracleSealer(
            strategy, key: key, plaintextByteCount: plaintextByteCount,
            drawn: GeneratedSource(stream: SplitMix64Stream(seed: seed), byteCount: .max),
            alternative: seed)
    }

    /// The length of the header, which in some formats overlaps the first chunk.
    var headerByteCount: UInt64 { object.sizes.headerEnd }

    /// The cipher that a backend needs for the object; `nil` if the object has no chunk.
    var need: CipherNeed? { (try? object.need()) ?? nil }

    /// The plaintext, of which ranges are computed on demand.
    package var plaintext: GroupPlaintext {
        GroupPlaintext(oracle: oracle, ciphertext: source, byteCount: plaintextByteCount)
    }
}
