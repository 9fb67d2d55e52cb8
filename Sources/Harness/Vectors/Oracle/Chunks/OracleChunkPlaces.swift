package import RandomAccess

/// Where the chunks of an object of a given ciphertext length lie, as the oracle reckons.
package struct OracleChunkPlaces: Sendable {
    /// The bytes before the first chunk.
    package let headerByteCount: UInt64
    /// The number of chunks.
    package let chunkCount: UInt64
    let plaintextByteCount: UInt64
    let ciphertextByteCount: UInt64
    /// The plaintext bytes of a full chunk.
    let full: UInt64
    /// The plaintext bytes of the first chunk, if it is full.
    private let firstCapacity: UInt64

    /// For a ciphertext.
    ///
    /// - Throws: `DecryptionError.truncatedCiphertext` for a length that no plaintext has.
    package init(_ format: ChunkFormat, ciphertextByteCount total: UInt64) throws(DecryptionError) {
        let (header, full, first) = Self.sizes(format)
        guard total >= header + 16 else {
            throw .truncatedCiphertext(byteCount: total, expected: "a header and a tag")
        }
        // Chunk by chunk, with big steps: the first one, then whole ones, then what is left.
        var rest = total - header
        var count: UInt64 = 1
        if rest > first + 16 {
            rest -= first + 16
            count += rest / (full + 16)
            rest %= full + 16
            if rest > 0 { count += 1 } else { rest = full + 16 }
        }
        var isPossible = rest >= 16
        if case .cobblestone = format { isPossible = isPossible && rest < full + 16 }
        guard isPossible else { throw .truncatedCiphertext(byteCount: total, expected: "a whole last chunk") }
        self.init(format, count: count, plaintext: total - header - 16 * count, total: total)
    }

    /// For a plaintext, as a writer cuts it.
    init(_ format: ChunkFormat, plaintextByteCount length: UInt64) {
        let (header, full, first) = Self.sizes(format)
        let count: UInt64
        if case .cobblestone = format {
            count = length / full + 1
        } else {
            count = length <= first ? 1 : 1 + (length - first + full - 1) / full
        }
        self.init(format, count: count, plaintext: length, total: header + length + 16 * count)
    }

    private init(_ format: ChunkFormat, count: UInt64, plaintext: UInt64, total: UInt64) {
        (self.headerByteCount, self.full, self.firstCapacity) = Self.sizes(format)
        (self.chunkCount, self.plaintextByteCount, self.ciphertextByteCount) = (count, plaintext, total)
    }

    /// The number of the chunk that a plaintext byte lies in.
    func chunk(at offset: UInt64) -> UInt64 { offset < firstCapacity ? 0 : 1 + (offset - firstCapacity) / full }

    /// The number of the chunk that a ciphertext byte lies in, or 0 for one of the header.
    func chunk(atCiphertext offset: UInt64) -> UInt64 {
        let firstEnd = headerByteCount + firstCapacity + 16
        return offset < firstEnd ? 0 : 1 + (offset - firstEnd) / (full + 16)
    }

    /// Where a chunk's plaintext starts.
    func plaintextStart(ofChunk index: UInt64) -> UInt64 { index == 0 ? 0 : firstCapacity + (index - 1) * full }

    /// Where a chunk's ciphertext starts.
    package func ciphertextStart(ofChunk index: UInt64) -> UInt64 {
        headerByteCount + plaintextStart(ofChunk: index) + 16 * index
    }

    /// How many plaintext bytes a chunk holds.
    func byteCount(ofChunk index: UInt64) -> UInt64 {
        index == chunkCount - 1
            ? plaintextByteCount - plaintextStart(ofChunk: index) : index == 0 ? firstCapacity : full
    }

    /// The chunks that hold a range of plaintext, from the first one's start to the last one's end.
    package func ciphertext(of range: Range<UInt64>) -> Range<UInt64> {
        guard !range.isEmpty else { return headerByteCount..<headerByteCount }
        let last = chunk(at: range.upperBound - 1)
        let end = last == chunkCount - 1 ? ciphertextByteCount : ciphertextStart(ofChunk: last + 1)
        return ciphertextStart(ofChunk: chunk(at: range.lowerBound))..<end
    }

    private static func sizes(_ format: ChunkFormat) -> (header: UInt64, full: UInt64, first: UInt64) {
        switch format {
        case .cobblestone: return (56, 16384, 16384)
        case .tinkAESGCMHKDF(_, let segmentByteCount, let keyByteCount):
            let header = UInt64(keyByteCount) + 8
            return (header, segmentByteCount - 16, segmentByteCount - 16 - header)
        }
    }
}
