/// Decrypts chunks that are opened as a whole, by the rules of their object. Belongs to one thread, and allocates
/// nothing per chunk, unless the format has a key for each chunk.
package final class ChunkOpener {
    private let layout: Layout
    private let rules: ChunkRules
    private let contexts: ChunkContexts
    private let macs: [any MACContext]
    /// Space for a nonce, associated data, and the values to compare parts with.
    private let buffer: UnsafeMutableRawBufferPointer
    private let nonceSpace: UnsafeMutableRawBufferPointer
    private let associatedDataStart: Int
    // Copies of the rules' members, because each indirection costs some nanoseconds per chunk.
    private let nonce: ChunkFormula.Uncounted
    private let associatedData: ChunkFormula.Uncounted?
    private let (isPlain, hasTagBehind): (Bool, Bool)
    private let (frontByteCount, lastFrontByteCount, tagByteCount): (Int, Int, Int)
    private let isPadded: Bool

    /// The number of bytes behind a chunk that ``open(_:_:into:)`` may overwrite temporarily.
    package static let spareByteCount = 16

    init(layout: Layout, key: ObjectKey, backend: any CipherBackend) throws(DecryptionError) {
        (self.layout, self.rules) = (layout, layout.rules)
        contexts = try ChunkContexts(key, rules.cipher, .decrypt, backend: backend)
        macs = try rules.makeMACs(backend)
        isPadded = layout.geometry.end.isPadded
        buffer = .allocate(byteCount: max(1, rules.bufferByteCount), alignment: 16)
        associatedDataStart = rules.nonce.maxByteCount
        nonceSpace = UnsafeMutableRawBufferPointer(rebasing: buffer[..<associatedDataStart])
        (nonce, associatedData) = (.init(rules.nonce), rules.associatedData.map { .init($0) })
        (isPlain, hasTagBehind) = (rules.isPlain, rules.hasTagBehind)
        (frontByteCount, lastFrontByteCount) = (rules.frontByteCount(isLast: false), rules.frontByteCount(isLast: true))
        tagByteCount = rules.cipher.tagByteCount
    }

    deinit {
        buffer.deallocate()
    }

    /// Opens a chunk.
    ///
    /// - Parameters:
    ///   - stored: The stored chunk. The ``spareByteCount`` bytes behind it are restored afterwards.
    ///   - extent: The chunk's place.
    ///   - output: Space for its plaintext, which is erased if it is not authentic.
    /// - Throws: `DecryptionError.authenticationFailed`; the description's error for a part with the wrong value;
    ///   `.unsupported`, `.backend`.
    package func open(
        _ stored: UnsafeMutableRawBufferPointer, _ extent: Extent, into output: UnsafeMutableRawPointer
    ) throws(DecryptionError) {
        let numbers = layout.numbers(of: extent)
        let isLast = extent.index + 1 == layout.chunkCount
        let chunk = UnsafeRawBufferPointer(stored)
        if !isPlain, try prepare(chunk, numbers, isLast: isLast, into: output) { return }
        let nonceByteCount = try self.nonce.write(numbers, isLast: isLast, stored: chunk, into: nonceSpace)
        let nonce = UnsafeRawBufferPointer(start: buffer.baseAddress, count: nonceByteCount)
        var associatedData = UnsafeRawBufferPointer(start: nil, count: 0)
        if let formula = self.associatedData {
            let space = UnsafeMutableRawBufferPointer(rebasing: buffer[associatedDataStart...])
            let count = try formula.write(numbers, isLast: isLast, stored: chunk, into: space)
            associatedData = UnsafeRawBufferPointer(rebasing: space[..<count])
        }
        // The context of all chunks is passed on as it is: another reference to it would be counted.
        if let context = contexts.fixed {
            return try open(stored, numbers, isLast: isLast, into: output, nonce, associatedData, context)
        }
        try open(
            stored, numbers, isLast: isLast, into: output, nonce, associatedData,
            contexts.context(numbers, isLast: isLast, stored: chunk))
    }

    private func open(
        _ stored: UnsafeMutableRawBufferPointer, _ numbers: ChunkNumbers, isLast: Bool,
        into output: UnsafeMutableRawPointer, _ nonce: UnsafeRawBufferPointer,
        _ associatedData: UnsafeRawBufferPointer, _ context: any CipherContext
    ) throws(DecryptionError) {
        let chunk = UnsafeRawBufferPointer(stored)
        let start = isLast ? lastFrontByteCount : frontByteCount
        let input = UnsafeRawBufferPointer(
            start: chunk.baseAddress.map { $0 + start }, count: Int(numbers.plaintextByteCount) + tagByteCount)
        let plaintext = UnsafeMutableRawBufferPointer(start: output, count: Int(numbers.plaintextByteCount))
        var isAuthentic = false
        do {
            if isPadded {
                try openPadded(
                    UnsafeRawBufferPointer(
                        rebasing: chunk[start..<chunk.count - rules.behindByteCount(isLast: isLast)]),
                    into: plaintext, nonce: nonce, context)
                isAuthentic = true
            } else if hasTagBehind {
                isAuthentic = try context.process(
                    input, into: output, nonce: nonce, associatedData: associatedData)
            } else {
                let tagOffset = rules.tagOffset(isLast: isLast)
                isAuthentic = try withTag(
                    at: tagOffset, of: stored, at: start + plaintext.count
                ) { () throws(DecryptionError) in
                    try context.process(input, into: output, nonce: nonce, associatedData: associatedData)
                }
            }
        } catch {
            eraseBytes(plaintext)
            throw error
        }
        guard isAuthentic else {
            eraseBytes(plaintext)
            throw .authenticationFailed(chunk: numbers.index)
        }
    }

    /// Runs the checks that some formats require before a chunk is decrypted.
    ///
    /// - Returns: `true` if the chunk is a hole, which is then complete.
    @inline(never)
    private func prepare(
        _ chunk: UnsafeRawBufferPointer, _ numbers: ChunkNumbers, isLast: Bool, into output: UnsafeMutableRawPointer
    ) throws(DecryptionError) -> Bool {
        let isFull = numbers.plaintextByteCount == layout.geometry.chunkByteCount
        if isFull, try rules.isHole(chunk, numbers, isLast: isLast) {
            output.initializeMemory(as: UInt8.self, repeating: 0, count: Int(numbers.plaintextByteCount))
            return true
        }
        try check(chunk, numbers, isLast: isLast)
        return false
    }

    /// Refuses a chunk with wrong values in its parts.
    private func check(
        _ chunk: UnsafeRawBufferPointer, _ numbers: ChunkNumbers, isLast: Bool
    ) throws(DecryptionError) {
        let space = UnsafeMutableRawBufferPointer(
            rebasing: buffer[(associatedDataStart + (rules.associatedData?.maxByteCount ?? 0))...])
        try rules.checkParts(numbers, isLast: isLast, stored: chunk, macs: macs, buffer: space)
        if try rules.rejects(chunk, numbers, isLast: isLast) { throw .authenticationFailed(chunk: numbers.index) }
    }

    /// Decrypts padded data without checking the padding.
    ///
    /// - Source: NIST SP 800-38A, section 6.2.
    private func openPadded(
        _ data: UnsafeRawBufferPointer, into plaintext: UnsafeMutableRawBufferPointer, nonce: UnsafeRawBufferPointer,
        _ context: any CipherContext
    ) throws(DecryptionError) {
        let wholeCount = plaintext.count / 16 * 16
        if wholeCount > 0, let output = plaintext.baseAddress {
            _ = try context.process(
                UnsafeRawBufferPointer(rebasing: data[..<wholeCount]), into: output, nonce: nonce)
        }
        guard wholeCount < plaintext.count else { return }
        let block = try lastBlock(of: UnsafeRawBufferPointer(rebasing: data[..<(wholeCount + 16)]), nonce, context)
        block.withUnsafeBytes { bytes in
            UnsafeMutableRawBufferPointer(rebasing: plaintext[wholeCount...])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<(plaintext.count - wholeCount)]))
        }
    }

    private func lastBlock(
        of data: UnsafeRawBufferPointer, _ nonce: UnsafeRawBufferPointer, _ context: any CipherContext
    ) throws(DecryptionError) -> Block {
        let iv = data.count == 16 ? Block(loadingFrom: nonce) : Block(loadingFrom: data, at: data.count - 32)
        var space: UInt128 = 0
        defer { withUnsafeMutableBytes(of: &space) { eraseBytes($0) } }
        try withUnsafeMutableBytes(of: &space) { (block) throws(DecryptionError) in
            guard let start = block.baseAddress else { return }
            try context.process(UnsafeRawBufferPointer(rebasing: data[(data.count - 16)...]), into: start, iv: iv)
        }
        return withUnsafeBytes(of: space) { Block(loadingFrom: $0) }
    }

    /// Checks the parts of a padded chunk, and decrypts its last block.
    func lastBlock(ofChunk index: UInt64, of source: any ByteSource) throws(DecryptionError) -> Block {
        let extent = layout.extent(ofChunk: index)
        let (numbers, isLast) = (layout.numbers(of: extent), index + 1 == layout.chunkCount)
        let stored = try UnsafeMutableRawBufferPointer.tryAllocate(byteCount: extent.ciphertext.count)
        defer { stored.deallocate() }
        try source.fetch(at: extent.ciphertext.lowerBound, into: stored)
        let chunk = UnsafeRawBufferPointer(stored)
        try check(chunk, numbers, isLast: isLast)
        let nonceByteCount = try self.nonce.write(numbers, isLast: isLast, stored: chunk, into: nonceSpace)
        return try lastBlock(
            of: UnsafeRawBufferPointer(
                rebasing: chunk[lastFrontByteCount..<chunk.count - rules.behindByteCount(isLast: true)]),
            UnsafeRawBufferPointer(start: buffer.baseAddress, count: nonceByteCount),
            contexts.context(numbers, isLast: isLast, stored: chunk))
    }

    /// Moves a chunk's tag behind its data, where libraries expect it, while `body` runs.
    private func withTag(
        at offset: Int?, of stored: UnsafeMutableRawBufferPointer, at end: Int,
        _ body: () throws(DecryptionError) -> Bool
    ) throws(DecryptionError) -> Bool {
        guard let offset, let start = stored.baseAddress else { return try body() }
        let tag = start + (offset < 0 ? stored.count + offset : offset)
        let saved = tag.loadUnaligned(as: UInt128.self)
        let behind = (start + end).loadUnaligned(as: UInt128.self)
        (start + end).storeBytes(of: saved, as: UInt128.self)
        defer { (start + end).storeBytes(of: behind, as: UInt128.self) }
        return try body()
    }

    /// Opens a chunk to verify it, and discards the plaintext.
    func check(_ index: UInt64, of source: any ByteSource) throws(DecryptionError) {
        let extent = layout.extent(ofChunk: index)
        let count = extent.ciphertext.count
        let buffers = try UnsafeMutableRawBufferPointer.tryAllocate(
            byteCounts: [count + Self.spareByteCount, count])
        defer {
            eraseBytes(UnsafeMutableRawBufferPointer(rebasing: buffers[1][..<extent.plaintext.count]))
            for buffer in buffers { buffer.deallocate() }
        }
        let stored = UnsafeMutableRawBufferPointer(rebasing: buffers[0][..<count])
        try source.fetch(at: extent.ciphertext.lowerBound, into: stored)
        if let output = buffers[1].baseAddress { try open(stored, extent, into: output) }
    }
}
