import ByteSources
import RandomAccess

/// The positions in an object that stores the data of all chunks together, behind a table of the chunks' other parts.
///
/// The oracle knows contiguous chunks. It rearranges other objects before it reads them, and after it has written them.
struct OracleTable: Sendable {
    /// The offset of the first entry of the table, or of the first contiguous chunk.
    private let start: UInt64
    /// The number of bytes before a chunk's data and after them; together, the length of an entry.
    private let front: UInt64
    private let behind: UInt64
    /// The number of data bytes in a full chunk, and in all chunks.
    private let full: UInt64
    private let dataByteCount: UInt64
    private let chunkCount: UInt64
    /// The offset of the data.
    let dataStart: UInt64
    /// The offset of the data in an object that is read and has one chunk fewer.
    private(set) var shorterDataStart: UInt64 = 0

    /// Finds the table of an object; `nil` if its chunks are contiguous.
    ///
    /// - Parameters:
    ///   - format: The format.
    ///   - known: The inputs.
    ///   - sizes: The lengths that follow from them; `nil` if a header decides.
    ///   - byteCount: The object's length.
    /// - Throws: `DecryptionError.truncatedCiphertext` for a length that no number of chunks has, `.unsupported`, or
    ///   the errors of the expression.
    init?(
        _ format: Format, _ known: OracleEvaluator, _ sizes: OracleSizes?, byteCount: UInt64
    ) throws(DecryptionError) {
        guard let formula = format.dataStart else { return nil }
        guard let sizes else { throw .unsupported("a table in \(format.name), whose chunk lengths are not told") }
        guard try Self.dataStart(formula, known, sizes, chunkCount: 1) > 0 else { return nil }
        let full = sizes.fullByteCount
        // The number of chunks is the largest with which the last one has data.
        var count: UInt64 = 1
        for step in (0..<62).reversed().map({ UInt64(1) << UInt64($0) }) where count + step <= byteCount / full + 1 {
            guard let start = try? Self.dataStart(formula, known, sizes, chunkCount: count + step), start < byteCount,
                byteCount - start > (count + step - 1) * full
            else { continue }
            count += step
        }
        let start = try Self.dataStart(formula, known, sizes, chunkCount: count)
        guard start <= byteCount, byteCount - start <= count * full else {
            throw .truncatedCiphertext(byteCount: byteCount, expected: "a table of \(count) chunks, and their data")
        }
        try self.init(sizes, chunkCount: count, dataStart: start, dataByteCount: byteCount - start, of: format)
        shorterDataStart = try Self.dataStart(formula, known, sizes, chunkCount: max(1, count - 1))
    }

    /// Lays out the table of a new object; `nil` if its chunks are contiguous.
    ///
    /// - Throws: `DecryptionError.unsupported`, `.truncatedCiphertext` for data that would overlap the table, or the
    ///   errors of the expression.
    init?(writing object: OracleObject) throws(DecryptionError) {
        guard let formula = object.format.dataStart else { return nil }
        let known = OracleEvaluator(names: object.names, format: object.format.name)
        let start = try Self.dataStart(formula, known, object.sizes, chunkCount: object.chunkCount)
        guard start > 0 else { return nil }
        guard object.chunkCount > 0 else { throw .unsupported("a table of no chunk in \(object.format.name)") }
        try self.init(
            object.sizes, chunkCount: object.chunkCount, dataStart: start, dataByteCount: object.plaintextByteCount,
            of: object.format)
    }

    private init(
        _ sizes: OracleSizes, chunkCount: UInt64, dataStart: UInt64, dataByteCount: UInt64, of format: Format
    ) throws(DecryptionError) {
        guard sizes.inner == sizes.last, sizes.full < OracleSizes.whole, sizes.first == sizes.full, sizes.trailer == 0,
            !sizes.isPadded, !format.isLastNeverFull
        else { throw .unsupported("a table of chunks with different lengths in \(format.name)") }
        (start, front, behind, full) = (sizes.start, sizes.inner.front, sizes.inner.behind, sizes.fullByteCount)
        (self.chunkCount, self.dataStart, self.dataByteCount) = (chunkCount, dataStart, dataByteCount)
        guard Int128(start) + Int128(chunkCount) * Int128(front + behind) <= Int128(dataStart) else {
            throw .truncatedCiphertext(byteCount: dataStart, expected: "a table of \(chunkCount) chunks")
        }
    }

    private static func dataStart(
        _ formula: Formula, _ known: OracleEvaluator, _ sizes: OracleSizes, chunkCount: UInt64
    ) throws(DecryptionError) -> UInt64 {
        var known = known
        known.names["headerEnd"] = .integer(Int128(sizes.headerEnd))
        known.names["count"] = .integer(Int128(chunkCount))
        let value = try known.number(formula)
        guard let start = UInt64(exactly: value), start <= 1 << 62 else {
            throw .invalidParameter(name: "dataStart", value: "\(value)", expected: "0 to 2^62")
        }
        return start
    }

    /// The offset at which the table ends.
    private var tableEnd: UInt64 { start + chunkCount * (front + behind) }

    /// The range between the table and the data.
    var gap: Range<UInt64> { tableEnd..<dataStart }

    /// The length of the object with contiguous chunks.
    var wholeByteCount: UInt64 { tableEnd + dataByteCount }

    /// Returns the range of a chunk's entry.
    func entry(_ index: UInt64) -> Range<UInt64> {
        let place = start + index * (front + behind)
        return place..<place + front + behind
    }

    /// Returns the number of data bytes of a chunk.
    private func count(_ index: UInt64) -> UInt64 { min(full, dataByteCount - index * full) }

    /// Returns the stored offset of a byte of the object with contiguous chunks, and the number of bytes from there on
    /// that are adjacent in both.
    func stored(_ offset: UInt64) -> (offset: UInt64?, count: UInt64) {
        guard offset >= start else { return (offset, start - offset) }
        let (index, within) = (offset - start).quotientAndRemainder(dividingBy: full + front + behind)
        let (entry, data) = (entry(index).lowerBound, count(index))
        if within < front { return (entry + within, front - within) }
        if within < front + data { return (dataStart + index * full + within - front, front + data - within) }
        return (entry + within - data, front + data + behind - within)
    }

    /// Returns the offset of a stored byte in the object with contiguous chunks, `nil` for a byte between the table and
    /// the data, and the number of bytes from there on that are adjacent in both.
    private func whole(_ offset: UInt64) -> (offset: UInt64?, count: UInt64) {
        guard offset >= start else { return (offset, start - offset) }
        if gap.contains(offset) { return (nil, dataStart - offset) }
        let isData = offset >= dataStart
        let (index, within) = (offset - (isData ? dataStart : start)).quotientAndRemainder(
            dividingBy: isData ? full : front + behind)
        let chunk = start + index * (full + front + behind)
        if isData { return (chunk + front + within, count(index) - within) }
        if within < front { return (chunk + within, front - within) }
        return (chunk + count(index) + within, front + behind - within)
    }

    /// Returns a stored object with contiguous chunks.
    func whole(of source: any ByteSource) -> any ByteSource {
        RearrangedSource(base: source, byteCount: wholeByteCount, place: stored)
    }

    /// Returns an object with contiguous chunks as it is stored. Zeros stand between the table and the data.
    func stored(of source: any ByteSource) -> any ByteSource {
        RearrangedSource(base: source, byteCount: dataStart + dataByteCount, place: whole)
    }
}

/// The bytes of another source in another order, with zeros in between.
private struct RearrangedSource: ByteSource {
    let base: any ByteSource
    let byteCount: UInt64
    /// The offset of a byte in the other source, `nil` for zeros, and the number of bytes that follow it in both.
    let place: @Sendable (UInt64) -> (offset: UInt64?, count: UInt64)

    func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        guard offset < byteCount else { return 0 }
        let rest = buffers.prefix(Int(min(UInt64(buffers.byteCount), byteCount - offset)))
        try rest.forEach { (position, buffer) throws(DecryptionError) in
            try fill(buffer, from: offset + UInt64(position))
        }
        return rest.byteCount
    }

    private func fill(_ buffer: UnsafeMutableRawBufferPointer, from offset: UInt64) throws(DecryptionError) {
        guard let start = buffer.baseAddress else { return }
        var done = 0
        while done < buffer.count {
            let (source, run) = place(offset + UInt64(done))
            let count = Int(min(run, UInt64(buffer.count - done)))
            if let source {
                try Oracle.fetch(count, at: source, of: base, into: start + done)
            } else {
                (start + done).initializeMemory(as: UInt8.self, repeating: 0, count: count)
            }
            done += count
        }
    }
}
