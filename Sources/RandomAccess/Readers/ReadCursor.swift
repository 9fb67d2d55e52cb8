/// Reads an object block by block: fetches what a range needs, decrypts it where the caller wants it.
///
/// A cursor owns its cipher context and room for three blocks, belongs to one thread, and allocates nothing per read.
/// Whole blocks are fetched straight into the caller's buffer and decrypted in place; only a first or last block that
/// is not wanted whole takes a detour.
public final class ReadCursor: RandomAccessDecryptor {
    /// The object that is read.
    public let object: EncryptedObject

    /// The most plaintext bytes that are decrypted in one step.
    public let windowByteCount: Int

    private let context: any CipherContext
    /// The block before the stretch, its first block, its last block: where each is not the caller's business.
    private let room: UnsafeMutableRawBufferPointer

    init(object: EncryptedObject, context: any CipherContext, windowByteCount: Int) {
        self.object = object
        self.context = context
        self.windowByteCount = windowByteCount
        self.room = .allocate(byteCount: 48, alignment: 16)
    }

    deinit {
        eraseBytes(room)
        room.deallocate()
    }

    /// The plaintext's length in bytes.
    public var plaintextByteCount: UInt64 { object.layout.plaintextByteCount }

    /// Reads plaintext; see ``RandomAccessDecryptor/read(at:into:)``.
    public func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Int {
        let range = try object.layout.clip(offset: offset, count: buffer.count)
        var delivered = 0
        var carry: Carry?
        for step in object.layout.plan(range, windowByteCount: windowByteCount) {
            let output = UnsafeMutableRawBufferPointer(rebasing: buffer[delivered..<delivered + step.count])
            switch step.mode {
            case .cbc: try decryptCBC(step, into: output, carry: &carry)
            case .ctr: try decryptCTR(step, into: output)
            }
            delivered += step.count
        }
        try object.source.checkUnchanged()
        return delivered
    }

    /// The last ciphertext block of a step, which is the IV of a step that follows it directly.
    private struct Carry {
        var ciphertextEnd: UInt64
        var block: Block
    }

    private func part(_ range: Range<Int>) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: room[range])
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
        let head = part(16..<32)
        let tail = part(32..<48)

        var knownIV: Block?
        switch step.iv {
        case .value(let value): knownIV = value
        case .precedingBlock:
            if let carry, carry.ciphertextEnd == step.ciphertext.lowerBound { knownIV = carry.block }
        }
        let fetchStart = step.ciphertext.lowerBound - (knownIV == nil ? 16 : 0)
        try object.source.fetch(
            at: fetchStart,
            into: FetchBuffers(
                head: part((knownIV == nil ? 0 : 16)..<(isHeadPartial ? 32 : 16)), body: body,
                tail: part(32..<(isTailPartial ? 48 : 32))))

        // Decryption in place destroys the ciphertext, so the next IV is taken first.
        var iv = knownIV ?? Block(loadingFrom: UnsafeRawBufferPointer(room))
        if isHeadPartial {
            let next = Block(loadingFrom: UnsafeRawBufferPointer(head))
            try context.process(inPlace: head, iv: iv)
            output.copyMemory(from: UnsafeRawBufferPointer(rebasing: head[step.skip..<step.skip + headCount]))
            iv = next
        }
        if body.count > 0 {
            let next = Block(loadingFrom: UnsafeRawBufferPointer(body), at: body.count - 16)
            try context.process(inPlace: body, iv: iv)
            iv = next
        }
        if isTailPartial {
            let next = Block(loadingFrom: UnsafeRawBufferPointer(tail))
            try context.process(inPlace: tail, iv: iv)
            UnsafeMutableRawBufferPointer(rebasing: output[(output.count - tailCount)...])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: tail[..<tailCount]))
            iv = next
        }
        carry = Carry(ciphertextEnd: step.ciphertext.upperBound, block: iv)
    }

    /// Source: NIST SP 800-38A, section 6.5: plaintext block *j* is ciphertext block *j* plus the encrypted counter *j*.
    private func decryptCTR(
        _ step: ReadStep, into output: UnsafeMutableRawBufferPointer
    ) throws(DecryptionError) {
        guard case .value(var iv) = step.iv else {
            preconditionFailure("a counter block is computed, never fetched")
        }
        let headCount = step.skip > 0 ? min(step.count, 16 - step.skip) : 0
        let head = part(0..<(step.skip > 0 ? step.skip + headCount : 0))
        let body = UnsafeMutableRawBufferPointer(rebasing: output[headCount...])
        try object.source.fetch(
            at: step.ciphertext.lowerBound, into: FetchBuffers(head: head, body: body, tail: part(32..<32)))
        if head.count > 0 {
            try context.process(inPlace: head, iv: iv)
            output.copyMemory(from: UnsafeRawBufferPointer(rebasing: head[step.skip...]))
            iv = iv.advanced(by: 1)
        }
        try context.process(inPlace: body, iv: iv)
    }
}
