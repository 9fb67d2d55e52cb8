/// Chunks that follow one another with equal steps, so that a million of them take no more room than one.
struct ExtentRun: Hashable, Sendable {
    /// Where the run's plaintext lies; all chunks but the last hold `chunkPlaintextByteCount` of it.
    let plaintext: Range<UInt64>
    /// Where the run's ciphertext lies; all chunks but the last take `chunkCiphertextByteCount` of it.
    let ciphertext: Range<UInt64>
    /// Plaintext bytes of a full chunk.
    let chunkPlaintextByteCount: UInt64
    /// Ciphertext bytes of a full chunk.
    let chunkCiphertextByteCount: UInt64
    /// The first chunk's IV.
    let iv: Block
    /// What is added to the IV from one chunk to the next: 0 or 1.
    let ivStep: UInt64
    /// How the ciphertext becomes plaintext.
    let mode: CipherMode

    /// The chunk that holds the plaintext byte at `offset`, which must lie in the run.
    func extent(at offset: UInt64) -> Extent {
        let index = (offset - plaintext.lowerBound) / chunkPlaintextByteCount
        let plaintextStart = plaintext.lowerBound + index * chunkPlaintextByteCount
        let ciphertextStart = ciphertext.lowerBound + index * chunkCiphertextByteCount
        // Differences, not sums: the end of the last chunk may be nearer than a full chunk's.
        let plaintextEnd = plaintextStart + min(chunkPlaintextByteCount, plaintext.upperBound - plaintextStart)
        let ciphertextEnd = ciphertextStart + min(chunkCiphertextByteCount, ciphertext.upperBound - ciphertextStart)
        return Extent(
            plaintext: plaintextStart..<plaintextEnd, ciphertext: ciphertextStart..<ciphertextEnd,
            iv: iv.advanced(by: index &* ivStep), mode: mode)
    }
}
