/// The positions and lengths of an object's chunks, as integers. It converts between the lengths of plaintext and
/// ciphertext.
///
/// All chunks but the last are full. The first one may hold less, if a header counts as part of it. The last one may
/// have other parts than the others.
public struct Geometry: Hashable, Sendable {
    /// The bytes before the first chunk.
    public let headerByteCount: UInt64
    /// The bytes behind the last chunk.
    package var trailerByteCount: UInt64
    /// The plaintext length of a full chunk; `.max` if the object is one chunk.
    public let chunkByteCount: UInt64
    /// The ciphertext length of a full chunk; `.max` if the object is one chunk.
    public let storedChunkByteCount: UInt64
    /// The bytes of a chunk before its data.
    package let frontByteCount: UInt64
    /// The bytes of a full chunk behind its data: a tag, or a block of padding.
    public let behindByteCount: UInt64
    /// The plaintext bytes that the first chunk has less than a full one.
    public let missingByteCount: UInt64
    /// The max number of chunks.
    let maxChunkCount: UInt64
    let end: End
    /// The stored bytes of the last chunk beside its data.
    let lastOverheadByteCount: UInt64
    /// The min number of bytes from the start of a full chunk to the end, if that chunk is not the last.
    private let splitByteCount: UInt64

    /// The rules of the last chunk.
    struct End: Hashable, Sendable {
        /// True for padding to whole blocks with 1 to 16 bytes, whose number only the plaintext shows. Source: RFC
        /// 5652, section 6.3.
        var isPadded = false
        /// The number of bytes of which the data's length is a multiple.
        var unitByteCount: UInt64 = 1
        /// True if an empty plaintext has a chunk.
        var emptyHasChunk = false
        /// True if an object without any bytes is an empty plaintext.
        var emptyHasNoHeader = false
        /// The rule for a last chunk without data.
        var emptyLast = Format.EmptyLast.never
        /// True if the last chunk is always shorter than a full one.
        var isNeverFull = false
    }

    init(
        header: UInt64 = 0, trailer: UInt64 = 0, chunk: UInt64 = .max, missing: UInt64 = 0, front: UInt64 = 0,
        behind: UInt64 = 0, last: (front: UInt64, behind: UInt64)? = nil, end: End, maxChunkCount: UInt64 = .max
    ) {
        let padding: UInt64 = end.isPadded ? 16 : 0
        (headerByteCount, trailerByteCount, chunkByteCount, missingByteCount) = (header, trailer, chunk, missing)
        (frontByteCount, behindByteCount) = (front, behind + padding)
        storedChunkByteCount = chunk == .max ? .max : front + chunk + behind + padding
        let lastByteCount = last.map { $0.front + $0.behind + padding } ?? front + behind + padding
        lastOverheadByteCount = lastByteCount
        splitByteCount = chunk == .max ? .max : storedChunkByteCount + max(1, lastByteCount)
        (self.end, self.maxChunkCount) = (end, maxChunkCount)
    }

    /// The stored bytes of a full chunk beside its data.
    var overheadByteCount: UInt64 { frontByteCount + behindByteCount }

    /// True if the last chunk has other parts than the others.
    var isLastOther: Bool { lastOverheadByteCount != overheadByteCount }

    /// The stored length of the longest chunk; `.max` if the object is one chunk.
    package var maxStoredChunkByteCount: UInt64 {
        chunkByteCount == .max ? .max : chunkByteCount + max(overheadByteCount, lastOverheadByteCount)
    }

    /// The number of bytes of which a plaintext's length is a multiple.
    package var plaintextUnitByteCount: UInt64 { end.isPadded ? 1 : end.unitByteCount }

    /// The number of bytes outside all chunks.
    private var outerByteCount: UInt64 { headerByteCount + trailerByteCount }

    /// True if the ciphertext's length alone determines the plaintext's.
    var isLengthTold: Bool { !end.isPadded }

    /// Returns the number of chunks of a plaintext.
    package func chunkCount(ofPlaintext byteCount: UInt64) -> UInt64 {
        let sum = byteCount.addingReportingOverflow(missingByteCount)
        let (fullCount, rest) = (sum.overflow ? .max : sum.partialValue).quotientAndRemainder(
            dividingBy: chunkByteCount)
        if end.isNeverFull { return fullCount == .max ? .max : fullCount + 1 }
        if byteCount == 0 { return end.emptyHasChunk ? 1 : 0 }
        return rest > 0 ? fullCount + 1 : fullCount
    }

    /// Returns the ciphertext length of a plaintext; `.max` if it does not fit into 64 bits.
    ///
    /// - Source: PROTOCOL.md, "open".
    package func ciphertextByteCount(ofPlaintext byteCount: UInt64) -> UInt64 {
        let count = chunkCount(ofPlaintext: byteCount)
        if count == 0 { return end.emptyHasNoHeader ? 0 : outerByteCount }
        let overhead = (count - 1).multipliedReportingOverflow(by: overheadByteCount)
        let parts = [
            byteCount, overhead.overflow ? .max : overhead.partialValue, lastOverheadByteCount, outerByteCount,
        ]
        let sum = parts.reduce(UInt64(0)) { sum, part in sum > .max - part ? .max : sum + part }
        guard end.isPadded, sum < .max else { return sum }
        // The last chunk's padding fills its last block.
        // The difference is modulo 2⁶⁴, which is a multiple of 16.
        let last = byteCount &+ missingByteCount &- (chunkByteCount == .max ? 0 : (count - 1) &* chunkByteCount)
        return sum - last % 16
    }

    /// Returns the number of chunks of a ciphertext of a given length.
    ///
    /// - Throws: `DecryptionError.truncatedCiphertext` for an impossible length; `.authenticationFailed` if the last
    ///   chunk would be empty and the format does not allow that.
    /// - Source: PROTOCOL.md, "open"; docs/formats.md, "The end".
    package func chunkCount(ofCiphertext byteCount: UInt64) throws(DecryptionError) -> UInt64 {
        func error(_ expected: String) -> DecryptionError {
            .truncatedCiphertext(byteCount: byteCount, expected: expected)
        }
        if byteCount == 0, end.emptyHasNoHeader { return 0 }
        let unit = end.unitByteCount
        if unit > 1, !isLastOther, overheadByteCount == (end.isPadded ? 16 : 0), byteCount >= outerByteCount,
            (byteCount - outerByteCount + missingByteCount) % unit != 0
        {
            let behind = outerByteCount > 0 ? " beside \(outerByteCount) of header and trailer" : ""
            throw error("a multiple of \(unit)\(behind), as \(end.isPadded ? "CBC" : "the format") makes")
        }
        let minimum = outerByteCount + (end.emptyHasChunk || end.isNeverFull ? lastOverheadByteCount : 0)
        guard byteCount >= minimum else {
            throw error(
                end.isPadded && outerByteCount == 0
                    ? "at least 16, the padding of an empty plaintext"
                    : "at least \(minimum), a header\(minimum > outerByteCount ? " and an empty chunk" : "")")
        }
        let all = byteCount - outerByteCount
        if all == 0, minimum == outerByteCount { return 0 }
        if isLastOther { return try chunkCount(ofChunks: all, of: byteCount) }
        let (fullCount, rest) = (all + missingByteCount).quotientAndRemainder(dividingBy: storedChunkByteCount)
        let count = rest == 0 ? fullCount : fullCount + 1
        guard rest > 0 || !end.isNeverFull else {
            throw error("a last chunk shorter than \(storedChunkByteCount) bytes after \(fullCount) full ones")
        }
        let last = fullCount == 0 ? rest &- missingByteCount : rest
        if rest > 0, end.isPadded {
            let parts = overheadByteCount - 16
            guard last >= overheadByteCount, (last - parts) % 16 == 0 else {
                throw error("a last chunk of whole blocks beside \(parts), one block at least")
            }
        }
        if rest > 0, !end.isPadded {
            guard last >= overheadByteCount else {
                throw error("at least \(overheadByteCount - last) more, the rest of the last chunk")
            }
            if last == overheadByteCount, overheadByteCount > 0 { try checkEmptyLast(isAlone: count == 1, byteCount) }
            guard (last - overheadByteCount) % unit == 0 else {
                throw error("a last chunk of a multiple of \(unit) bytes")
            }
        }
        guard count <= maxChunkCount else {
            throw error("at most \(maxChunkCount) chunks of \(storedChunkByteCount)")
        }
        return count
    }

    /// Returns the number of chunks in a given length, if the last one has other parts than the others.
    private func chunkCount(ofChunks all: UInt64, of byteCount: UInt64) throws(DecryptionError) -> UInt64 {
        func error(_ expected: String) -> DecryptionError {
            .truncatedCiphertext(byteCount: byteCount, expected: expected)
        }
        guard all >= lastOverheadByteCount else {
            throw error("at least \(lastOverheadByteCount - all) more, a last chunk")
        }
        let (count, rest) = (all - lastOverheadByteCount + missingByteCount).quotientAndRemainder(
            dividingBy: storedChunkByteCount)
        let missing = count == 0 ? missingByteCount : 0
        guard rest >= missing, rest <= chunkByteCount, rest < chunkByteCount || !end.isNeverFull,
            (rest - missing) % end.unitByteCount == 0
        else { throw error("a last chunk behind \(count) of \(storedChunkByteCount) bytes") }
        if rest == missing { try checkEmptyLast(isAlone: count == 0, byteCount) }
        guard count < maxChunkCount else {
            throw error("at most \(maxChunkCount) chunks of \(storedChunkByteCount)")
        }
        return count + 1
    }

    private func checkEmptyLast(isAlone: Bool, _ byteCount: UInt64) throws(DecryptionError) {
        if end.emptyLast == .allowed || isAlone && (end.emptyHasChunk || end.isNeverFull) { return }
        // A format whose only chunk may be empty has authentic chunks without data; this one is out of place.
        if end.emptyLast == .onlyChunk, !isAlone {
            throw .authenticationFailed(chunk: (byteCount - outerByteCount + missingByteCount) / storedChunkByteCount)
        }
        throw .truncatedCiphertext(byteCount: byteCount, expected: "at least 1 more, since no last chunk is empty")
    }

    /// Returns the plaintext length of a ciphertext with a number of chunks; padding counts as plaintext.
    func plaintextByteCount(ofCiphertext byteCount: UInt64, chunkCount: UInt64) -> UInt64 {
        if chunkCount == 0, end.emptyHasNoHeader, byteCount == 0 { return 0 }
        let padding: UInt64 = end.isPadded ? 16 : 0
        let last =
            chunkCount == 0 ? 0 : (chunkCount - 1) * (overheadByteCount - padding) + lastOverheadByteCount - padding
        return byteCount - outerByteCount - last
    }

    /// Returns the number of the chunk that holds the plaintext byte at `offset`, or would if the object were long
    /// enough.
    @inline(__always)
    package func chunkIndex(at offset: UInt64) -> UInt64 { (offset + missingByteCount) / chunkByteCount }

    /// Returns the number of the chunk that holds a byte behind the header, if all chunks before it are full.
    func chunkIndex(atStored offset: UInt64) -> UInt64 { (offset + missingByteCount) / storedChunkByteCount }

    /// Returns the plaintext offset of a chunk's data.
    @inline(__always)
    package func plaintextStart(ofChunk index: UInt64) -> UInt64 {
        index == 0 ? 0 : index * chunkByteCount - missingByteCount
    }

    /// Returns the ciphertext offset of a chunk.
    @inline(__always)
    package func ciphertextStart(ofChunk index: UInt64) -> UInt64 {
        index == 0 ? headerByteCount : headerByteCount + index * storedChunkByteCount - missingByteCount
    }

    /// Returns the ranges of a chunk's data and stored bytes in an object of the given lengths.
    @inline(__always)
    package func chunk(
        _ index: UInt64, plaintextByteCount: UInt64, ciphertextByteCount: UInt64
    ) -> (plaintext: Range<UInt64>, ciphertext: Range<UInt64>) {
        let (plaintext, ciphertext) = (plaintextStart(ofChunk: index), ciphertextStart(ofChunk: index))
        let missing = index == 0 ? missingByteCount : 0
        // Subtracts rather than adds: the object may end before the chunk would if it were full.
        let rest = ciphertextByteCount - trailerByteCount - ciphertext
        return (
            plaintext..<plaintext + min(chunkByteCount - missing, plaintextByteCount - plaintext),
            ciphertext..<ciphertext + (rest < splitByteCount - missing ? rest : storedChunkByteCount - missing)
        )
    }
}
