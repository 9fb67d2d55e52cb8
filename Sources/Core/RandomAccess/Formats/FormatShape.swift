import Synchronization

/// The facts about a format's objects that are known before one is opened.
final class FormatShape: Sendable {
    /// The shape of all objects; `nil` if it depends on the header.
    let known: ChunkShape?
    /// The shape of objects that a writer makes here, if it depends on the header; `nil` if it is unknown as well.
    let usual: ChunkShape?
    /// The cipher that a writer uses.
    let usualCipher: Cipher?
    /// The cipher of all objects; `nil` if it depends on the header.
    let knownCipher: Cipher?
    /// The fields of the header with a known length.
    let fields: [(name: String, range: Range<Int>)]
    /// The facts, computed on first use with some hundred evaluations.
    let facts = Mutex<FormatFacts?>(nil)

    /// Evaluates everything that depends on inputs alone.
    ///
    /// - Throws: `DecryptionError.invalidParameter` for a missing value, or one that the format does not accept,
    ///   `.invalidIV`, `.unsupported`.
    init(_ format: Format, inputs: [String: Value]) throws(DecryptionError) {
        for input in format.inputs {
            guard let value = inputs[input.name] else {
                throw .invalidParameter(
                    name: "parameter", value: "\"\(input.name)\", which is missing", expected: input.expectation)
            }
            try input.check(value)
        }
        for check in format.checks where check.error == .invalidRequest {
            guard try check.holds(inputs, in: format.name) else {
                throw .invalidParameter(name: "parameters", value: "of \(format.name)", expected: check.expected)
            }
        }
        // The values that every writer writes, and those that a writer here chooses.
        var (names, usual) = (inputs, inputs)
        var fields: [(name: String, range: Range<Int>)] = []
        var (end, usualEnd) = (Int?(0), Int?(0))
        /// Returns the range of a field behind others, if its length is known; otherwise, no later field has a range.
        func place(
            _ field: Format.Field, behind end: inout Int?, _ names: inout [String: Value]
        ) throws(DecryptionError) -> Range<Int>? {
            guard let start = end, field.byteCount.isKnown(names) else {
                end = nil
                return nil
            }
            let count = try field.count(names, after: start, in: format.name)
            names[field.name + ".at"] = .integer(Int128(start))
            end = start + count
            return start..<start + count
        }
        // A header reveals only the length of a key.
        let keyByteCount = format.keyByteCounts?.first ?? 32
        for field in format.header {
            var known = usual
            known["key"] = .bytes(ByteString(repeating: 0, count: keyByteCount))
            known[field.name + ".at"] = usualEnd.map { .integer(Int128($0)) }
            let range = try place(field, behind: &end, &names)
            if let range { fields.append((field.name, range)) }
            if let content = field.written, content.isKnown(known) {
                let bytes = try content.bytes(known, in: format.name)
                if field.isOpen {
                    usual[Format.Field.lengthName(of: field.name)] = .integer(Int128(bytes.count))
                }
                usual[field.name] = .bytes(bytes)
                if range != nil, field.content.count == 1, content.isKnown(names) { names[field.name] = .bytes(bytes) }
            }
            _ = try place(field, behind: &usualEnd, &usual)
            guard usualEnd != nil else { break }
        }
        if let end { names["headerEnd"] = .integer(Int128(end)) }
        if let usualEnd { usual["headerEnd"] = .integer(Int128(usualEnd)) }
        // Only derived values that lengths and ciphers depend on: others may take long.
        let needed = format.rules.names(usedBy: format.rules.shapeNames)
        for derived in format.derived where needed.contains(derived.name) {
            let value = derived.formula.isKnown(usual) ? try derived.formula.value(usual, in: format.name) : nil
            usual[derived.name] = value
            if derived.formula.isKnown(names) { names[derived.name] = value }
        }
        self.fields = fields
        // If the last chunk determines the end, the shape depends on the object.
        let known = format.lastChunk == nil ? try ChunkShape(format, names, headerByteCount: end) : nil
        self.known = known
        self.usual = if let known { known } else { try ChunkShape(format, usual, headerByteCount: usualEnd) }
        (usualCipher, knownCipher) = (try format.namedCipher(usual), try format.namedCipher(names))
    }

    /// Returns the shape of an object with a known header.
    ///
    /// - Throws: `DecryptionError.invalidHeader` for a header with impossible values, `.unsupported`.
    func shape(of header: ObjectHeader) throws(DecryptionError) -> ChunkShape {
        if let known { return known }
        let shape: ChunkShape?
        do throws(DecryptionError) {
            shape = try ChunkShape(header.format, header.names, headerByteCount: header.byteCount)
        } catch {
            throw error.ofHeader
        }
        guard let shape else { throw .unsupported("\(header.format.name), whose geometry its header does not tell") }
        return shape
    }
}

/// The cipher and the geometry of an object's chunks, and the places of their parts.
struct ChunkShape: Sendable {
    let cipher: Cipher
    let padding: Padding?
    private(set) var geometry: Geometry
    /// The stored parts of a chunk: relative to its start, or, behind the data, to its end.
    let parts: [StoredPart]
    /// The hash function of the code over a chunk's data, if any.
    let hmac: HashFunction?
    /// True if a tag of the cipher or a code of the data detects a change of a chunk.
    let isAuthenticated: Bool

    /// True if decryption can start at any block; such chunks have no parts. False if each chunk is decrypted as a
    /// whole.
    var isStreaming: Bool { cipher.isStreaming && parts.allSatisfy(\.isEmpty) }

    /// A stored part of a chunk other than its data.
    struct StoredPart: Hashable, Sendable {
        let part: Format.Part
        /// The range from the chunk's start; negative numbers count from its end.
        let range: Range<Int>
        /// The same in the last chunk.
        let lastRange: Range<Int>

        /// True if the part is empty in every chunk.
        var isEmpty: Bool { range.isEmpty && lastRange.isEmpty }

        @inline(__always)
        func range(isLast: Bool) -> Range<Int> { isLast ? lastRange : range }
    }

    /// The places of the named parts.
    var partRanges: PartRanges {
        func ranges(isLast: Bool) -> [String: Range<Int>] {
            var ranges: [String: Range<Int>] = [:]
            for part in parts {
                if case .field(let field) = part.part { ranges[field.name] = part.range(isLast: isLast) }
            }
            return ranges
        }
        return PartRanges(inner: ranges(isLast: false), last: ranges(isLast: true))
    }

    /// Returns the shape for an object with a trailer of a given length.
    func behind(trailerByteCount: UInt64) -> ChunkShape {
        var shape = self
        shape.geometry.trailerByteCount = trailerByteCount
        return shape
    }

    /// Evaluates the shape from the known names; `nil` if they do not suffice.
    fileprivate init?(
        _ format: Format, _ names: [String: Value], headerByteCount: Int?
    ) throws(DecryptionError) {
        func integer(_ formula: Formula?) throws(DecryptionError) -> UInt64? {
            guard let formula else { return nil }
            let value = try formula.integer(names, in: format.name)
            // Far longer than any file, and short enough that the sum of two lengths does not overflow.
            guard let value = UInt64(exactly: value), value <= 1 << 62 else {
                throw formula.failure(EvaluationFailure("expected 0 to 2^62"), in: format.name)
            }
            return value
        }
        guard format.rules.shapeNames.allSatisfy({ names[$0] != nil }),
            let headerByteCount = headerByteCount ?? (format.start.map { _ in 0 }),
            let cipher = try format.namedCipher(names)
        else { return nil }
        self.cipher = cipher
        padding = try format.padding.map { formula throws(DecryptionError) in
            let name = try formula.bytes(names, in: format.name).text ?? "?"
            guard let padding = Padding(rawValue: name) else {
                throw .unsupported("the padding \"\(name)\" of \(format.name): expected pkcs7 or none")
            }
            return padding
        }
        let dataIndex = format.layout.firstIndex(of: .data) ?? 0
        func ranges(isLast: Bool) throws(DecryptionError) -> (all: [Range<Int>], front: Int, behind: Int) {
            let names = names.merging(["last": .integer(isLast ? 1 : 0)]) { $1 }
            var (ranges, end, front) = ([Range<Int>](), 0, 0)
            for (index, part) in format.layout.enumerated() {
                var count = 0
                switch part {
                case .field(let field): count = try field.count(names, after: end, in: format.name)
                case .tag(let byteCount): count = byteCount
                case .data: (front, end) = (end, 0)
                }
                if index != dataIndex { ranges.append(end..<end + count) }
                end += count
            }
            for index in ranges.indices.dropFirst(dataIndex) {
                ranges[index] = ranges[index].lowerBound - end..<ranges[index].upperBound - end
            }
            return (ranges, front, end)
        }
        let (inner, last) = (try ranges(isLast: false), try ranges(isLast: true))
        let (front, behind) = (inner.front, inner.behind)
        parts = format.layout.filter { $0 != .data }.enumerated().map { index, part in
            StoredPart(part: part, range: inner.all[index], lastRange: last.all[index])
        }
        hmac = format.rules.parts.lazy.flatMap(\.content).compactMap { CodeExpression($0.expression)?.function }.first
            .flatMap { try? $0.value(names) }?.bytes?.text.flatMap(HashFunction.init(rawValue:))
        isAuthenticated = cipher.isAuthenticated || parts.contains { !$0.range.isEmpty && $0.part.isCode }
        let isStreaming = cipher.isStreaming && parts.allSatisfy(\.isEmpty)
        let blockByteCount: UInt64 = cipher.takesWholeBlocks ? 16 : 1
        var end = Geometry.End()
        end.isPadded = padding == .pkcs7
        end.unitByteCount = try integer(format.unit) ?? blockByteCount
        end.emptyHasChunk = format.emptyPlaintext == .chunk
        end.emptyHasNoHeader = format.isEmptyObjectEmpty
        end.emptyLast = format.emptyLast
        end.isNeverFull = format.isLastNeverFull
        let chunk = try integer(format.chunk)
        let firstChunk = try integer(format.firstChunk) ?? chunk
        guard end.unitByteCount > 0, end.unitByteCount % blockByteCount == 0 else {
            throw .invalidParameter(
                name: "multipleOf", value: "\(end.unitByteCount)", expected: "a positive multiple of \(blockByteCount)")
        }
        if end.isPadded {
            guard cipher == .aesCBC else {
                throw .unsupported("the padding pkcs7 of \(cipher.rawValue) in \(format.name): expected it of aes-cbc")
            }
            guard end.unitByteCount == blockByteCount else {
                throw .unsupported("multipleOf beside the padding pkcs7, in \(format.name)")
            }
        }
        guard !end.isNeverFull || !isStreaming && front + behind > 0 else {
            throw .unsupported("last chunks that are never full in \(cipher.rawValue), in \(format.name)")
        }
        for (name, count) in [("chunk length", chunk), ("length of the first chunk", firstChunk)] {
            guard let count, count == 0 || count % end.unitByteCount != 0 else { continue }
            throw .invalidParameter(
                name: name, value: "\(count)",
                expected: end.unitByteCount > 1
                    ? "a positive multiple of \(end.unitByteCount) bytes" : "at least 1 byte")
        }
        guard firstChunk ?? 0 <= chunk ?? .max else {
            throw .invalidParameter(
                name: "length of the first chunk", value: "\(firstChunk ?? 0)",
                expected: "at most that of the others, \(chunk ?? 0)")
        }
        guard chunk ?? 0 <= cipher.maxMessageByteCount else {
            throw .invalidParameter(
                name: "chunk length", value: "\(chunk ?? 0)",
                expected: "at most \(cipher.maxMessageByteCount) bytes in \(cipher.rawValue)")
        }
        geometry = Geometry(
            header: try integer(format.start) ?? UInt64(headerByteCount), trailer: try integer(format.trailer) ?? 0,
            chunk: chunk ?? .max, missing: (chunk ?? 0) - (firstChunk ?? 0), front: UInt64(front),
            behind: UInt64(behind), last: (UInt64(last.front), UInt64(last.behind)), end: end,
            maxChunkCount: try integer(format.maxChunkCount) ?? .max)
        guard !end.isPadded || !geometry.isLastOther else {
            throw .unsupported("other parts in a last chunk that is padded, in \(format.name)")
        }
    }
}

/// The places of a chunk's parts by name: in all chunks but the last, and in the last.
struct PartRanges: Hashable, Sendable {
    var inner: [String: Range<Int>] = [:]
    var last: [String: Range<Int>] = [:]

    subscript(isLast isLast: Bool) -> [String: Range<Int>] { isLast ? last : inner }
}

extension Format.Part {
    /// True if the part is a code of the data.
    package var isCode: Bool {
        if case .field(let field) = self { field.content.contains(where: \.expression.usesData) } else { false }
    }
}

extension Format.Rules {
    /// The formulas that determine a shape.
    var shapeFormulas: [Formula] {
        [cipher, chunk, firstChunk, start, trailer, unit, padding, maxChunkCount].compactMap(\.self)
            + parts.map(\.byteCount)
    }

    /// The names that a shape uses.
    var shapeNames: Set<String> { Set(shapeFormulas.flatMap(\.expression.names)).subtracting(["last"]) }

    /// The named parts of a chunk.
    var parts: [Format.Field] {
        layout.compactMap { part in if case .field(let field) = part { field } else { nil } }
    }
}

extension Format {
    /// Returns the cipher, if the names that it depends on are known.
    fileprivate func namedCipher(_ names: [String: Value]) throws(DecryptionError) -> Cipher? {
        guard self.cipher.isKnown(names) else { return nil }
        let text = try self.cipher.bytes(names, in: name).text ?? "?"
        guard let cipher = Cipher(rawValue: text) else {
            let known = Cipher.allCases.map(\.rawValue).joined(separator: ", ")
            throw .unsupported("the cipher \"\(text)\" of \(name): expected one of \(known)")
        }
        return cipher
    }
}

extension DecryptionError {
    /// The error of an object whose header has values for which the description has no result.
    var ofHeader: DecryptionError {
        guard case .invalidParameter(let name, let value, let expected) = self else { return self }
        return .invalidHeader(expected: "one whose values fit: \(name) \(value), \(expected)")
    }
}

extension Formula {
    /// Returns whether all names that the formula uses are known.
    func isKnown(_ names: [String: Value]) -> Bool { expression.names.allSatisfy { names[$0] != nil } }
}
