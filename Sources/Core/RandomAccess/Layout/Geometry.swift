/// Where the chunks of a strategy's objects lie, as integers: lengths follow from them both ways, and the place of each
/// chunk.
///
/// All chunks but the last are full. The first one holds less where the header counts to it.
public struct Geometry: Hashable, Sendable {
    /// What the last chunk may be.
    enum End: Hashable, Sendable {
        /// Any part of a chunk, without anything behind it.
        case bare
        /// Whole blocks, without anything behind them.
        case wholeBlocks
        /// Padded to whole blocks, with 1 to 16 bytes that only its plaintext tells. Source: RFC 5652, section 6.3.
        case padded
        /// With a tag. One without data is written only if it is alone, and read wherever its tag is right.
        case tagged
        /// With a tag, and shorter than a full one, if need be empty.
        case taggedAndShort
    }

    /// The bytes before the first chunk.
    public let headerByteCount: UInt64
    /// The plaintext bytes of a full chunk; `.max` where all is one chunk.
    public let chunkByteCount: UInt64
    /// The ciphertext bytes of a full chunk; `.max` where all is one chunk.
    public let storedChunkByteCount: UInt64
    /// The bytes of a full chunk behind its data: a tag, or a block of padding.
    public let behindByteCount: UInt64
    /// The plaintext bytes that the first chunk lacks.
    public let missingByteCount: UInt64
    /// The max number of chunks.
    let maxChunkCount: UInt64
    let end: End

    /// Works out the geometry of a strategy, which is valid.
    package init(_ strategy: Strategy) {
        switch strategy {
        case .ctr: self.init(end: .bare)
        case .cbcContinuous(_, let padding): self.init(end: padding == .pkcs7 ? .padded : .wholeBlocks)
        case .cbcChunked(let chunkByteCount, _, _, let padding):
            self.init(chunk: chunkByteCount, end: padding == .pkcs7 ? .padded : .wholeBlocks)
        case .chunked(let format):
            let header = UInt64(format.headerByteCount)
            self.init(
                header: header, chunk: format.chunkByteCount, missing: format.countsHeaderToFirstChunk ? header : 0,
                end: format.hasShortLastChunk ? .taggedAndShort : .tagged, maxChunkCount: format.maxChunkCount)
        }
    }

    private init(
        header: UInt64 = 0, chunk: UInt64 = .max, missing: UInt64 = 0, end: End, maxChunkCount: UInt64 = .max
    ) {
        let behind: UInt64 =
            switch end {
            case .bare, .wholeBlocks: 0
            case .padded: 16
            case .tagged, .taggedAndShort: UInt64(ChunkFormat.tagByteCount)
            }
        (headerByteCount, chunkByteCount, missingByteCount, behindByteCount) = (header, chunk, missing, behind)
        storedChunkByteCount = chunk == .max ? .max : chunk + behind
        (self.end, self.maxChunkCount) = (end, maxChunkCount)
    }

    /// Whether the ciphertext's length alone tells the plaintext's.
    var isLengthTold: Bool { end != .padded }

    /// The length of the ciphertext of a plaintext.
    ///
    /// - Source: PROTOCOL.md, "open"; c2sp.org/chunked-encryption; Tink's documentation, "Streaming AEAD".
    package func ciphertextByteCount(ofPlaintext byteCount: UInt64) -> UInt64 {
        let (fullCount, rest) = (byteCount + missingByteCount).quotientAndRemainder(dividingBy: chunkByteCount)
        switch end {
        case .bare, .wholeBlocks: return byteCount
        case .padded:
            let last = rest > 0 || fullCount == 0 ? (rest / 16 + 1) * 16 : 0
            return (fullCount == 0 ? 0 : fullCount * storedChunkByteCount) + last
        case .tagged:
            return headerByteCount + byteCount + max(1, fullCount + (rest > 0 ? 1 : 0)) * behindByteCount
        case .taggedAndShort: return headerByteCount + byteCount + (fullCount + 1) * behindByteCount
        }
    }

    /// The number of chunks of a ciphertext of a given length: one at least, but for an empty one that has no padding.
    ///
    /// - Throws: `DecryptionError.truncatedCiphertext` for a length that no plaintext has.
    /// - Source: PROTOCOL.md, "open"; c2sp.org/chunked-encryption, "Implementation notes".
    package func chunkCount(ofCiphertext byteCount: UInt64) throws(DecryptionError) -> UInt64 {
        func error(_ expected: String) -> DecryptionError {
            .truncatedCiphertext(byteCount: byteCount, expected: expected)
        }
        let leastByteCount = headerByteCount + (end == .bare || end == .wholeBlocks ? 0 : behindByteCount)
        if end == .padded || end == .wholeBlocks, byteCount % 16 != 0 { throw error("a multiple of 16, as CBC makes") }
        guard byteCount >= leastByteCount else {
            throw error(
                end == .padded
                    ? "at least 16, the padding of an empty plaintext"
                    : "at least \(leastByteCount), a header and a tag")
        }
        let all = byteCount - headerByteCount + missingByteCount
        let (fullCount, rest) = all.quotientAndRemainder(dividingBy: storedChunkByteCount)
        if end == .tagged || end == .taggedAndShort {
            guard rest >= behindByteCount || rest == 0 && end == .tagged else {
                throw error(
                    rest == 0
                        ? "a last chunk shorter than \(storedChunkByteCount) bytes after \(fullCount) full ones"
                        : "at least \(behindByteCount - rest) more, the rest of the last chunk's tag")
            }
        }
        let count = rest == 0 ? fullCount : fullCount + 1
        guard count <= maxChunkCount else {
            throw error("at most \(maxChunkCount) chunks of \(storedChunkByteCount)")
        }
        return count
    }

    /// The number of the chunk that holds the plaintext byte at `offset`, or would if the object were long enough.
    @inline(__always)
    package func chunkIndex(at offset: UInt64) -> UInt64 { (offset + missingByteCount) / chunkByteCount }

    /// Where the data of a chunk starts in the plaintext.
    @inline(__always)
    package func plaintextStart(ofChunk index: UInt64) -> UInt64 {
        index == 0 ? 0 : index * chunkByteCount - missingByteCount
    }

    /// Where a chunk starts in the ciphertext.
    @inline(__always)
    package func ciphertextStart(ofChunk index: UInt64) -> UInt64 {
        index == 0 ? headerByteCount : headerByteCount + index * storedChunkByteCount - missingByteCount
    }

    /// Where a chunk's data and ciphertext lie in an object of these lengths.
    @inline(__always)
    package func chunk(
        _ index: UInt64, plaintextByteCount: UInt64, ciphertextByteCount: UInt64
    ) -> (plaintext: Range<UInt64>, ciphertext: Range<UInt64>) {
        let (plaintext, ciphertext) = (plaintextStart(ofChunk: index), ciphertextStart(ofChunk: index))
        let missing = index == 0 ? missingByteCount : 0
        // Differences, not sums: the end of the last chunk may be nearer than a full chunk's.
        return (
            plaintext..<plaintext + min(chunkByteCount - missing, plaintextByteCount - plaintext),
            ciphertext..<ciphertext + min(storedChunkByteCount - missing, ciphertextByteCount - ciphertext)
        )
    }
}
