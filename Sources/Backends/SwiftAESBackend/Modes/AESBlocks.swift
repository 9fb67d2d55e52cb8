import RandomAccess

/// AES under one key, block by block: the basis of the modes of operation here. Belongs to one thread at a time.
protocol AESBlocks: AnyObject {
    /// Applies CIPHER() or INVCIPHER() to each of some blocks in place. Source: FIPS 197, sections 5.1 and 5.3.
    func process(_ blocks: UnsafeMutableRawPointer, blockCount: Int, _ direction: CipherDirection)
}

/// The blocks of ``SwiftReference``, one after another.
final class ReferenceBlocks: AESBlocks {
    private let cipher: AESBlockCipher

    init(_ key: SecretKey) { cipher = AESBlockCipher(key) }

    func process(_ blocks: UnsafeMutableRawPointer, blockCount: Int, _ direction: CipherDirection) {
        let blocks = UnsafeMutableRawBufferPointer(start: blocks, count: Block.byteCount * blockCount)
        for offset in stride(from: 0, to: blocks.count, by: Block.byteCount) {
            let block = Block(loadingFrom: UnsafeRawBufferPointer(blocks), at: offset)
            (direction == .encrypt ? cipher.encrypt(block) : cipher.decrypt(block)).store(to: blocks, at: offset)
        }
    }
}

extension BitslicedCipher: AESBlocks {
    func process(_ blocks: UnsafeMutableRawPointer, blockCount: Int, _ direction: CipherDirection) {
        var (start, remaining) = (blocks, blockCount)
        while remaining > 0 {
            let count = batchBlockCount(of: remaining)
            self.blocks.copyMemory(from: start, byteCount: Block.byteCount * count)
            process(blockCount: count, direction)
            start.copyMemory(from: self.blocks, byteCount: Block.byteCount * count)
            start += Block.byteCount * count
            remaining -= count
        }
    }
}

/// The number of blocks of the widest batch.
private let batchBlockCount = 64

extension AESBlocks {
    /// CIPHER() of one block.
    func encrypted(_ block: Block) -> Block {
        var bytes = block.bigEndianValue.bigEndian
        withUnsafeMutableBytes(of: &bytes) { bytes in
            if let start = bytes.baseAddress { process(start, blockCount: 1, .encrypt) }
        }
        return Block(bigEndianValue: UInt128(bigEndian: bytes))
    }

    /// Computes CIPH(X ⊕ mask) ⊕ mask of whole blocks, or its inverse, each with its own mask; in place or not.
    @inline(__always)
    func processMasked(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, _ direction: CipherDirection,
        nextMask: () -> Block
    ) {
        withMasks { masks in
            for start in stride(from: 0, to: input.count, by: masks.count) {
                let piece = UnsafeRawBufferPointer(rebasing: input[start..<min(start + masks.count, input.count)])
                let written = UnsafeMutableRawBufferPointer(start: output + start, count: piece.count)
                for offset in stride(from: 0, to: piece.count, by: Block.byteCount) {
                    let mask = nextMask()
                    mask.store(to: masks, at: offset)
                    (Block(loadingFrom: piece, at: offset) ^ mask).store(to: written, at: offset)
                }
                process(output + start, blockCount: piece.count / Block.byteCount, direction)
                for offset in stride(from: 0, to: piece.count, by: Block.byteCount) {
                    let block = Block(loadingFrom: UnsafeRawBufferPointer(written), at: offset)
                    (block ^ Block(loadingFrom: UnsafeRawBufferPointer(masks), at: offset)).store(
                        to: written, at: offset)
                }
            }
        }
    }

    /// Adds CIPH(T₁), CIPH(T₂), … to a number of bytes, from the first counter block on.
    @inline(__always)
    func applyCounters(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, first: Block, next: (Block) -> Block
    ) {
        var counter = first
        withMasks { masks in
            guard let masksStart = masks.baseAddress else { return }
            for start in stride(from: 0, to: input.count, by: masks.count) {
                let count = min(masks.count, input.count - start)
                let blockCount = (count + Block.byteCount - 1) / Block.byteCount
                for index in 0..<blockCount {
                    counter.store(to: masks, at: Block.byteCount * index)
                    counter = next(counter)
                }
                process(masksStart, blockCount: blockCount, .encrypt)
                let written = UnsafeMutableRawBufferPointer(start: output + start, count: count)
                let whole = count / Block.byteCount * Block.byteCount
                for offset in stride(from: 0, to: whole, by: Block.byteCount) {
                    let mask = Block(loadingFrom: UnsafeRawBufferPointer(masks), at: offset)
                    (Block(loadingFrom: input, at: start + offset) ^ mask).store(to: written, at: offset)
                }
                for offset in whole..<count { written[offset] = input[start + offset] ^ masks[offset] }
            }
        }
    }

    /// Calls `body` with space for the masks of a batch, and erases it afterwards.
    private func withMasks(_ body: (UnsafeMutableRawBufferPointer) -> Void) {
        withUnsafeTemporaryAllocation(byteCount: batchBlockCount * Block.byteCount, alignment: 16) { masks in
            masks.initializeMemory(as: UInt8.self, repeating: 0)
            body(masks)
            eraseBytes(masks)
        }
    }
}

extension Block {
    /// A block without any set bit.
    static let zero = Block(bigEndianValue: 0)

    /// Returns a block with one bit set behind a number of bytes, where padding starts.
    static func bit(behind byteCount: Int) -> Block { Block(bigEndianValue: 1 << UInt128(127 - 8 * byteCount)) }

    /// Up to 16 bytes, followed by zeros.
    init(filling bytes: UnsafeRawBufferPointer) {
        var value: UInt128 = 0
        for (index, byte) in bytes.enumerated() { value |= UInt128(byte) << UInt128(120 - 8 * index) }
        self.init(bigEndianValue: value)
    }

    /// The 16 bytes in reverse order.
    var reversed: Block { Block(bigEndianValue: bigEndianValue.byteSwapped) }
}

/// Blocks derived from a key, erased when they are freed.
final class SecretBlocks {
    private let blocks: UnsafeMutableBufferPointer<Block>

    /// A first block, followed by repeated doublings.
    init(doubling first: Block, count: Int) {
        blocks = .allocate(capacity: count)
        var block = first
        for index in 0..<count {
            blocks.initializeElement(at: index, to: block)
            block = block.doubled
        }
    }

    deinit {
        eraseBytes(UnsafeMutableRawBufferPointer(blocks))
        blocks.deallocate()
        eraseStack()
    }

    subscript(index: Int) -> Block { blocks[index] }
}
