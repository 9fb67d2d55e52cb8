/// The padding of RFC 5652, section 6.3.
enum PKCS7 {
    /// The number of padding bytes in a plaintext's last block, or `nil` if it is not padded.
    ///
    /// Takes the same steps whatever the block holds: which byte is wrong, or how many are, cannot be told from the
    /// time (Vaudenay 2002).
    static func paddingByteCount(of block: Block) -> Int? {
        let value = block.bigEndianValue
        let count = UInt32(truncatingIfNeeded: value & 0xFF)
        var difference: UInt32 = 0
        for position in 0..<16 {
            let byte = UInt32(truncatingIfNeeded: (value >> (8 * UInt128(position))) & 0xFF)
            // All ones where the byte belongs to the padding: position < count.
            let isPadding = (UInt32(position) &- count) >> 31
            difference |= (byte ^ count) & (0 &- isPadding)
        }
        // 1 where count is 0 or above 16.
        difference |= (count &- 1) >> 31
        difference |= (16 &- count) >> 31
        return difference == 0 ? Int(count) : nil
    }

    /// The padding bytes that follow `byteCount` plaintext bytes: 1 to 16.
    static func paddingByteCount(afterPlaintext byteCount: UInt64) -> Int {
        16 - Int(byteCount % 16)
    }
}
