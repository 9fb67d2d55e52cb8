import RandomAccess

/// The lengths that a description comes to, and what follows from them.
///
/// All sums are of 128 bits, so that a file which is one chunk is a chunk of 2¹⁰⁰ bytes.
struct OracleSizes: Sendable {
    let start: UInt64
    /// The place where the last field of the header ends.
    let headerEnd: UInt64
    private(set) var trailer: UInt64
    /// The bytes in front of a chunk's data and behind them, in all chunks but the last, and in that.
    let inner: (front: UInt64, behind: UInt64)
    let last: (front: UInt64, behind: UInt64)
    /// The plaintext bytes of a full chunk, and of the first one.
    let full: Int128
    let first: Int128
    let isPadded: Bool
    let unit: Int128
    private let max: Int128
    private let format: Format
    /// The fields of a chunk, and where they lie.
    private let innerFields: [(field: Format.Field, place: Place)]
    private let lastFields: [(field: Format.Field, place: Place)]
    private let tags: (inner: Place?, last: Place?)

    /// The place of a part: from the chunk's start, or from the data's end.
    struct Place: Sendable {
        let isBehind: Bool
        let offset: UInt64
        let byteCount: Int
    }

    /// The chunk of a file that is one: longer than any file.
    static let whole: Int128 = 1 << 100

    /// Works the lengths out, or gives `nil` as long as they are not known.
    ///
    /// - Parameters:
    ///   - format: The format.
    ///   - known: What is known.
    ///   - trailer: The bytes behind the chunks, where only the last chunk tells them.
    /// - Throws: `DecryptionError.invalidParameter` for lengths that cannot be.
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

    /// The fields of a chunk, and where they lie.
    func fields(isLast: Bool) -> [(field: Format.Field, place: Place)] { isLast ? lastFields : innerFields }

    /// The place of a chunk's tag.
    func tag(isLast: Bool) -> Place? { isLast ? tags.last : tags.inner }

    func front(isLast: Bool) -> UInt64 { isLast ? last.front : inner.front }

    func behind(isLast: Bool) -> UInt64 { isLast ? last.behind : inner.behind }

    /// The same with another length of the trailer.
    func with(trailer: UInt64) -> OracleSizes {
        var sizes = self
        sizes.trailer = trailer
        return sizes
    }

    /// The lengths of an object of no bytes, which tells nothing.
    init(ofNothing format: Format) {
        (start, headerEnd, trailer, inner, last) = (0, 0, 0, (0, 0), (0, 0))
        (full, first, isPadded, unit, max) = (1, 1, false, 1, 0)
        (self.format, innerFields, lastFields, tags) = (format, [], [], (nil, nil))
    }

    /// The codes of a chunk's data.
    var codes: [CodeExpression] { innerFields.flatMap(\.field.content).compactMap { CodeExpression($0.expression) } }

    /// Says whether chunks lie in the same places.
    func isLike(_ other: OracleSizes) -> Bool {
        (start, headerEnd, trailer) == (other.start, other.headerEnd, other.trailer)
            && inner == other.inner && last == other.last
            && (full, first, isPadded) == (other.full, other.first, other.isPadded)
    }

    /// The number of the last chunk of as many as there may be.
    var maxIndex: UInt64 { UInt64(clamping: Swift.max(1, max) - 1) }

    /// The bytes that opening looks at before any chunk.
    var lookedAtByteCount: UInt64 { Swift.max(start, headerEnd) }

    /// The plaintext bytes of a full chunk, if there is such a thing.
    var fullByteCount: UInt64 { UInt64(clamping: full) }

    private var overhead: Int128 { Int128(inner.front + inner.behind) }
    private var lastOverhead: Int128 { Int128(last.front + last.behind) }

    /// The stored bytes of a full chunk beside its data; a full one that is padded has a block of padding.
    private var fullOverhead: Int128 { overhead + (isPadded ? 16 : 0) }

    /// The number of chunks of a ciphertext: the first, then as many full ones as there may be, then what is left.
    ///
    /// - Throws: `DecryptionError.truncatedCiphertext` for a length that no plaintext has, `.authenticationFailed`
    ///   where it could only be that of an empty last chunk, which only an only chunk may be.
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
            // All that is no part of the last chunk's own: full chunks, and at most as much data as another one has.
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

    /// The bytes of the chunks' data, and of the last one's padding.
    func plaintextByteCount(of size: UInt64, chunkCount: UInt64) -> UInt64 {
        guard chunkCount > 0 else { return 0 }
        return size - trailer - storedStart(ofChunk: chunkCount - 1) - last.front - last.behind
            + plaintextStart(ofChunk: chunkCount - 1)
    }

    /// The number of the chunk that a plaintext byte lies in.
    func chunk(at offset: UInt64) -> UInt64 {
        Int128(offset) < first ? 0 : UInt64(1 + (Int128(offset) - first) / full)
    }

    /// The place in the plaintext where a chunk's data starts.
    func plaintextStart(ofChunk index: UInt64) -> UInt64 {
        index == 0 ? 0 : UInt64(first + (Int128(index) - 1) * full)
    }

    /// The place where a chunk is stored.
    func storedStart(ofChunk index: UInt64) -> UInt64 {
        start + plaintextStart(ofChunk: index) + index * UInt64(fullOverhead)
    }

    /// The number of the chunk that a stored byte lies in, if it lies in one.
    func chunk(atStored offset: UInt64) -> UInt64 {
        let behindFirst = Int128(offset) - Int128(start) - first - fullOverhead
        return behindFirst < 0 ? 0 : UInt64(1 + behindFirst / (full + fullOverhead))
    }

    /// The place of a part of a chunk.
    func start(of place: Place, in stored: Range<UInt64>, isLast: Bool) -> UInt64 {
        (place.isBehind ? stored.upperBound - behind(isLast: isLast) : stored.lowerBound) + place.offset
    }

    /// The number of chunks, and of all stored bytes, that a writer makes of a plaintext.
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
        // The end of the last chunk is that of a full one.
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
