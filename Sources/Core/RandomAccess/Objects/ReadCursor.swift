/// Reads an object of CBC or CTR block by block: fetches what a range needs, decrypts it where the caller wants it.
///
/// A cursor owns its cipher context and a small buffer, belongs to one thread, and allocates nothing per read. Whole
/// blocks are fetched straight into the caller's buffer and decrypted in place, or decrypted there from where the source
/// has them if it is a ``ViewableSource``; a first or last block that is not wanted whole, and short stretches that would
/// not come in one piece, take a detour through the cursor's own buffer.
public final class ReadCursor: RandomAccessDecryptor {
    /// The object that is read.
    public let object: EncryptedObject

    /// The max number of plaintext bytes that are decrypted in one step.
    public let windowByteCount: Int

    // Copies of what the object has: every step on the way to them costs a read of 4 KiB some nanoseconds.
    let source: any ByteSource
    private let layout: Layout
    let context: any CipherContext
    /// Where the ciphertext lies, if it can be looked at there.
    private let view: (any SourceView)?
    /// The max number of plaintext bytes of a step: a window, or what a view shows at once if that is less.
    private let stepByteCount: Int
    /// The block before the stretch, its first block, its last block: where the caller did not ask for it; or a short
    /// stretch as a whole.
    private let scratch: UnsafeMutableRawBufferPointer

    init(object: EncryptedObject, context: any CipherContext, windowByteCount: Int) throws(DecryptionError) {
        self.object = object
        self.source = object.source
        self.layout = object.layout
        self.context = context
        self.windowByteCount = windowByteCount
        self.view = try (object.source as? any ViewableSource)?.makeView()
        // The block before the step is looked at as well, and whole blocks at its ends.
        self.stepByteCount = min(windowByteCount, view.map { $0.largestByteCount - 48 } ?? .max)
        self.scratch = .allocate(byteCount: Self.bufferByteCount, alignment: 4096)
    }

    deinit {
        eraseBytes(scratch)
        scratch.deallocate()
    }

    /// The plaintext's length in bytes.
    public var plaintextByteCount: UInt64 { layout.plaintextByteCount }

    /// Reads plaintext; see ``RandomAccessDecryptor/read(at:into:)``.
    public func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Int {
        let range = try layout.clip(offset: offset, count: buffer.count)
        var delivered = 0
        var carry: Carry?
        for step in layout.plan(range, windowByteCount: stepByteCount) {
            let output = UnsafeMutableRawBufferPointer(rebasing: buffer[delivered..<delivered + step.count])
            switch step.mode {
            case .cbc: try decryptCBC(step, into: output, carry: &carry)
            case .ctr: try decryptCTR(step, into: output)
            case .gcm: preconditionFailure("chunks are ChunkCursor's")
            }
            delivered += step.count
        }
        try source.checkUnchanged()
        return delivered
    }

    /// Short stretches are faster fetched in one piece and copied than scattered over several buffers: 4 KiB and the
    /// blocks around them, with which the buffer takes two pages.
    private static let bufferByteCount = 8192

    /// The last ciphertext block of a step, which is the IV of a step that follows it directly.
    struct Carry {
        var ciphertextEnd: UInt64
        var block: Block
    }

    func part(_ range: Range<Int>) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: scratch[range])
    }

    /// Source: NIST SP 800-38A, section 6.2: plaintext block *j* is the decrypted ciphertext block *j*, plus ciphertext
    /// block *j* − 1.
    private func decryptCBC(
        _ step: ReadStep, into output: UnsafeMutableRawBufferPointer, carry: inout Carry?
    ) throws(DecryptionError) {
        let stop = step.skip + step.count
        let isHeadPartial = step.skip > 0 || stop < 16
        let isTailPartial = stop % 16 != 0 && stop > 16 || stop % 16 != 0 && !isHeadPartial
        let headCount = isHeadPartial ? min(step.count, 16 - step.skip) : 0
        let tailCount = isTailPartial ? stop % 16 : 0
        let body = UnsafeMutableRawBufferPointer(rebasing: output[headCount..<output.count - tailCount])
        let head = part(16..<(isHeadPartial ? 32 : 16))
        let tail = part(32..<(isTailPartial ? 48 : 32))

        var knownIV: Block?
        switch step.iv {
        case .value(let value): knownIV = value
        case .precedingBlock:
            if let carry, carry.ciphertextEnd == step.ciphertext.lowerBound { knownIV = carry.block }
        }
        let before = part((knownIV == nil ? 0 : 16)..<16)
        let isInPieces = before.count + head.count + tail.count > 0
        if view == nil, isInPieces, before.count + step.ciphertext.count <= Self.bufferByteCount {
            carry = try decryptCBC(short: step, knownIV: knownIV, isWhole: body.count == output.count, into: output)
            return
        }
        let ciphertext = try ciphertext(
            at: step.ciphertext.lowerBound - UInt64(before.count), before: before, head: head, body: body, tail: tail)

        // Decryption in place destroys the ciphertext, so the next IV is taken first.
        var iv = knownIV ?? Block(loadingFrom: ciphertext.before)
        if head.count > 0 {
            let next = Block(loadingFrom: ciphertext.head)
            try process(ciphertext.head, into: head, iv: iv)
            output.copyMemory(from: UnsafeRawBufferPointer(rebasing: head[step.skip..<step.skip + headCount]))
            iv = next
        }
        if body.count > 0 {
            let next = Block(loadingFrom: ciphertext.body, at: body.count - 16)
            try process(ciphertext.body, into: body, iv: iv)
            iv = next
        }
        if tail.count > 0 {
            let next = Block(loadingFrom: ciphertext.tail)
            try process(ciphertext.tail, into: tail, iv: iv)
            UnsafeMutableRawBufferPointer(rebasing: output[(output.count - tailCount)...])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: tail[..<tailCount]))
            iv = next
        }
        try view?.check()
        carry = Carry(ciphertextEnd: step.ciphertext.upperBound, block: iv)
    }

    /// Source: NIST SP 800-38A, section 6.5: plaintext block *j* is ciphertext block *j* plus the encrypted counter *j*.
    private func decryptCTR(
        _ step: ReadStep, into output: UnsafeMutableRawBufferPointer
    ) throws(DecryptionError) {
        guard case .value(var iv) = step.iv else {
            preconditionFailure("a counter block is computed, never fetched")
        }
        if view == nil, step.skip > 0, step.ciphertext.count <= Self.bufferByteCount {
            return try decryptCTR(short: step, iv: iv, into: output)
        }
        let headCount = step.skip > 0 ? min(step.count, 16 - step.skip) : 0
        let head = part(16..<16 + (step.skip > 0 ? step.skip + headCount : 0))
        let body = UnsafeMutableRawBufferPointer(rebasing: output[headCount...])
        let ciphertext = try ciphertext(
            at: step.ciphertext.lowerBound, before: part(16..<16), head: head, body: body, tail: part(32..<32))
        if head.count > 0 {
            try process(ciphertext.head, into: head, iv: iv)
            output.copyMemory(from: UnsafeRawBufferPointer(rebasing: head[step.skip...]))
            iv = iv.advanced(by: 1)
        }
        try process(ciphertext.body, into: body, iv: iv)
        try view?.check()
    }

    /// A stretch of ciphertext in the pieces that it is decrypted in.
    private struct Ciphertext {
        var before: UnsafeRawBufferPointer
        var head: UnsafeRawBufferPointer
        var body: UnsafeRawBufferPointer
        var tail: UnsafeRawBufferPointer
    }

    /// Fetches a stretch to where its plaintext goes, or shows it where it lies.
    ///
    /// `before` and `head` lie side by side.
    private func ciphertext(
        at offset: UInt64, before: UnsafeMutableRawBufferPointer, head: UnsafeMutableRawBufferPointer,
        body: UnsafeMutableRawBufferPointer, tail: UnsafeMutableRawBufferPointer
    ) throws(DecryptionError) -> Ciphertext {
        guard let view else {
            let start = 16 - before.count
            try source.fetch(
                at: offset, into: FetchBuffers(head: part(start..<16 + head.count), body: body, tail: tail))
            return Ciphertext(
                before: UnsafeRawBufferPointer(before), head: UnsafeRawBufferPointer(head),
                body: UnsafeRawBufferPointer(body), tail: UnsafeRawBufferPointer(tail))
        }
        let (bodyStart, tailStart) = (before.count + head.count, before.count + head.count + body.count)
        let bytes = try view.bytes(offset..<offset + UInt64(tailStart + tail.count))
        return Ciphertext(
            before: UnsafeRawBufferPointer(rebasing: bytes[..<before.count]),
            head: UnsafeRawBufferPointer(rebasing: bytes[before.count..<bodyStart]),
            body: UnsafeRawBufferPointer(rebasing: bytes[bodyStart..<tailStart]),
            tail: UnsafeRawBufferPointer(rebasing: bytes[tailStart...]))
    }

    private func process(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, iv: Block
    ) throws(DecryptionError) {
        guard let start = output.baseAddress, output.count > 0 else { return }
        try context.process(input, into: start, iv: iv)
    }
}

/// Stretches that fit into the cursor's own buffer: one fetch, one call of the library.
extension ReadCursor {
    /// Decrypts a short step of CBC.
    ///
    /// - Parameters:
    ///   - step: A step whose fetch fits into the buffer.
    ///   - knownIV: Its IV, or `nil` if the block before it has to be fetched.
    ///   - isWhole: Whether all of its blocks are wanted whole.
    ///   - output: Space for `step.count` bytes.
    /// - Returns: The step's last ciphertext block.
    /// - Throws: `DecryptionError` of the source or the library.
    func decryptCBC(
        short step: ReadStep, knownIV: Block?, isWhole: Bool, into output: UnsafeMutableRawBufferPointer
    ) throws(DecryptionError) -> Carry {
        let beforeCount = knownIV == nil ? 16 : 0
        let fetched = part(0..<beforeCount + step.ciphertext.count)
        try source.fetch(at: step.ciphertext.lowerBound - UInt64(beforeCount), into: fetched)
        let iv = knownIV ?? Block(loadingFrom: UnsafeRawBufferPointer(fetched))
        let stretch = UnsafeMutableRawBufferPointer(rebasing: fetched[beforeCount...])
        let last = Block(loadingFrom: UnsafeRawBufferPointer(stretch), at: stretch.count - 16)
        if isWhole, let start = output.baseAddress {
            try context.process(UnsafeRawBufferPointer(stretch), into: start, iv: iv)
        } else {
            try context.process(inPlace: stretch, iv: iv)
            copy(stretch, of: step, to: output)
        }
        return Carry(ciphertextEnd: step.ciphertext.upperBound, block: last)
    }

    /// Decrypts a short step of CTR that starts inside a block.
    func decryptCTR(
        short step: ReadStep, iv: Block, into output: UnsafeMutableRawBufferPointer
    ) throws(DecryptionError) {
        let stretch = part(0..<step.ciphertext.count)
        try source.fetch(at: step.ciphertext.lowerBound, into: stretch)
        try context.process(inPlace: stretch, iv: iv)
        copy(stretch, of: step, to: output)
    }

    private func copy(
        _ stretch: UnsafeMutableRawBufferPointer, of step: ReadStep, to output: UnsafeMutableRawBufferPointer
    ) {
        output.copyMemory(from: UnsafeRawBufferPointer(rebasing: stretch[step.skip..<step.skip + step.count]))
    }
}
