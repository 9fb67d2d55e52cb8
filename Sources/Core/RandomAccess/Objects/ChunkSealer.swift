/// Encrypts single chunks of a new object, in any order; for one thread at a time.
package final class ChunkSealer {
    private let object: NewObject
    private let rules: ChunkRules
    private let contexts: ChunkContexts
    private let macs: [any MACContext]
    private let random: (UnsafeMutableRawBufferPointer) -> Void
    /// Space for a nonce and associated data.
    private let space: UnsafeMutableRawBufferPointer

    init(
        _ object: NewObject, backend: any CipherBackend, random: @escaping (UnsafeMutableRawBufferPointer) -> Void
    ) throws(DecryptionError) {
        (self.object, self.rules, self.random) = (object, object.rules, random)
        contexts = try ChunkContexts(object.key, rules.cipher, .encrypt, backend: backend)
        macs = try rules.makeMACs(backend)
        space = try .tryAllocate(byteCount: rules.bufferByteCount)
    }

    deinit { space.deallocate() }

    /// The max length of a chunk's plaintext that is held whole.
    static let maxByteCount: UInt64 = 1 << 30

    /// The number of bytes that a cipher may write behind a chunk, before they are restored.
    package var slackByteCount: Int { rules.cipher.tagByteCount }

    /// The max number of attempts to draw random parts whose nonce the format accepts.
    private static let maxDrawCount = 100

    /// Encrypts a chunk.
    ///
    /// - Parameters:
    ///   - plaintext: The chunk's data, of which all but the last chunk have as many bytes as fit.
    ///   - index: The chunk's number, from 0.
    ///   - offset: The offset of its data in the plaintext.
    ///   - isLast: True for the object's last chunk.
    ///   - output: The buffer that gets the stored chunk, with ``slackByteCount`` bytes behind it.
    /// - Returns: The stored length in bytes.
    /// - Throws: `DecryptionError.backend`, `.unsupported`, `.invalidParameter` for a chunk beyond the format's last.
    package func seal(
        _ plaintext: UnsafeRawBufferPointer, index: UInt64, offset: UInt64, isLast: Bool,
        into output: UnsafeMutableRawBufferPointer
    ) throws(DecryptionError) -> Int {
        try object.checkChunkNumber(index)
        let (front, behind) = (rules.frontByteCount(isLast: isLast), rules.behindByteCount(isLast: isLast))
        let paddingByteCount =
            object.geometry.end.isPadded ? PKCS7.paddingByteCount(afterPlaintext: UInt64(plaintext.count)) : 0
        let storedByteCount = front + plaintext.count + paddingByteCount + behind
        // An empty plaintext whose chunk has no other parts needs no chunk.
        guard storedByteCount > 0, let start = output.baseAddress else { return 0 }
        let stored = UnsafeMutableRawBufferPointer(rebasing: output[..<storedByteCount])
        let numbers = ChunkNumbers(
            index: index, plaintextByteCount: UInt64(plaintext.count), storedByteCount: UInt64(storedByteCount),
            offset: offset)
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
                throw .unsupported("a new chunk whose nonce is not one that \(rules.formatName) rejects")
            }
        } while try rules.rejects(UnsafeRawBufferPointer(stored), numbers, isLast: isLast)
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
        let dataEnd = start + front + plaintext.count
        let behindData = rules.hasTagBehind ? 0 : dataEnd.loadUnaligned(as: UInt128.self)
        let nonce = UnsafeRawBufferPointer(rebasing: space[..<nonceByteCount])
        if paddingByteCount > 0 {
            let data = UnsafeMutableRawBufferPointer(rebasing: stored[front..<stored.count - behind])
            try encryptPadded(plaintext, paddingByteCount, into: data, nonce: nonce, context)
        } else {
            _ = try context.process(
                plaintext, into: start + front, nonce: nonce,
                associatedData: UnsafeRawBufferPointer(rebasing: rest[..<associatedByteCount]))
        }
        if !rules.hasTagBehind, let tagOffset = rules.tagOffset(isLast: isLast) {
            let tag = dataEnd.loadUnaligned(as: UInt128.self)
            dataEnd.storeBytes(of: behindData, as: UInt128.self)
            stored.storeBytes(
                of: tag, toByteOffset: tagOffset < 0 ? storedByteCount + tagOffset : tagOffset, as: UInt128.self)
        }
        try rules.writeCodes(numbers, isLast: isLast, into: stored, macs: macs, buffer: space)
        if index == 0 { try object.checkFirst(chunk, plaintextByteCount: plaintext.count) }
        return storedByteCount
    }

    /// Encrypts plaintext with its padding.
    ///
    /// - Source: NIST SP 800-38A, section 6.2; RFC 5652, section 6.3.
    private func encryptPadded(
        _ plaintext: UnsafeRawBufferPointer, _ paddingByteCount: Int, into data: UnsafeMutableRawBufferPointer,
        nonce: UnsafeRawBufferPointer, _ context: any CipherContext
    ) throws(DecryptionError) {
        guard let output = data.baseAddress else { return }
        let wholeCount = plaintext.count / 16 * 16
        if wholeCount > 0 {
            _ = try context.process(
                UnsafeRawBufferPointer(rebasing: plaintext[..<wholeCount]), into: output, nonce: nonce)
        }
        let block = UnsafeMutableRawBufferPointer(rebasing: data[wholeCount...])
        block.initializeMemory(as: UInt8.self, repeating: UInt8(paddingByteCount))
        block.copyMemory(from: UnsafeRawBufferPointer(rebasing: plaintext[wholeCount...]))
        let iv =
            wholeCount == 0
            ? Block(loadingFrom: nonce) : Block(loadingFrom: UnsafeRawBufferPointer(data), at: wholeCount - 16)
        try context.process(inPlace: block, iv: iv)
    }
}
