/// The place of each plaintext byte in an object's ciphertext, and the rules for decrypting it.
///
/// Immutable and pure: no I/O, no cipher. It is computed when an object is opened.
public struct Layout: Hashable, Sendable {
    /// The positions of the chunks.
    package let geometry: Geometry
    /// The rules for decrypting the chunks.
    let rules: ChunkRules
    /// The number of chunks.
    let chunkCount: UInt64

    /// The plaintext's length in bytes.
    public let plaintextByteCount: UInt64

    /// The ciphertext's length in bytes.
    public let ciphertextByteCount: UInt64

    init(
        geometry: Geometry, rules: ChunkRules, chunkCount: UInt64, plaintextByteCount: UInt64,
        ciphertextByteCount: UInt64
    ) {
        (self.geometry, self.rules, self.chunkCount) = (geometry, rules, chunkCount)
        (self.plaintextByteCount, self.ciphertextByteCount) = (plaintextByteCount, ciphertextByteCount)
    }

    /// The layout of an object without bytes, whose cipher and geometry may be unknown.
    init(ofNothing format: Format, _ shape: ChunkShape?) throws(DecryptionError) {
        var end = Geometry.End()
        end.emptyHasNoHeader = true
        self.init(
            geometry: shape?.geometry ?? Geometry(end: end),
            rules: try .ofNothing(shape?.cipher ?? .aesCTR, in: format), chunkCount: 0, plaintextByteCount: 0,
            ciphertextByteCount: 0)
    }

    /// Returns the chunk that holds the plaintext byte at `offset`.
    ///
    /// - Precondition: `offset < plaintextByteCount`.
    @inline(__always)
    public func extent(at offset: UInt64) -> Extent {
        precondition(offset < plaintextByteCount, "offset \(offset) of \(plaintextByteCount)")
        return extent(ofChunk: geometry.chunkIndex(at: offset))
    }

    @inline(__always)
    func extent(ofChunk index: UInt64) -> Extent {
        let (plaintext, ciphertext) = geometry.chunk(
            index, plaintextByteCount: plaintextByteCount, ciphertextByteCount: ciphertextByteCount)
        return Extent(index: index, plaintext: plaintext, ciphertext: ciphertext)
    }

    /// The cipher of the chunks.
    @inline(__always)
    var cipher: Cipher { rules.cipher }

    /// Returns the IV of a chunk's first block in CBC, or its counter block in CTR.
    @inline(__always)
    func iv(of chunk: Extent) -> Block {
        rules.block(ofChunk: chunk.index, at: chunk.plaintext.lowerBound, isLast: chunk.index + 1 == chunkCount)
    }

    /// Returns the numbers of a chunk for its formulas.
    @inline(__always)
    func numbers(of extent: Extent) -> ChunkNumbers {
        ChunkNumbers(
            index: extent.index, plaintextByteCount: UInt64(extent.plaintext.count),
            storedByteCount: UInt64(extent.ciphertext.count), offset: extent.plaintext.lowerBound)
    }

    /// Returns the plaintext range that a read delivers: clipped at the end, like `pread`.
    ///
    /// - Throws: `DecryptionError.rangeOutOfBounds` if `offset` lies past the end, for any `count`.
    /// - Source: PROTOCOL.md, "read".
    public func clip(offset: UInt64, count: Int) throws(DecryptionError) -> Range<UInt64> {
        guard offset <= plaintextByteCount else {
            throw .rangeOutOfBounds(offset: offset, plaintextByteCount: plaintextByteCount)
        }
        return offset..<offset + Swift.min(UInt64(count), plaintextByteCount - offset)
    }

    /// Plans a read: the bytes to fetch for a range of plaintext, the IV of each stretch, and the bytes to trim.
    ///
    /// - Parameters:
    ///   - range: Plaintext bytes, within `0..<plaintextByteCount`.
    ///   - windowByteCount: The max number of plaintext bytes of a step, which ends with a block. It is rounded down to
    ///     whole blocks, at least one. An authenticated chunk is one step, however long it is.
    /// - Returns: The steps, in the order of the plaintext.
    /// - Complexity: O(1), and O(1) per step.
    public func plan(_ range: Range<UInt64>, windowByteCount: Int = .max) -> ReadPlan {
        precondition(range.upperBound <= plaintextByteCount, "range \(range) of \(plaintextByteCount)")
        precondition(windowByteCount > 0, "window of \(windowByteCount) bytes")
        return ReadPlan(layout: self, range: range, windowByteCount: windowByteCount)
    }
}

/// A contiguous stretch of ciphertext that can be decrypted on its own: a chunk of the format.
///
/// Offsets are in bytes and relative to the whole object.
public struct Extent: Hashable, Sendable {
    /// The chunk's number, from 0.
    public let index: UInt64

    /// The plaintext of the chunk, without padding.
    public let plaintext: Range<UInt64>

    /// The stored chunk, with its padding, its tag and other parts.
    public let ciphertext: Range<UInt64>
}
