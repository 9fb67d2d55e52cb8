import RandomAccess

/// The lengths that a description determines, and the positions that follow from them.
///
/// All sums have 128 bits, so that a file of one chunk can be treated as a chunk of 2¹⁰⁰ bytes.
struct OracleSizes: Sendable {
    let start: UInt64
    /// The offset at which the last field of the header ends.
    let headerEnd: UInt64
    private(set) var trailer: UInt64
    /// The number of bytes before a chunk's data and after them; in all chunks but the last, and in the last.
    let inner: (front: UInt64, behind: UInt64)
    let last: (front: UInt64, behind: UInt64)
    /// The number of plaintext bytes in a full chunk, and in the first one.
    let full: Int128
    let first: Int128
    let isPadded: Bool
    let unit: Int128
    private let max: Int128
    private let format: Format
    /// The fields of a chunk, with their positions.
    private let innerFields: [(field: Format.Field, place: Place)]
    private let lastFields: [(field: Format.Field, place: Place)]
    private let tags: (inner: Place?, last: Place?)

    /// The position of a part, relative to the chunk's start or to the end of its data.
    struct Place: Sendable {
        let isBehind: Bool
        let offset: UInt64
        let byteCount: Int
    }

    /// The chunk length of a file that is one chunk: longer than any file.
    static let whole: Int128 = 1 << 100

    /// Computes the lengths; `nil` if they are not yet known.
    ///
    /// - Parameters:
    ///   - format: The format.
    ///   - known: The known values.
    ///   - trailer: The number of bytes after the chunks, if only the last chunk determines it.
    /// - Throws: `DecryptionError.invalidParameter` for impossible lengths.
    init?(_ format: Format, _ known: OracleEvaluator, trailer: UInt64? = nil) throws(DecryptionError) {
        if format.lastChunk != nil, trailer == nil { return nil }
        var known = known
        var end: Int128 = 0
        for field in format.header {
            guard known.knows(field.byteCount) else { break }
            known.names[field.name + ".at"] = .integer(end)
            end += try known.number(field.byteCount)
            if field.name == format.header.last?.name { known.names["headerEnd"] = .integer(end) }
        }
        if format.header.isEmpty { known.names["headerEnd"] = .integer(0) }
        var formulas = [format.start, format.trailer, format.chunk, format.firstChunk, format.unit, format.padding]
        formulas += [format.maxChunkCount, format.cipher]
        var withLast = known
        withLast.names["last"] = .integer(0)
        guard
            format.layout.allSatisfy({
                if case .field(let field) = $0 { withLast.knows(field.byteCount) } else { true }
            })
        else { return nil }
        guard formulas.compactMap(\.self).allSatisfy(known.knows), let headerEnd = known.names["headerEnd"] else {
            return nil
        }
        func number(_ formula: Formula?, or other: Int128) throws(DecryptionError) -> Int128 {
            guard let formula else { return other }
            let value = try known.number(formula)
            guard (0...1 << 62).contains(value) else {
                throw .invalidParameter(name: "length", value: "\(value)", expected: "0 to 2^62")
            }
            return value
        }
        guard case .integer(let header) = headerEnd else { return nil }
        self.headerEnd = UInt64(header)
        start = UInt64(try number(format.start, or: header))
        if let trailer { self.trailer = trailer } else { self.trailer = UInt64(try number(format.trailer, or: 0)) }
        full = try number(format.chunk, or: Self.whole)
        first = try number(format.firstChunk, or: full)
        isPadded =
            try format.padding.map { formula throws(DecryptionError) in
                try known.bytes(formula) == Array("pkcs7".utf8)
            } ?? false
        let cipher = try known.bytes(format.cipher)
        let takesBlocks = ["aes-cbc", "aes-xts"].contains { Array($0.utf8) == cipher }
        unit = try number(format.unit, or: takesBlocks ? 16 : 1)
        max = try number(format.maxChunkCount, or: 1 << 100)
        guard full > 0, first > 0, first <= full, unit > 0 else {
            throw .invalidParameter(name: "chunk length", value: "\(full)", expected: "at least 1 byte")
        }
        var parts: [Parts] = []
        for isLast in [0, 1] as [Int128] {
            known.names["last"] = .integer(isLast)
            var found = Parts()
            var (isBehind, offset) = (false, UInt64(0))
            for part in format.layout {
                switch part {
                case .data: (found.front, offset, isBehind) = (offset, 0, true)
                case .tag(let byteCount):
                    found.tag = Place(isBehind: isBehind, offset: offset, byteCount: byteCount)
                    offset += UInt64(byteCount)
                case .field(let field):
                    let byteCount = Int(try number(field.byteCount, or: 0))
                    found.fields.append((field, Place(isBehind: isBehind, offset: offset, byteCount: byteCount)))
                    offset += UInt64(byteCount)
                }
            }
            found.behind = offset
            parts.append(found)
        }
        (inner, last) = ((parts[0].front, parts[0].behind), (parts[1].front, parts[1].behind))
        guard !isPadded || inner.front + inner.behind == last.front + last.behind else {
            throw .unsupported("other parts in a last chunk that is padded, in \(format.name)")
        }
        (innerFields, lastFields, self.format) = (parts[0].fields, parts[1].fields, format)
        tags = (parts[0].tag, parts[1].tag)
    }

    /// The parts of a chunk.
    private struct Parts {
        var (front, behind) = (UInt64(0), UInt64(0))
        var fields: [(field: Format.Field, place: Place)] = []
        var tag: Place?
    }

    /// Returns the fields of a chunk, with their positions.
    func fields(isLast: Bool) -> [(field: Format.Field, place: Place)] { isLast ? lastFields : innerFields }

    /// Returns the position of a chunk's tag.
    func tag(isLast: Bool) -> Place? { isLast ? tags.last : tags.inner }

    func front(isLast: Bool) -> UInt64 { isLast ? last.front : inner.front }

    func behind(isLast: Bool) -> UInt64 { isLast ? last.behind : inner.behind }

    /// Returns the same lengths with another trailer length.
    func with(trailer: UInt64) -> OracleSizes {
        var sizes = self
        sizes.trailer = trailer
        return sizes
    }

    /// The lengths of an object without bytes, which contains no information.
    init(ofNothing format: Format) {
        (start, headerEnd, trailer, inner, last) = (0, 0, 0, (0, 0), (0, 0))
        (full, first, isPadded, unit, max) = (1, 1, false, 1, 0)
        (self.format, innerFields, lastFields, tags) = (format, [], [], (nil, nil))
    }

    /// The authentication codes of a chunk's data.
    var codes: [CodeExpression] { innerFields.flatMap(\.field.content).compactMap { CodeExpression($0.expression) } }

    /// Says whether chunks have the same positions.
    func isLike(_ other: OracleSizes) -> Bool {
        (start, headerEnd, trailer) == (other.start, other.headerEnd, other.trailer)
            && inner == other.inner && last == other.last
            && (full, first, isPadded) == (other.full, other.first, other.isPadded)
    }

    /// The index of the last chunk if the object has the max number of chunks.
    var maxIndex: UInt64 { UInt64(clamping: Swift.max(1, max) - 1) }

    /// The number of bytes that opening reads before any chunk.
    var lookedAtByteCount: UInt64 { Swift.max(start, headerEnd) }

    /// The number of plaintext bytes in a full chunk, if there are full chunks.
    var fullByteCount: UInt64 { UInt64(clamping: full) }

    private var overhead: Int128 { Int128(inner.front + inner.behind) }
    private var lastOverhead: Int128 { Int128(last.front + last.behind) }

    /// The number of stored bytes of a full chunk in addition to its data, which include a block of padding if it is
    /// padded.
    private var fullOverhead: Int128 { overhead + (isPadded ? 16 : 0) }

    /// Returns the number of chunks of a ciphertext: the first, then as many full ones as fit, then the rest.
    ///
    /// - Throws: `DecryptionError.truncatedCiphertext` for a length that no plaintext has, `.authenticationFailed` for
    ///   one that implies an empty last chunk, where only an object's only chunk may be empty.
    func chunks(of size: UInt64) throws(DecryptionError) -> UInt64 {
        func refusal(_ expected: String) -> DecryptionError {
            .truncatedCiphertext(byteCount: size, expected: expected)
        }
        if size == 0, format.isEmptyObjectEmpty { return 0 }
        let all = Int128(size) - Int128(start) - Int128(trailer)
        guard all >= 0 else { throw refusal("a whole header") }
        let isOnlyEmpty = format.emptyPlaintext == .chunk || format.isLastNeverFull
        var (count, rest, capacity) = (Int128(1), all, first)
        if rest == 0, isOnlyEmpty, lastOverhead > 0 || isPadded { throw refusal("a chunk") }
        if rest == 0 { return 0 }
        func checkEmpty(_ count: Int128) throws(DecryptionError) {
            if format.emptyLast == .allowed || count == 1 && isOnlyEmpty { return }
            if format.emptyLast == .onlyChunk, count > 1 {
                throw .authenticationFailed(chunk: UInt64(count - 1))
            }
            throw refusal("a last chunk with data")
        }
        if lastOverhead != overhead {
            // Remove the last chunk's own parts: what remains is full chunks, and at most one chunk's data.
            guard rest >= lastOverhead else { throw refusal("a whole last chunk") }
            rest -= lastOverhead
            count = 0
            while rest >= capacity + overhead {
                rest -= capacity + overhead
                let whole = count == 0 ? 0 : rest / (full + overhead)
                (count, rest, capacity) = (count + 1 + whole, rest - whole * (full + overhead), full)
            }
            guard rest <= capacity, rest < capacity || !format.isLastNeverFull, rest % unit == 0 else {
                throw refusal("a last chunk of at most \(capacity) bytes")
            }
            if rest == 0 { try checkEmpty(count + 1) }
            guard count < max else { throw refusal("at most \(max) chunks") }
            return UInt64(count + 1)
        }
        if rest > first + fullOverhead {
            rest -= first + fullOverhead
            capacity = full
            let (whole, left) = ((rest - 1) / (full + fullOverhead), (rest - 1) % (full + fullOverhead) + 1)
            (count, rest) = (count + whole + 1, left)
        }
        let data = rest - overhead
        if isPadded {
            guard data >= 16, data % 16 == 0 else { throw refusal("whole blocks") }
        } else {
            guard data >= 0 else { throw refusal("a whole last chunk") }
            guard data < capacity || !format.isLastNeverFull else { throw refusal("a last chunk that is not full") }
            guard data % unit == 0 else { throw refusal("multiples of \(unit)") }
            if data == 0 { try checkEmpty(count) }
        }
        guard count <= max else { throw refusal("at most \(max) chunks") }
        return UInt64(count)
    }

    /// Returns the number of bytes of the chunks' data, including the last one's padding.
    func plaintextByteCount(of size: UInt64, chunkCount: UInt64) -> UInt64 {
        guard chunkCount > 0 else { return 0 }
        return size - trailer - storedStart(ofChunk: chunkCount - 1) - last.front - last.behind
            + plaintextStart(ofChunk: chunkCount - 1)
    }

    /// Returns the index of the chunk that contains a plaintext byte.
    func chunk(at offset: UInt64) -> UInt64 {
        Int128(offset) < first ? 0 : UInt64(1 + (Int128(offset) - first) / full)
    }

    /// Returns the offset in the plaintext at which a chunk's data start.
    func plaintextStart(ofChunk index: UInt64) -> UInt64 {
        index == 0 ? 0 : UInt64(first + (Int128(index) - 1) * full)
    }

    /// Returns the offset at which a chunk is stored.
    func storedStart(ofChunk index: UInt64) -> UInt64 {
        start + plaintextStart(ofChunk: index) + index * UInt64(fullOverhead)
    }

    /// Returns the index of the chunk that contains a stored byte, if one does.
    func chunk(atStored offset: UInt64) -> UInt64 {
        let behindFirst = Int128(offset) - Int128(start) - first - fullOverhead
        return behindFirst < 0 ? 0 : UInt64(1 + behindFirst / (full + fullOverhead))
    }

    /// Returns the offset of a part of a chunk.
    func start(of place: Place, in stored: Range<UInt64>, isLast: Bool) -> UInt64 {
        (place.isBehind ? stored.upperBound - behind(isLast: isLast) : stored.lowerBound) + place.offset
    }

    /// Returns the number of chunks and of all stored bytes that a writer makes of a plaintext.
    ///
    /// - Throws: `DecryptionError.unalignedPlaintext` for a length that the format cannot hold, `.invalidParameter` for
    ///   more chunks than it may have.
    func written(ofPlaintext byteCount: UInt64) throws(DecryptionError) -> (chunkCount: UInt64, byteCount: UInt64) {
        var count: Int128 = 1
        if byteCount == 0 {
            guard format.emptyPlaintext == .chunk || format.isLastNeverFull else {
                return (0, format.isEmptyObjectEmpty ? 0 : start + trailer)
            }
        } else if Int128(byteCount) > first {
            count += (Int128(byteCount) - first + full - 1) / full
        }
        // The plaintext ends with a full chunk.
        let ends = byteCount > 0 && (Int128(byteCount) - first) % full == 0 && Int128(byteCount) >= first
        if format.isLastNeverFull, ends { count += 1 }
        guard count <= max else {
            throw .invalidParameter(
                name: "plaintext length", value: "\(byteCount)", expected: "that of at most \(max) chunks")
        }
        let last = byteCount - plaintextStart(ofChunk: UInt64(count) - 1)
        guard isPadded || Int128(last) % unit == 0 else {
            throw .unalignedPlaintext(byteCount: byteCount, unit: UInt64(clamping: unit))
        }
        let padding = isPadded ? 16 * (count - 1) + 16 - Int128(last) % 16 : 0
        let parts = (count - 1) * overhead + lastOverhead
        let all = Int128(start) + Int128(trailer) + Int128(byteCount) + parts + padding
        guard let size = UInt64(exactly: all), size <= 1 << 63 else {
            throw .invalidParameter(name: "plaintext length", value: "\(byteCount)", expected: "fewer bytes")
        }
        return (UInt64(count), size)
    }
}
