import RandomAccess

/// GCM-SIV, which derives keys for each nonce. Source: RFC 8452, sections 3 to 5.
struct GCMSIV<Blocks: AESBlocks>: SealingMode {
    private let generator: Blocks
    private let keyByteCount: Int
    private let blocks: (SecretKey) -> Blocks

    /// The mode under a key.
    ///
    /// - Parameters:
    ///   - generator: AES under the key.
    ///   - keyByteCount: The key's length.
    ///   - blocks: Makes AES under a derived key.
    init(_ generator: Blocks, keyByteCount: Int, _ blocks: @escaping (SecretKey) -> Blocks) {
        (self.generator, self.keyByteCount, self.blocks) = (generator, keyByteCount, blocks)
    }

    func seal(
        _ plaintext: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, nonce: UnsafeRawBufferPointer,
        associatedData: UnsafeRawBufferPointer
    ) throws(DecryptionError) -> Block {
        let message = try Message(self, nonce)
        let tag = message.tag(of: plaintext, associatedData)
        message.applyCounters(plaintext, into: output, tag)
        return tag
    }

    func open(
        _ ciphertext: UnsafeRawBufferPointer, tag: Block, into output: UnsafeMutableRawPointer,
        nonce: UnsafeRawBufferPointer, associatedData: UnsafeRawBufferPointer
    ) throws(DecryptionError) -> Block {
        let message = try Message(self, nonce)
        message.applyCounters(ciphertext, into: output, tag)
        return message.tag(of: UnsafeRawBufferPointer(start: output, count: ciphertext.count), associatedData)
    }

    /// The keys of a nonce.
    private struct Message {
        private let blocks: Blocks
        /// The key of POLYVAL, converted for GHASH.
        private let hashKey: SecretBlocks
        private let nonce: Block

        /// Derives the keys. Source: section 4.
        init(_ mode: GCMSIV, _ nonce: UnsafeRawBufferPointer) throws(DecryptionError) {
            self.nonce = Block(filling: nonce)
            // A little-endian number of 32 bits, and the nonce.
            let start = Block(bigEndianValue: self.nonce.bigEndianValue >> 32)
            func half(_ number: UInt128) -> UInt128 {
                mode.generator.encrypted(start ^ Block(bigEndianValue: number << 120)).bigEndianValue >> 64
            }
            func key(_ number: UInt128) -> Block { Block(bigEndianValue: half(number) << 64 | half(number + 1)) }
            hashKey = SecretBlocks(doubling: key(0).reversed.timesX, count: 1)
            var bytes = (UInt128(0), UInt128(0))
            let material = try withUnsafeMutableBytes(of: &bytes) { (bytes) throws(DecryptionError) in
                defer { eraseBytes(bytes) }
                for offset in stride(from: 0, to: mode.keyByteCount, by: Block.byteCount) {
                    key(2 + UInt128(offset / 8)).store(to: bytes, at: offset)
                }
                return try SecretKey(material: bytes[..<mode.keyByteCount])
            }
            blocks = mode.blocks(material)
        }

        /// Returns the tag: POLYVAL of everything plus the nonce, without its highest bit, encrypted. Source: section
        /// 4.
        func tag(of plaintext: UnsafeRawBufferPointer, _ associatedData: UnsafeRawBufferPointer) -> Block {
            let key = Polynomial(hashKey[0])
            var sum = Polynomial(high: 0, low: 0)
            // POLYVAL is GHASH of reversed blocks, reversed. Source: appendix A.
            func add(_ block: Block) { sum = (sum + Polynomial(block.reversed)) * key }
            for bytes in [associatedData, plaintext] {
                let whole = bytes.count / Block.byteCount * Block.byteCount
                for offset in stride(from: 0, to: whole, by: Block.byteCount) {
                    add(Block(loadingFrom: bytes, at: offset))
                }
                if whole < bytes.count { add(Block(filling: UnsafeRawBufferPointer(rebasing: bytes[whole...]))) }
            }
            let lengths = UInt128(plaintext.count) * 8 << 64 | UInt128(associatedData.count) * 8
            add(Block(bigEndianValue: lengths).reversed)
            let hash = sum.block.reversed ^ nonce
            return blocks.encrypted(Block(bigEndianValue: hash.bigEndianValue & ~0x80))
        }

        /// Counts in the first 32 bits, little-endian, from the tag with its highest bit set. Source: section 4.
        func applyCounters(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, _ tag: Block) {
            blocks.applyCounters(input, into: output, first: Block(bigEndianValue: tag.bigEndianValue | 0x80)) {
                block in
                let counter = UInt32(truncatingIfNeeded: block.bigEndianValue >> 96).byteSwapped &+ 1
                let rest = block.bigEndianValue & (1 << 96 - 1)
                return Block(bigEndianValue: rest | UInt128(counter.byteSwapped) << 96)
            }
        }
    }
}

extension Block {
    /// The product with x in GF(2¹²⁸) in GCM's representation, in which the first bit is the coefficient of 1. Source:
    /// RFC 8452, appendix A (`mulX_GHASH`).
    fileprivate var timesX: Block {
        Block(bigEndianValue: bigEndianValue &>> 1 ^ (0xE1 << 120 & (0 &- (bigEndianValue & 1))))
    }
}
