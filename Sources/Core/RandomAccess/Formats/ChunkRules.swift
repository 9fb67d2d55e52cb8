/// The rules for decrypting the chunks of one object: nonces, associated data, and the required values of their parts.
///
/// They are compiled when the object is opened, with all known values evaluated.
final class ChunkRules: Sendable {
    let cipher: Cipher
    let nonce: ChunkFormula
    let associatedData: ChunkFormula?
    /// The nonce of all chunks, if it is the same block for all.
    private let constantBlock: Block?
    /// The places of the stored parts, by name.
    private let parts: [ChunkShape.StoredPart]
    /// The parts with required values.
    private let fields: [StoredField]
    /// The same parts in an order in which they can be written; `nil` if they depend on one another.
    private let writtenFields: [StoredField]?
    /// The parts that are codes of the data.
    private let storedCodes: [StoredCode]
    private let rejectedNonce: Formula?
    private let hole: Formula?
    /// True if decryption can start at any block; false if each chunk is decrypted as a whole.
    let isStreaming: Bool
    /// The number of bytes of a chunk before its data, and behind it.
    private let frontByteCounts: (inner: Int, last: Int)
    private let behindByteCounts: (inner: Int, last: Int)
    private let tagOffsets: (inner: Int, last: Int)?
    /// True if the tag stands directly behind the data, or there is no tag.
    let hasTagBehind: Bool
    /// True if a chunk is decrypted without further checks: its parts may be anything.
    let isPlain: Bool
    private let format: String

    /// The format's name.
    var formatName: String { format }

    /// Returns the number of bytes of a chunk before its data.
    @inline(__always)
    func frontByteCount(isLast: Bool) -> Int { isLast ? frontByteCounts.last : frontByteCounts.inner }

    /// Returns the number of bytes of a chunk behind its data.
    @inline(__always)
    func behindByteCount(isLast: Bool) -> Int { isLast ? behindByteCounts.last : behindByteCounts.inner }

    /// Returns the offset of a chunk's tag: from its start, or, if negative, from its end; `nil` for a cipher without
    /// tags.
    @inline(__always)
    func tagOffset(isLast: Bool) -> Int? { isLast ? tagOffsets?.last : tagOffsets?.inner }

    private struct StoredField: Hashable, Sendable {
        let part: ChunkShape.StoredPart
        let contents: [ChunkFormula]
        let field: Format.Field
    }

    /// A part that is a code of the data.
    private struct StoredCode: Hashable, Sendable {
        let part: ChunkShape.StoredPart
        let code: ChunkCode
        let field: Format.Field
    }

    /// Compiles the rules from the known names of an object.
    ///
    /// - Throws: `DecryptionError.invalidParameter` for a description whose expressions have no value here,
    ///   `.unsupported` for rules that no reader implements.
    init(
        _ format: Format, _ shape: ChunkShape, _ names: [String: Value]
    ) throws(DecryptionError) {
        (self.cipher, self.parts, self.format) = (shape.cipher, shape.parts, format.name)
        let (ranges, geometry) = (shape.partRanges, shape.geometry)
        isStreaming = shape.isStreaming
        let byteCount =
            geometry.chunkByteCount == .max ? 16 : geometry.chunkByteCount - geometry.missingByteCount
        let trial = ChunkNumbers(
            index: 0, plaintextByteCount: byteCount,
            storedByteCount: byteCount + geometry.frontByteCount + geometry.behindByteCount, offset: 0)
        func compiled(_ formula: Formula) throws(DecryptionError) -> ChunkFormula {
            try ChunkFormula(formula.folded(names, in: format.name), parts: ranges, trial: trial, in: format.name)
        }
        nonce = try compiled(format.nonce)
        associatedData = try format.associatedData.map { formula throws(DecryptionError) in try compiled(formula) }
        let constant = nonce.constant
        constantBlock = constant.flatMap { $0.count == 16 ? try? Block($0) : nil }
        (rejectedNonce, hole) = (
            try format.rejectedNonce?.folded(names, in: format.name), try format.hole?.folded(names, in: format.name)
        )
        var fields: [StoredField] = []
        var codes: [StoredCode] = []
        for part in shape.parts {
            guard case .field(let field) = part.part, let first = field.content.first else { continue }
            if first.expression.usesData {
                let folded = try first.folded(names, in: format.name)
                let code = try ChunkCode(folded, parts: ranges, trial: trial, in: format.name)
                guard code.stored.count == part.range.count else {
                    throw first.failure(
                        EvaluationFailure("\(code.stored.count) bytes: expected \(part.range.count)"),
                        in: format.name)
                }
                guard part.lastRange.count == part.range.count else {
                    throw .unsupported("a code over data of another length in the last chunk, in \(format.name)")
                }
                codes.append(StoredCode(part: part, code: code, field: field))
                continue
            }
            let contents = try field.content.map { formula throws(DecryptionError) in try compiled(formula) }
            let byteCount = max(part.range.count, part.lastRange.count)
            for (content, formula) in zip(contents, field.content) where content.maxByteCount > byteCount {
                throw formula.failure(
                    EvaluationFailure("\(content.maxByteCount) bytes: expected \(byteCount)"), in: format.name)
            }
            fields.append(StoredField(part: part, contents: contents, field: field))
        }
        (self.fields, storedCodes) = (fields, codes)
        var (waiting, written) = (fields, [StoredField]())
        while let index = waiting.firstIndex(where: { field in
            let used = field.field.content.first?.expression.names ?? []
            return !waiting.contains { used.contains($0.field.name) }
        }) {
            written.append(waiting.remove(at: index))
        }
        writtenFields = waiting.isEmpty ? written : nil
        func counts(isLast: Bool) -> (front: Int, behind: Int) {
            let ranges = shape.parts.map { $0.range(isLast: isLast) }
            let behind = ranges.filter { $0.lowerBound < 0 }.map(\.count).reduce(0, +)
            return (ranges.map(\.count).reduce(0, +) - behind, behind)
        }
        let (inner, last) = (counts(isLast: false), counts(isLast: true))
        frontByteCounts = (inner.front, last.front)
        behindByteCounts = (inner.behind, last.behind)
        let tag = shape.parts.first { if case .tag = $0.part { true } else { false } }
        tagOffsets = tag.map { ($0.range.lowerBound, $0.lastRange.lowerBound) }
        hasTagBehind =
            tag.map {
                inner.behind > 0 && $0.range.lowerBound == -inner.behind && $0.lastRange.lowerBound == -last.behind
            } ?? true
        isPlain = fields.isEmpty && codes.isEmpty && format.hole == nil && format.rejectedNonce == nil
        guard tag?.range.count ?? 0 == cipher.tagByteCount else {
            throw .unsupported("\(cipher.rawValue) in \(format.name) with a tag of \(tag?.range.count ?? 0) bytes")
        }
        guard cipher.takesAssociatedData || format.associatedData == nil else {
            throw .unsupported("associated data of \(cipher.rawValue), which takes none, in \(format.name)")
        }
        guard cipher.takes(nonceByteCount: nonce.maxByteCount) else {
            throw .invalidIV(
                byteCount: nonce.maxByteCount,
                expected: "\(cipher.nonceByteCount), for \(cipher.rawValue) in \(format.name)")
        }
        if shape.padding == .pkcs7, !isStreaming {
            let conditions = [format.rejectedNonce, format.hole].compactMap(\.self)
            let used = conditions.reduce(format.rules.chunkNames) { $0.union($1.expression.names) }
            guard !used.contains(ChunkNumbers.Name.plaintextByteCount.rawValue) else {
                throw .unsupported("\"n\" in padded chunks with parts, in \(format.name): expected \"stored\"")
            }
        }
        if isStreaming {
            guard format.hole == nil, format.rejectedNonce == nil else {
                throw .unsupported("holes or rejected nonces in \(cipher.rawValue), in \(format.name)")
            }
            // A step starts at any block, and knows only a chunk's number and offset.
            let names = try format.nonce.folded(names, in: format.name).expression.names
            guard names.isDisjoint(with: ChunkNumbers.lengthNames) else {
                throw .unsupported("nonces of \(cipher.rawValue) that follow from a chunk's length, in \(format.name)")
            }
            guard nonce.isTotal else {
                throw .unsupported(
                    "nonces of \(cipher.rawValue) by \(format.name)'s rule: expected numbers that grow with the "
                        + "chunk's, and bytes that are made of them without a choice")
            }
        }
    }

    /// Returns the rules of an object without chunks.
    static func ofNothing(_ cipher: Cipher, in format: Format) throws(DecryptionError) -> ChunkRules {
        try ChunkRules(cipher: cipher, format: format.name)
    }

    private init(cipher: Cipher, format: String) throws(DecryptionError) {
        (self.cipher, self.format) = (cipher, format)
        let nothing = Formula(.bytes(ByteString([])), .bytes, at: DescriptionPlace(line: 1, column: 1))
        let trial = ChunkNumbers(index: 0, plaintextByteCount: 1, storedByteCount: 1, offset: 0)
        nonce = try ChunkFormula(nothing, parts: PartRanges(), trial: trial, in: format)
        (associatedData, constantBlock, rejectedNonce, hole, tagOffsets) = (nil, nil, nil, nil, nil)
        (parts, fields, writtenFields, frontByteCounts, behindByteCounts) = ([], [], [], (0, 0), (0, 0))
        (isPlain, hasTagBehind, isStreaming, storedCodes) = (true, true, cipher.isStreaming, [])
    }

    /// Returns the IV or counter block of a chunk of a streaming cipher.
    @inline(__always)
    func block(ofChunk index: UInt64, at offset: UInt64, isLast: Bool) -> Block {
        if let constantBlock { return constantBlock }
        return variableBlock(ofChunk: index, at: offset, isLast: isLast)
    }

    /// Checks that the nonce of a chunk of a streaming cipher is a block.
    ///
    /// - Throws: `DecryptionError.invalidParameter` for a chunk whose number does not fit, `.invalidIV`.
    func checkBlock(ofChunk index: UInt64, at offset: UInt64, isLast: Bool) throws(DecryptionError) {
        if constantBlock != nil { return }
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: nonce.maxByteCount, alignment: 16)
        defer { block.deallocate() }
        let numbers = ChunkNumbers(index: index, plaintextByteCount: 0, storedByteCount: 0, offset: offset)
        let count = try nonce.write(
            numbers, isLast: isLast, stored: UnsafeRawBufferPointer(start: nil, count: 0), into: block)
        guard count == 16 else { throw .invalidIV(byteCount: count) }
    }

    private func variableBlock(ofChunk index: UInt64, at offset: UInt64, isLast: Bool) -> Block {
        withUnsafeTemporaryAllocation(byteCount: 16, alignment: 16) { block in
            block.initializeMemory(as: UInt8.self, repeating: 0)
            let numbers = ChunkNumbers(index: index, plaintextByteCount: 0, storedByteCount: 0, offset: offset)
            // The number fits, see `checkBlock(ofChunk:at:isLast:)`.
            _ = try? nonce.write(
                numbers, isLast: isLast, stored: UnsafeRawBufferPointer(start: nil, count: 0), into: block)
            return Block(loadingFrom: UnsafeRawBufferPointer(block))
        }
    }

    /// Returns contexts for the codes of chunks, in the order of their parts.
    func makeMACs(_ backend: any CipherBackend) throws(DecryptionError) -> [any MACContext] {
        var contexts: [any MACContext] = []
        for stored in storedCodes {
            contexts.append(try stored.code.makeContext(backend))
        }
        return contexts
    }

    /// Refuses a chunk whose stored parts do not have their required values; `buffer` has space for the values to
    /// compare.
    func checkParts(
        _ numbers: ChunkNumbers, isLast: Bool, stored: UnsafeRawBufferPointer, macs: [any MACContext],
        buffer: UnsafeMutableRawBufferPointer
    ) throws(DecryptionError) {
        func refusal(_ field: Format.Field) -> DecryptionError {
            field.error == .authenticationFailed
                ? .authenticationFailed(chunk: numbers.index)
                : field.refusal(in: format, byteCount: numbers.storedByteCount)
        }
        for field in fields {
            let part = UnsafeRawBufferPointer(
                rebasing: stored[field.part.range(isLast: isLast).place(in: stored.count)])
            var isRight = false
            for content in field.contents where !isRight {
                let count = try content.write(numbers, isLast: isLast, stored: stored, into: buffer)
                let expected = UnsafeRawBufferPointer(rebasing: buffer[..<count])
                isRight = count == part.count && isEqualInConstantTime(part, expected)
            }
            guard isRight else { throw refusal(field.field) }
        }
        for (part, context) in zip(storedCodes, macs) {
            let place = part.part.range(isLast: isLast).place(in: stored.count)
            let bytes = UnsafeRawBufferPointer(rebasing: stored[place])
            let expected = try part.code.make(
                numbers, isLast: isLast, stored, data: data(in: stored.count, isLast: isLast), with: context,
                buffer: buffer)
            guard isEqualInConstantTime(bytes, expected) else { throw refusal(part.field) }
        }
    }

    /// Returns whether the format rejects a chunk's nonce.
    func rejects(
        _ stored: UnsafeRawBufferPointer, _ numbers: ChunkNumbers, isLast: Bool
    ) throws(DecryptionError) -> Bool {
        guard let rejectedNonce else { return false }
        return try holds(rejectedNonce, stored, numbers, isLast: isLast)
    }

    /// Returns whether a full chunk is a hole.
    func isHole(
        _ stored: UnsafeRawBufferPointer, _ numbers: ChunkNumbers, isLast: Bool
    ) throws(DecryptionError) -> Bool {
        guard let hole, stored.allSatisfy({ $0 == 0 }) else { return false }
        return try holds(hole, stored, numbers, isLast: isLast)
    }

    /// Returns whether a condition on a chunk holds.
    private func holds(
        _ condition: Formula, _ stored: UnsafeRawBufferPointer, _ numbers: ChunkNumbers, isLast: Bool
    ) throws(DecryptionError) -> Bool {
        var names = numbers.names
        names["last"] = .integer(isLast ? 1 : 0)
        for part in parts {
            guard case .field(let field) = part.part else { continue }
            names[field.name] = .bytes(ByteString(stored[part.range(isLast: isLast).place(in: stored.count)]))
        }
        return try condition.integer(names, in: format) != 0
    }

    /// The max length of a chunk's nonce, associated data and compared values together, in bytes.
    var bufferByteCount: Int {
        nonce.maxByteCount + (associatedData?.maxByteCount ?? 0)
            + max(
                fields.flatMap(\.contents).map(\.maxByteCount).max() ?? 0,
                storedCodes.map(\.code.bufferByteCount).max() ?? 0)
    }

    /// True if a writer can compute the parts of a chunk.
    var areWritable: Bool { writtenFields != nil }

    /// Returns the range of a chunk's data in its stored bytes.
    private func data(in count: Int, isLast: Bool) -> Range<Int> {
        frontByteCount(isLast: isLast)..<count - behindByteCount(isLast: isLast)
    }

    /// Writes the codes of a chunk with encrypted data; `buffer` has space as for a comparison.
    func writeCodes(
        _ numbers: ChunkNumbers, isLast: Bool, into stored: UnsafeMutableRawBufferPointer, macs: [any MACContext],
        buffer: UnsafeMutableRawBufferPointer
    ) throws(DecryptionError) {
        for (part, context) in zip(storedCodes, macs) {
            let code = try part.code.make(
                numbers, isLast: isLast, UnsafeRawBufferPointer(stored),
                data: data(in: stored.count, isLast: isLast), with: context, buffer: buffer)
            let place = part.part.range(isLast: isLast).place(in: stored.count)
            UnsafeMutableRawBufferPointer(rebasing: stored[place]).copyMemory(from: code)
        }
    }

    /// Writes the parts of a chunk that are the writer's task: first the random ones, then those with required values.
    /// The cipher writes data and tag.
    ///
    /// - Parameters:
    ///   - numbers: The chunk's numbers.
    ///   - isLast: True for the object's last chunk.
    ///   - stored: The chunk's space.
    ///   - random: Fills a part at a range of the chunk.
    /// - Throws: `DecryptionError.invalidParameter` for a part without a value, or with a value of the wrong length.
    /// - Precondition: ``areWritable``.
    func writeParts(
        _ numbers: ChunkNumbers, isLast: Bool, into stored: UnsafeMutableRawBufferPointer,
        random: (UnsafeMutableRawBufferPointer, _ place: Range<Int>) -> Void
    ) throws(DecryptionError) {
        guard let writtenFields else { preconditionFailure("parts of \(format) that cannot be written") }
        for part in parts {
            guard case .field(let field) = part.part, field.content.isEmpty else { continue }
            let place = part.range(isLast: isLast).place(in: stored.count)
            random(UnsafeMutableRawBufferPointer(rebasing: stored[place]), place)
        }
        for field in writtenFields {
            let place = field.part.range(isLast: isLast).place(in: stored.count)
            let target = UnsafeMutableRawBufferPointer(rebasing: stored[place])
            let count = try field.contents[0].write(
                numbers, isLast: isLast, stored: UnsafeRawBufferPointer(stored), into: target)
            guard count == target.count else {
                throw .invalidParameter(
                    name: "description", value: "of \(format), \(field.field.byteCount.place)",
                    expected: "\(target.count) bytes in \"\(field.field.name)\", not \(count)")
            }
        }
    }
}

extension ChunkRules: Hashable {
    static func == (left: ChunkRules, right: ChunkRules) -> Bool {
        left === right
            || left.cipher == right.cipher && left.nonce == right.nonce && left.associatedData == right.associatedData
                && left.parts == right.parts && left.fields == right.fields && left.storedCodes == right.storedCodes
                && left.hole == right.hole && left.rejectedNonce == right.rejectedNonce
    }

    func hash(into hasher: inout Hasher) { hasher.combine(cipher) }
}

extension Range<Int> {
    /// Returns the range in a chunk of a given length; negative bounds count from its end.
    @inline(__always)
    func place(in count: Int) -> Range<Int> {
        lowerBound < 0 ? count + lowerBound..<count + upperBound : self
    }
}
