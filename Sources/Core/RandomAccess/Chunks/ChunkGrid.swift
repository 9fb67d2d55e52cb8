/// Where the chunks of an object lie, from its ciphertext's length alone: what opening it can say before it fetches.
public struct ChunkGrid: Hashable, Sendable {
    /// The format.
    public let format: ChunkFormat
    /// The ciphertext's length in bytes.
    public let ciphertextByteCount: UInt64
    /// The number of chunks, of which there is one at least.
    public let chunkCount: UInt64

    /// Works out the chunks of a ciphertext of a given length.
    ///
    /// - Throws: `DecryptionError.truncatedCiphertext` for a length that no plaintext has: one without a whole header
    ///   and tag, or, in Cobblestone, one that ends with a full chunk.
    /// - Source: c2sp.org/chunked-encryption, "Implementation notes".
    public init(format: ChunkFormat, ciphertextByteCount: UInt64) throws(DecryptionError) {
        self.format = format
        self.ciphertextByteCount = ciphertextByteCount
        let (header, tag) = (UInt64(format.headerByteCount), UInt64(ChunkFormat.tagByteCount))
        guard ciphertextByteCount >= header + tag else {
            throw .truncatedCiphertext(
                byteCount: ciphertextByteCount, expected: "at least \(header + tag), a header and a tag")
        }
        let full = format.chunkCiphertextByteCount
        let rest = (ciphertextByteCount - format.gridStart) % full
        let fullCount = (ciphertextByteCount - format.gridStart) / full
        guard rest >= tag || rest == 0 && !format.hasShortLastChunk else {
            throw .truncatedCiphertext(
                byteCount: ciphertextByteCount,
                expected: rest == 0
                    ? "a last chunk shorter than \(full) bytes after \(fullCount) full ones"
                    : "at least \(tag - rest) more, the rest of the last chunk's tag")
        }
        self.chunkCount = rest == 0 ? fullCount : fullCount + 1
        guard chunkCount <= format.largestChunkCount else {
            throw .truncatedCiphertext(
                byteCount: ciphertextByteCount, expected: "at most \(format.largestChunkCount) chunks of \(full)")
        }
    }

    /// The header's range in the ciphertext.
    public var header: Range<UInt64> { 0..<UInt64(format.headerByteCount) }

    /// The plaintext's length in bytes.
    public var plaintextByteCount: UInt64 {
        ciphertextByteCount - UInt64(format.headerByteCount) - UInt64(ChunkFormat.tagByteCount) * chunkCount
    }

    /// The plaintext bytes that the first chunk lacks, where it shares its range with the header.
    private var missingByteCount: UInt64 { UInt64(format.headerByteCount) - format.gridStart }

    /// The number of the chunk that holds the plaintext byte at `offset`.
    func chunkIndex(at offset: UInt64) -> UInt64 {
        (offset + missingByteCount) / format.chunkByteCount
    }

    /// The ciphertext of a chunk, tag included.
    public func ciphertext(ofChunk index: UInt64) -> Range<UInt64> {
        let full = format.chunkCiphertextByteCount
        let start = format.gridStart + index * full
        let end = start + min(full, ciphertextByteCount - start)
        return max(start, UInt64(format.headerByteCount))..<end
    }

    /// The plaintext of a chunk.
    public func plaintext(ofChunk index: UInt64) -> Range<UInt64> {
        let full = format.chunkByteCount
        let start = index == 0 ? 0 : index * full - missingByteCount
        let end = index == chunkCount - 1 ? plaintextByteCount : (index + 1) * full - missingByteCount
        return start..<end
    }
}

/// Chunks with their nonces: the layout of an authenticated object.
struct ChunkRun: Hashable, Sendable {
    let grid: ChunkGrid
    let nonces: ChunkNonces

    /// The chunk that holds the plaintext byte at `offset`, which must lie in the object.
    func extent(at offset: UInt64) -> Extent {
        extent(ofChunk: grid.chunkIndex(at: offset))
    }

    func extent(ofChunk index: UInt64) -> Extent {
        Extent(
            plaintext: grid.plaintext(ofChunk: index), ciphertext: grid.ciphertext(ofChunk: index),
            iv: nonces.block(ofChunk: index), cipher: .aesGCM)
    }
}
