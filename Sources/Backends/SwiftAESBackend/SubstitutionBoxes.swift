/// The S-box and its inverse, computed from their definition instead of copied from the standard's tables.
final class SubstitutionBoxes: Sendable {
    /// SBOX(). Source: FIPS 197, section 5.1.1, equations (5.2) and (5.3); its values are the standard's table 4.
    let forward: InlineArray<256, UInt8>

    /// INVSBOX(). Source: FIPS 197, section 5.3.2; its values are the standard's table 6.
    let inverse: InlineArray<256, UInt8>

    /// The boxes, computed once.
    static let shared = SubstitutionBoxes()

    private init() {
        var forward = InlineArray<256, UInt8>(repeating: 0)
        var inverse = InlineArray<256, UInt8>(repeating: 0)
        for byte in 0...255 {
            let b = GaloisField.inverse(UInt8(byte))
            // b'ᵢ = bᵢ ⊕ b₍ᵢ₊₄₎ ⊕ b₍ᵢ₊₅₎ ⊕ b₍ᵢ₊₆₎ ⊕ b₍ᵢ₊₇₎ ⊕ cᵢ, indices modulo 8, c = {63}: the same bits, rotated.
            let image = b ^ rotateLeft(b, 1) ^ rotateLeft(b, 2) ^ rotateLeft(b, 3) ^ rotateLeft(b, 4) ^ 0x63
            forward[byte] = image
            inverse[Int(image)] = UInt8(byte)
        }
        self.forward = forward
        self.inverse = inverse
    }
}

private func rotateLeft(_ b: UInt8, _ count: UInt8) -> UInt8 {
    b << count | b >> (8 - count)
}
