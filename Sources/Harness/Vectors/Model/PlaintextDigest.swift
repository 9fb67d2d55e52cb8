/// A quick 64-bit digest that notices any change that is no attack: to compare large plaintexts that are both ours.
///
/// Four lanes of word-wise FNV-1a with a rotation; the bytes' total number is part of it.
package struct PlaintextDigest: Hashable, Sendable {
    private var lanes = SIMD4<UInt64>(
        0xcbf2_9ce4_8422_2325, 0x8422_2325_cbf2_9ce4, 0x9ce4_8422_2325_cbf2, 0x2325_cbf2_9ce4_8422)
    private var byteCount: UInt64 = 0

    /// Creates the digest of nothing.
    package init() {}

    /// Creates the digest of a buffer.
    package init(_ bytes: UnsafeRawBufferPointer) {
        update(bytes)
    }

    /// Adds bytes. All pieces but the last must be multiples of 32 bytes long.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        precondition(byteCount % 32 == 0, "\(byteCount) bytes before this piece")
        byteCount += UInt64(bytes.count)
        var offset = 0
        while offset + 32 <= bytes.count {
            mix(bytes.loadUnaligned(fromByteOffset: offset, as: SIMD4<UInt64>.self))
            offset += 32
        }
        if offset < bytes.count {
            var rest = SIMD4<UInt64>()
            for place in 0..<bytes.count - offset {
                rest[place / 8] |= UInt64(bytes[offset + place]) << UInt64(place % 8 * 8)
            }
            mix(rest)
        }
    }

    private mutating func mix(_ words: SIMD4<UInt64>) {
        lanes = (lanes ^ words) &* SIMD4(repeating: 0x0000_0100_0000_01b3)
        lanes ^= lanes &>> 29
    }
}
