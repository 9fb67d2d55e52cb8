import RandomAccess

/// OCB3 with tags of 128 bits. Source: RFC 7253, section 4.
struct OCB<Blocks: AESBlocks>: SealingMode {
    private let blocks: Blocks
    /// L_*, L_$, L_0, L_1, …: enough for as many blocks as 60 bits can count. Source: section 4.1.
    private let masks: SecretBlocks

    init(_ blocks: Blocks) {
        self.blocks = blocks
        masks = SecretBlocks(doubling: blocks.encrypted(.zero), count: 2 + 60)
    }

    private var lastMask: Block { masks[0] }
    private var tagMask: Block { masks[1] }
    private func mask(ofBlock number: Int) -> Block { masks[2 + number.trailingZeroBitCount] }

    /// OCB-ENCRYPT. Source: section 4.2.
    func seal(
        _ plaintext: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, nonce: UnsafeRawBufferPointer,
        associatedData: UnsafeRawBufferPointer
    ) -> Block {
        let offset = process(plaintext, into: output, .encrypt, nonce)
        return tag(of: plaintext, offset, associatedData)
    }

    /// OCB-DECRYPT. Source: section 4.3.
    func open(
        _ ciphertext: UnsafeRawBufferPointer, tag: Block, into output: UnsafeMutableRawPointer,
        nonce: UnsafeRawBufferPointer, associatedData: UnsafeRawBufferPointer
    ) -> Block {
        let offset = process(ciphertext, into: output, .decrypt, nonce)
        return self.tag(of: UnsafeRawBufferPointer(start: output, count: ciphertext.count), offset, associatedData)
    }

    /// Processes a whole message, and returns the last offset.
    private func process(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, _ direction: CipherDirection,
        _ nonce: UnsafeRawBufferPointer
    ) -> Block {
        var (offset, number) = (firstOffset(nonce), 0)
        let whole = input.count / Block.byteCount * Block.byteCount
        blocks.processMasked(UnsafeRawBufferPointer(rebasing: input[..<whole]), into: output, direction) {
            number += 1
            offset = offset ^ mask(ofBlock: number)
            return offset
        }
        guard whole < input.count else { return offset }
        offset = offset ^ lastMask
        let rest = UnsafeRawBufferPointer(rebasing: input[whole...])
        blocks.applyCounters(rest, into: output + whole, first: offset) { $0 }
        return offset
    }

    /// Offset_0. Source: section 4.2, "Nonce-dependent and per-encryption variables".
    private func firstOffset(_ nonce: UnsafeRawBufferPointer) -> Block {
        let nonce = nonce.reduce(1) { $0 << 8 | UInt128($1) }
        let bottom = nonce & 63
        let top = blocks.encrypted(Block(bigEndianValue: nonce ^ bottom)).bigEndianValue
        let stretch = UInt64(truncatingIfNeeded: top >> 64) ^ UInt64(truncatingIfNeeded: top >> 56)
        return Block(bigEndianValue: top << bottom | UInt128(stretch) >> (64 - bottom))
    }

    /// ENCIPHER(K, Checksum ⊕ Offset ⊕ L_$) ⊕ HASH(K, A).
    private func tag(of plaintext: UnsafeRawBufferPointer, _ offset: Block, _ associatedData: UnsafeRawBufferPointer)
        -> Block
    {
        var sum = Block.zero
        forEachBlock(plaintext) { block, _ in sum = sum ^ block }
        return blocks.encrypted(sum ^ offset ^ tagMask) ^ hash(associatedData)
    }

    /// HASH(K, A). Source: section 4.1.
    private func hash(_ bytes: UnsafeRawBufferPointer) -> Block {
        var (sum, offset, number) = (Block.zero, Block.zero, 0)
        forEachBlock(bytes) { block, isWhole in
            number += 1
            offset = offset ^ (isWhole ? mask(ofBlock: number) : lastMask)
            sum = sum ^ blocks.encrypted(block ^ offset)
        }
        return sum
    }

    /// Visits each block, and a partial one followed by a bit and zeros.
    private func forEachBlock(_ bytes: UnsafeRawBufferPointer, _ body: (Block, _ isWhole: Bool) -> Void) {
        let whole = bytes.count / Block.byteCount * Block.byteCount
        for offset in stride(from: 0, to: whole, by: Block.byteCount) {
            body(Block(loadingFrom: bytes, at: offset), true)
        }
        guard whole < bytes.count else { return }
        let rest = UnsafeRawBufferPointer(rebasing: bytes[whole...])
        body(Block(filling: rest) ^ .bit(behind: rest.count), false)
    }
}
