internal import RandomAccess

/// The hash under GCM's tags: a polynomial over GF(2¹²⁸), evaluated at the hash key.
///
/// - Source: NIST SP 800-38D, sections 6.3 and 6.4.
struct GHASH {
    private let key: Polynomial
    private var sum = Polynomial(high: 0, low: 0)

    init(key: Polynomial) {
        self.key = key
    }

    /// GHASH(C ‖ zeros ‖ [0]₆₄ ‖ [len(C)]₆₄), the whole of what GCM hashes where there is no additional data.
    mutating func hash(_ ciphertext: UnsafeRawBufferPointer) -> Block {
        let wholeByteCount = ciphertext.count / Block.byteCount * Block.byteCount
        for offset in stride(from: 0, to: wholeByteCount, by: Block.byteCount) {
            add(Block(loadingFrom: ciphertext, at: offset))
        }
        if wholeByteCount < ciphertext.count {
            var last: UInt128 = 0
            for (place, byte) in ciphertext[wholeByteCount...].enumerated() {
                last |= UInt128(byte) << UInt128(120 - 8 * place)
            }
            add(Block(bigEndianValue: last))
        }
        add(Block(bigEndianValue: UInt128(ciphertext.count) * 8))
        return sum.block
    }

    /// Yᵢ = (Yᵢ₋₁ ⊕ Xᵢ) • H. Source: section 6.4, algorithm 2.
    private mutating func add(_ block: Block) {
        sum = (sum + Polynomial(block)) * key
    }
}
