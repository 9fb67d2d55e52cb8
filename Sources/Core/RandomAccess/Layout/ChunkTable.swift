extension Strategy {
    /// Returns the object with contiguous chunks, for a file that stores the data of all chunks together and their
    /// other parts in a table behind the header. If chunks are contiguous already, returns the source itself.
    ///
    /// - Throws: `DecryptionError.truncatedCiphertext` for a length that does not fit any number of chunks;
    ///   `.unsupported` for a description whose table has entries of several lengths.
    package func withWholeChunks(
        _ source: any ByteSource
    ) throws(DecryptionError) -> (source: any ByteSource, strategy: Strategy) {
        guard let table = try table(in: source) else { return (source, self) }
        return (table, changing { $0.dataStart = nil })
    }

    private func table(in source: any ByteSource) throws(DecryptionError) -> TableSource? {
        guard try dataStart(chunkCount: 1) > 0 else { return nil }
        guard let shape = try shape().known, !shape.isStreaming, !shape.geometry.isLastOther,
            shape.geometry.chunkByteCount < .max, shape.geometry.missingByteCount == 0,
            shape.geometry.trailerByteCount == 0
        else {
            throw .unsupported(
                "\"dataStart\" in \(name): expected chunks of one length with parts of one length, and no trailer")
        }
        let geometry = shape.geometry
        let (chunkByteCount, byteCount) = (geometry.chunkByteCount, source.byteCount)
        /// Says whether the last of so many chunks has data, or is the only one.
        func reaches(_ count: UInt64) -> Bool {
            guard count > 1 else { return true }
            guard let start = try? dataStart(chunkCount: count), start <= byteCount else { return false }
            return byteCount - start > (count - 1) * chunkByteCount
        }
        // More chunks never move the data to the front, so that the number is the largest that reaches.
        var (count, bound) = (UInt64(1), byteCount / (chunkByteCount + geometry.overheadByteCount) + 1)
        while count < bound {
            let middle = bound - (bound - count) / 2
            if reaches(middle) { count = middle } else { bound = middle - 1 }
        }
        let start = try dataStart(chunkCount: count)
        let tableEnd = geometry.headerByteCount + count * geometry.overheadByteCount
        guard start >= tableEnd, start <= byteCount, byteCount - start <= count * chunkByteCount else {
            throw .truncatedCiphertext(
                byteCount: byteCount, expected: "a header, a table of all chunks, and their data")
        }
        return TableSource(base: source, geometry: geometry, gap: tableEnd..<start)
    }

    /// True if an object's chunks are contiguous, each with all its parts.
    package var hasWholeChunks: Bool { (try? dataStart(chunkCount: 1)) == 0 }

    /// Returns the offset of the data of an object with a number of chunks; 0 if chunks are contiguous.
    package func dataStart(chunkCount: UInt64) throws(DecryptionError) -> UInt64 {
        guard let formula = format.dataStart else { return 0 }
        var names = values
        names["headerEnd"] = try shape().usual.map { .integer(Int128($0.geometry.headerByteCount)) }
        names["count"] = .integer(Int128(chunkCount))
        let value = try formula.integer(names, in: name)
        guard let start = UInt64(exactly: value), start <= 1 << 62 else {
            throw formula.failure(EvaluationFailure("expected 0 to 2^62"), in: name)
        }
        return start
    }
}

/// An object with contiguous chunks, assembled from the entries of the table and the data.
private struct TableSource: WrappingSource {
    let base: any ByteSource
    let geometry: Geometry
    /// The range in the base between the table and the first chunk's data.
    let gap: Range<UInt64>

    /// The length of the object, which has no gap.
    var byteCount: UInt64 { base.byteCount - UInt64(gap.count) }
    private var dataStart: UInt64 { gap.upperBound }

    /// The max number of bytes of one read, which are fetched into separate memory.
    private static let maxByteCount: UInt64 = 1 << 20

    /// Reads bytes: one fetch of the table, and one of the data, for all chunks in the range.
    func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        let header = geometry.headerByteCount
        guard offset < byteCount, buffers.byteCount > 0 else { return 0 }
        if offset < header {
            return try base.read(at: offset, into: buffers.prefix(Int(min(UInt64(buffers.byteCount), header - offset))))
        }
        let stored = geometry.storedChunkByteCount
        let end = min(byteCount, offset + min(UInt64(buffers.byteCount), Self.maxByteCount))
        let chunks = (offset - header) / stored...(end - 1 - header) / stored
        let entries = try bytes(header + chunks.lowerBound * overhead, UInt64(chunks.count) * overhead)
        let data = dataByteCount(before: offset)..<dataByteCount(before: end)
        let fetched = try bytes(dataStart + data.lowerBound, data.upperBound - data.lowerBound)
        buffers.prefix(Int(end - offset)).forEach { position, buffer in
            var done = 0
            while done < buffer.count {
                let place = offset + UInt64(position + done) - header
                let (chunk, within) = place.quotientAndRemainder(dividingBy: stored)
                let entry = (chunk - chunks.lowerBound) * overhead
                let dataEnd = min(stored - geometry.behindByteCount, lastDataEnd(ofChunk: chunk))
                let run: (bytes: ByteString, start: UInt64, count: UInt64) =
                    if within < geometry.frontByteCount {
                        (entries, entry + within, geometry.frontByteCount - within)
                    } else if within < dataEnd {
                        (
                            fetched,
                            chunk * geometry.chunkByteCount + within - geometry.frontByteCount - data.lowerBound,
                            dataEnd - within
                        )
                    } else {
                        (
                            entries, entry + geometry.frontByteCount + within - dataEnd,
                            geometry.behindByteCount - (within - dataEnd)
                        )
                    }
                let count = min(Int(run.count), buffer.count - done)
                run.bytes.withUnsafeBytes { bytes in
                    let part = bytes[Int(run.start)..<Int(run.start) + count]
                    UnsafeMutableRawBufferPointer(rebasing: buffer[done...]).copyMemory(
                        from: UnsafeRawBufferPointer(rebasing: part))
                }
                done += count
            }
        }
        return Int(end - offset)
    }

    private var overhead: UInt64 { geometry.overheadByteCount }

    /// Returns the offset in a chunk at which its data ends if it is the last one, limited by the length of the object.
    private func lastDataEnd(ofChunk index: UInt64) -> UInt64 {
        byteCount - geometry.headerByteCount - index * geometry.storedChunkByteCount - geometry.behindByteCount
    }

    /// Returns the number of data bytes before an offset of the object.
    private func dataByteCount(before offset: UInt64) -> UInt64 {
        let (chunk, within) = (offset - geometry.headerByteCount).quotientAndRemainder(
            dividingBy: geometry.storedChunkByteCount)
        let inner = min(max(within, geometry.frontByteCount) - geometry.frontByteCount, geometry.chunkByteCount)
        return min(chunk * geometry.chunkByteCount + inner, base.byteCount - dataStart)
    }

    private func bytes(_ offset: UInt64, _ count: UInt64) throws(DecryptionError) -> ByteString {
        try ByteString(count: Int(count)) { buffer throws(DecryptionError) in try base.fetch(at: offset, into: buffer) }
    }
}
