/// The nonces of an object's chunks, as the blocks that GCM starts to count from.
enum ChunkNonces: Hashable, Sendable {
    /// The base nonce XOR the chunk's number, big-endian. Source: c2sp.org/chunked-encryption, "AEAD usage".
    case counted(base: UInt128)
    /// A prefix of 7 bytes ‖ the chunk's number in 4 bytes, big-endian ‖ 1 for the last chunk, 0 for the others.
    /// Source: Tink's documentation, "Streaming AEAD: AES-GCM-HKDF".
    case numbered(prefix: UInt128, lastChunk: UInt64)

    /// The nonce of 12 bytes, and behind it the number 1 in 4 bytes: J₀. Source: NIST SP 800-38D, section 7.1, step 2.
    func block(ofChunk index: UInt64) -> Block {
        switch self {
        case .counted(let base):
            Block(bigEndianValue: (base ^ UInt128(index)) << 32 | 1)
        case .numbered(let prefix, let lastChunk):
            Block(
                bigEndianValue: prefix << 72 | UInt128(UInt32(truncatingIfNeeded: index)) << 40
                    | (index == lastChunk ? 1 << 32 : 0) | 1)
        }
    }
}
