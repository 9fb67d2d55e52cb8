/// Encrypts objects whose chunks are encrypted as a whole; see ``ObjectEncryptor``.
final class ChunkEncryptor: ObjectWriter {
    private let object: NewObject
    private let rules: ChunkRules
    private let contexts: ChunkContexts
    private let macs: [any MACContext]
    private let random: (UnsafeMutableRawBufferPointer) -> Void
    /// Space for pending plaintext, followed by space for a chunk, a tag, nonce and associated data.
    private let buffer: UnsafeMutableRawBufferPointer
    private let chunkByteCount: Int
    private var filled = 0
    private var maxFilled = 0
    private var index: UInt64 = 0
    private var offset: UInt64 = 0

    init(
        _ object: NewObject, backend: any CipherBackend, random: @escaping (UnsafeMutableRawBufferPointer) -> Void
    ) throws(DecryptionError) {
        (self.object, self.rules, self.random) = (object, object.rules, random)
        self.contexts = try ChunkContexts(object.key, rules.cipher, .encrypt, backend: backend)
        self.macs = try rules.makeMACs(backend)
        let geometry = object.geometry
        guard let chunkByteCount = Int(exactly: geometry.chunkByteCount), chunkByteCount <= 1 << 30 else {
            throw .unsupported("a new object in one piece of \(rules.cipher.rawValue), which has to be held whole")
        }
        self.chunkByteCount = chunkByteCount
        self.buffer = try .tryAllocate(
            byteCount: chunkByteCount + Int(geometry.maxStoredChunkByteCount) + rules.cipher.tagByteCount
                + rules.bufferByteCount)
    }

    deinit {
        eraseBytes(UnsafeMutableRawBufferPointer(rebasing: buffer[..<maxFilled]))
        buffer.deallocate()
    }

    /// The max number of attempts to draw random parts whose nonce the format accepts.
    private static let maxDrawCount = 100

    /// The plaintext length of the current chunk when it is full.
    private var capacity: Int {
        index == 0 ? chunkByteCount - Int(object.geometry.missingByteCount) : chunkByteCount
    }

    func append(_ plaintext: UnsafeRawBufferPointer, to sink: (UnsafeRawBufferPointer) throws -> Void) throws {
        var rest = plaintext[...]
        while !rest.isEmpty {
            // A full chunk may be the last, if the format allows that: it waits for more plaintext.
            if filled == capacity { try seal(isLast: false, to: sink) }
            let count = min(rest.count, capacity - filled)
            UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: rest.prefix(count)))
            rest = rest.dropFirst(count)
            filled += count
            maxFilled = max(maxFilled, filled)
        }
    }

    func finish(to sink: (UnsafeRawBufferPointer) throws -> Void) throws {
        let end = object.geometry.end
        guard end.isPadded || UInt64(filled) % end.unitByteCount == 0 else {
            throw DecryptionError.unalignedPlaintext(byteCount: offset + UInt64(filled), unit: end.unitByteCount)
        }
        if filled == capacity, end.isNeverFull { try seal(isLast: false, to: sink) }
        if filled > 0 || index > 0 || end.emptyHasChunk || end.isNeverFull {
            try seal(isLast: true, to: sink)
            return try object.writeTrailer(chunkCount: index, plaintextByteCount: offset, to: sink)
        }
        if end.emptyHasNoHeader { return }
        guard object.lookedAt == nil else {
            throw DecryptionError.unsupported(
                "a new empty object of \(rules.formatName), whose header is a look at the first chunk")
        }
        if !object.header.isEmpty { try object.header.withUnsafeBytes(sink) }
        try object.writeTrailer(chunkCount: 0, plaintextByteCount: 0, to: sink)
    }

    private func seal(isLast: Bool, to sink: (UnsafeRawBufferPointer) throws -> Void) throws {
        guard let start = buffer.baseAddress else { return }
        if index == 0, !object.header.isEmpty { try object.header.withUnsafeBytes(sink) }
        try object.checkChunkNumber(index)
        let (front, behind) = (rules.frontByteCount(isLast: isLast), rules.behindByteCount(isLast: isLast))
        let paddingByteCount = object.geometry.end.isPadded ? PKCS7.paddingByteCount(afterPlaintext: UInt64(filled)) : 0
        let storedByteCount = front + filled + paddingByteCount + behind
        // An empty plaintext whose chunk has no other parts needs no chunk.
        guard storedByteCount > 0 else { return }
        let stored = UnsafeMutableRawBufferPointer(start: start + chunkByteCount, count: storedByteCount)
        let numbers = ChunkNumbers(
            index: index, plaintextByteCount: UInt64(filled), storedByteCount: UInt64(storedByteCount), offset: offset)
        var drawCount = 0
        repeat {
            try rules.writeParts(numbers, isLast: isLast, into: stored) { part, place in
                // Keeps the bytes that the header has seen.
                if index == 0, let header = object.lookedAt, place.upperBound <= header.byteCount {
                    part.copyBytes(from: header.bytes[place])
                } else {
                    random(part)
                }
            }
            drawCount += 1
            guard drawCount <= Self.maxDrawCount else {
                throw DecryptionError.unsupported("a new chunk whose nonce is not one that \(rules.formatName) rejects")
            }
        } while try rules.rejects(UnsafeRawBufferPointer(stored), numbers, isLast: isLast)
        let space = UnsafeMutableRawBufferPointer(
            rebasing: buffer[
                (chunkByteCount + Int(object.geometry.maxStoredChunkByteCount) + rules.cipher.tagByteCount)...])
        let chunk = UnsafeRawBufferPointer(stored)
        let nonceByteCount = try rules.nonce.write(
            numbers, isLast: isLast, stored: chunk,
            into: UnsafeMutableRawBufferPointer(rebasing: space[..<rules.nonce.maxByteCount]))
        let rest = UnsafeMutableRawBufferPointer(rebasing: space[nonceByteCount...])
        let associatedByteCount =
            try rules.associatedData?.write(numbers, isLast: isLast, stored: chunk, into: rest) ?? 0
        let context = try contexts.context(numbers, isLast: isLast, stored: chunk)
        // The cipher writes the tag behind the data. It is then moved to its place, and the overwritten bytes are
        // restored.
        let dataEnd = start + chunkByteCount + front + filled
        let behindData = rules.hasTagBehind ? 0 : dataEnd.loadUnaligned(as: UInt128.self)
        let nonce = UnsafeRawBufferPointer(rebasing: space[..<nonceByteCount])
        if paddingByteCount > 0 {
            try encryptPadded(
                paddingByteCount, into: stored, at: front..<stored.count - behind, nonce: nonce, context)
        } else {
            _ = try context.process(
                UnsafeRawBufferPointer(rebasing: buffer[..<filled]), into: start + chunkByteCount + front, nonce: nonce,
                associatedData: UnsafeRawBufferPointer(rebasing: rest[..<associatedByteCount]))
        }
        if !rules.hasTagBehind, let tagOffset = rules.tagOffset(isLast: isLast) {
            let tag = dataEnd.loadUnaligned(as: UInt128.self)
            dataEnd.storeBytes(of: behindData, as: UInt128.self)
            stored.storeBytes(
                of: tag, toByteOffset: tagOffset < 0 ? storedByteCount + tagOffset : tagOffset, as: UInt128.self)
        }
        try rules.writeCodes(numbers, isLast: isLast, into: stored, macs: macs, buffer: space)
        if index == 0 { try object.checkFirst(chunk, plaintextByteCount: filled) }
        try sink(chunk)
        index += 1
        offset += UInt64(filled)
        filled = 0
    }

    /// Encrypts the pending plaintext with its padding.
    ///
    /// - Source: NIST SP 800-38A, section 6.2; RFC 5652, section 6.3.
    private func encryptPadded(
        _ paddingByteCount: Int, into stored: UnsafeMutableRawBufferPointer, at place: Range<Int>,
        nonce: UnsafeRawBufferPointer, _ context: any CipherContext
    ) throws(DecryptionError) {
        let data = UnsafeMutableRawBufferPointer(rebasing: stored[place])
        guard let output = data.baseAddress else { return }
        let wholeCount = filled / 16 * 16
        if wholeCount > 0 {
            _ = try context.process(
                UnsafeRawBufferPointer(rebasing: buffer[..<wholeCount]), into: output, nonce: nonce)
        }
        let block = UnsafeMutableRawBufferPointer(rebasing: data[wholeCount...])
        block.initializeMemory(as: UInt8.self, repeating: UInt8(paddingByteCount))
        block.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[wholeCount..<filled]))
        let iv =
            wholeCount == 0
            ? Block(loadingFrom: nonce) : Block(loadingFrom: UnsafeRawBufferPointer(data), at: wholeCount - 16)
        try context.process(inPlace: block, iv: iv)
    }
}
