import RandomAccess

/// A message authentication code from AES, on which EAX and SIV are built. Source: RFC 4493; NIST SP 800-38B, section
/// 6.
private struct CMAC<Blocks: AESBlocks> {
    private let blocks: Blocks
    /// K1 and K2. Source: RFC 4493, section 2.3.
    private let subkeys: SecretBlocks

    init(_ blocks: Blocks) {
        self.blocks = blocks
        subkeys = SecretBlocks(doubling: blocks.encrypted(.zero).doubled, count: 2)
    }

    /// Returns the code of one block.
    func code(ofBlock block: Block) -> Block { blocks.encrypted(block ^ subkeys[0]) }

    /// Returns the code of some bytes, optionally behind a block, and with a block added to their last 16. Source: RFC
    /// 4493, section 2.4.
    func code(of bytes: UnsafeRawBufferPointer, behind first: Block? = nil, addingToEnd end: Block = .zero) -> Block {
        guard bytes.count > 0 else { return first.map(code) ?? blocks.encrypted(.bit(behind: 0) ^ subkeys[1]) }
        var sum = first.map(blocks.encrypted) ?? .zero
        let whole = (bytes.count - 1) / Block.byteCount * Block.byteCount
        let lastCount = bytes.count - whole
        for offset in stride(from: 0, to: whole, by: Block.byteCount) {
            if offset + Block.byteCount == whole {
                // The part of the last 16 bytes that is in this block.
                sum = sum ^ Block(bigEndianValue: end.bigEndianValue >> UInt128(8 * lastCount))
            }
            sum = blocks.encrypted(sum ^ Block(loadingFrom: bytes, at: offset))
        }
        let last =
            Block(filling: UnsafeRawBufferPointer(rebasing: bytes[whole...]))
            ^ Block(bigEndianValue: end.bigEndianValue << UInt128(8 * (Block.byteCount - lastCount)))
        guard lastCount < Block.byteCount else { return code(ofBlock: sum ^ last) }
        return blocks.encrypted(sum ^ last ^ .bit(behind: lastCount) ^ subkeys[1])
    }
}

/// EAX. Source: Bellare, Rogaway and Wagner, "The EAX Mode of Operation", 2004, figure 2.
struct EAX<Blocks: AESBlocks>: SealingMode {
    private let blocks: Blocks
    private let cmac: CMAC<Blocks>

    init(_ blocks: Blocks) { (self.blocks, cmac) = (blocks, CMAC(blocks)) }

    func seal(
        _ plaintext: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, nonce: UnsafeRawBufferPointer,
        associatedData: UnsafeRawBufferPointer
    ) -> Block {
        let start = code(0, nonce)
        blocks.applyCounters(plaintext, into: output, first: start) { $0.advanced(by: 1) }
        return start ^ code(1, associatedData) ^ code(2, UnsafeRawBufferPointer(start: output, count: plaintext.count))
    }

    func open(
        _ ciphertext: UnsafeRawBufferPointer, tag: Block, into output: UnsafeMutableRawPointer,
        nonce: UnsafeRawBufferPointer, associatedData: UnsafeRawBufferPointer
    ) -> Block {
        let start = code(0, nonce)
        blocks.applyCounters(ciphertext, into: output, first: start) { $0.advanced(by: 1) }
        return start ^ code(1, associatedData) ^ code(2, ciphertext)
    }

    /// OMACᵗ: the code of a number, as a block, followed by some bytes.
    private func code(_ number: UInt128, _ bytes: UnsafeRawBufferPointer) -> Block {
        cmac.code(of: bytes, behind: Block(bigEndianValue: number))
    }
}

/// SIV over the associated data and the nonce. Source: RFC 5297, section 2.
struct SIV<Blocks: AESBlocks>: SealingMode {
    private let cmac: CMAC<Blocks>
    private let counters: Blocks

    /// The mode under both halves of a key. Source: sections 2.6 and 2.7.
    init(_ blocks: Blocks, counters: Blocks) { (cmac, self.counters) = (CMAC(blocks), counters) }

    func seal(
        _ plaintext: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, nonce: UnsafeRawBufferPointer,
        associatedData: UnsafeRawBufferPointer
    ) -> Block {
        let tag = code(associatedData, nonce, plaintext)
        applyCounters(plaintext, into: output, tag)
        return tag
    }

    func open(
        _ ciphertext: UnsafeRawBufferPointer, tag: Block, into output: UnsafeMutableRawPointer,
        nonce: UnsafeRawBufferPointer, associatedData: UnsafeRawBufferPointer
    ) -> Block {
        applyCounters(ciphertext, into: output, tag)
        return code(associatedData, nonce, UnsafeRawBufferPointer(start: output, count: ciphertext.count))
    }

    /// S2V. Source: section 2.4.
    private func code(
        _ associatedData: UnsafeRawBufferPointer, _ nonce: UnsafeRawBufferPointer, _ text: UnsafeRawBufferPointer
    ) -> Block {
        var sum = cmac.code(ofBlock: .zero)
        for string in [associatedData, nonce] { sum = sum.doubled ^ cmac.code(of: string) }
        guard text.count < Block.byteCount else { return cmac.code(of: text, addingToEnd: sum) }
        return cmac.code(ofBlock: sum.doubled ^ Block(filling: text) ^ .bit(behind: text.count))
    }

    /// Counts from the tag with two bits cleared, so that 32 bits do not overflow. Source: section 2.5.
    private func applyCounters(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, _ tag: Block) {
        let first = Block(bigEndianValue: tag.bigEndianValue & ~(1 << 63 | 1 << 31))
        counters.applyCounters(input, into: output, first: first) { $0.advanced(by: 1) }
    }
}
