/// Where each plaintext byte of an object lies in its ciphertext, and what it takes to decrypt it.
///
/// Immutable and pure: no I/O, no cipher. Made by a ``Probe``.
public struct Layout: Hashable, Sendable {
    private enum Shape: Hashable, Sendable {
        case chains(ExtentRun)
        case chunks(ChunkRun)
    }

    private let shape: Shape

    init(run: ExtentRun) {
        self.shape = .chains(run)
        self.plaintextByteCount = run.plaintext.upperBound
        self.ciphertextByteCount = run.ciphertext.upperBound
    }

    init(chunks: ChunkRun) {
        self.shape = .chunks(chunks)
        self.plaintextByteCount = chunks.grid.plaintextByteCount
        self.ciphertextByteCount = chunks.grid.ciphertextByteCount
    }

    /// The plaintext's length in bytes.
    public let plaintextByteCount: UInt64

    /// The ciphertext's length in bytes.
    public let ciphertextByteCount: UInt64

    /// The chunk that holds the plaintext byte at `offset`.
    ///
    /// - Precondition: `offset < plaintextByteCount`.
    @inline(__always)
    public func extent(at offset: UInt64) -> Extent {
        precondition(offset < plaintextByteCount, "offset \(offset) of \(plaintextByteCount)")
        return switch shape {
        case .chains(let run): run.extent(at: offset)
        case .chunks(let run): run.extent(at: offset)
        }
    }

    /// The number of the authenticated chunk that holds the plaintext byte at `offset`; 0 where there are none.
    package func chunkIndex(at offset: UInt64) -> UInt64 {
        if case .chunks(let run) = shape { run.grid.chunkIndex(at: offset) } else { 0 }
    }

    /// The range of plaintext that a read delivers: like `pread`, clipped at the end.
    ///
    /// - Throws: `DecryptionError.rangeOutOfBounds` if `offset` lies past the end, whatever `count` is.
    /// - Source: PROTOCOL.md, "read".
    public func clip(offset: UInt64, count: Int) throws(DecryptionError) -> Range<UInt64> {
        guard offset <= plaintextByteCount else {
            throw .rangeOutOfBounds(offset: offset, plaintextByteCount: plaintextByteCount)
        }
        return offset..<offset + Swift.min(UInt64(count), plaintextByteCount - offset)
    }

    /// Says which bytes to fetch for a range of plaintext, which IV each stretch starts from, and what to trim.
    ///
    /// - Parameters:
    ///   - range: Plaintext bytes, within `0..<plaintextByteCount`.
    ///   - windowByteCount: The max number of plaintext bytes of a step, which ends with a block. It is rounded
    ///     down to whole blocks, one at least. An authenticated chunk is a step whatever its length.
    /// - Returns: The steps, in the order of the plaintext.
    /// - Complexity: O(1), and O(1) for each step.
    public func plan(_ range: Range<UInt64>, windowByteCount: Int = .max) -> ReadPlan {
        precondition(range.upperBound <= plaintextByteCount, "range \(range) of \(plaintextByteCount)")
        precondition(windowByteCount > 0, "window of \(windowByteCount) bytes")
        return ReadPlan(layout: self, range: range, windowByteCount: windowByteCount)
    }
}

/// A stretch of plaintext whose ciphertext lies in one piece and can be decrypted on its own: a chunk of the format.
///
/// Offsets are in bytes and relative to the whole object.
public struct Extent: Hashable, Sendable {
    /// The plaintext that the chunk holds, padding not counted.
    public let plaintext: Range<UInt64>

    /// The ciphertext of the chunk, padding or tag counted.
    public let ciphertext: Range<UInt64>

    /// The IV of the chunk's first block in CBC, its counter block in CTR; in GCM its nonce, in the first 12 bytes.
    public let iv: Block

    /// What the ciphertext is encrypted with.
    public let cipher: Cipher
}

/// Chunks that follow one another with equal steps, so that a million of them take no more memory than one.
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
    /// What the ciphertext is encrypted with.
    let cipher: Cipher

    /// The chunk that holds the plaintext byte at `offset`, which must lie in the run.
    @inline(__always)
    func extent(at offset: UInt64) -> Extent {
        let index = (offset - plaintext.lowerBound) / chunkPlaintextByteCount
        let plaintextStart = plaintext.lowerBound + index * chunkPlaintextByteCount
        let ciphertextStart = ciphertext.lowerBound + index * chunkCiphertextByteCount
        // Differences, not sums: the end of the last chunk may be nearer than a full chunk's.
        let plaintextEnd = plaintextStart + min(chunkPlaintextByteCount, plaintext.upperBound - plaintextStart)
        let ciphertextEnd = ciphertextStart + min(chunkCiphertextByteCount, ciphertext.upperBound - ciphertextStart)
        return Extent(
            plaintext: plaintextStart..<plaintextEnd, ciphertext: ciphertextStart..<ciphertextEnd,
            iv: iv.advanced(by: index &* ivStep), cipher: cipher)
    }
}
