/// One AES block: 16 bytes, as a big-endian number.
///
/// IVs and counter blocks are blocks. An addition carries through all 128 bits and wraps at 2¹²⁸, as CTR (NIST SP
/// 800-38A, appendix B.1, with m = 128) and the IV rule `sequence` require.
public struct Block: Hashable, Sendable {
    /// The length of a block in bytes.
    public static let byteCount = 16

    /// The block as a number; its first byte is the most significant one.
    public var bigEndianValue: UInt128

    /// The block with a value as a big-endian number.
    @inlinable
    public init(bigEndianValue: UInt128) {
        self.bigEndianValue = bigEndianValue
    }

    /// The block at byte `offset` of some memory, at any alignment.
    @inlinable
    public init(loadingFrom bytes: UnsafeRawBufferPointer, at offset: Int = 0) {
        self.bigEndianValue = UInt128(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt128.self))
    }

    /// The block of 16 bytes.
    ///
    /// - Throws: `DecryptionError.invalidIV` if there are not exactly 16.
    public init(_ bytes: [UInt8]) throws(DecryptionError) {
        guard bytes.count == Self.byteCount else { throw .invalidIV(byteCount: bytes.count) }
        self = bytes.withUnsafeBytes { Block(loadingFrom: $0) }
    }

    /// The 16 bytes in order.
    public var bytes: [UInt8] {
        withUnsafeBytes { Array($0) }
    }

    /// The 16 bytes as hexadecimal digits.
    package var hexadecimal: String {
        let digits = String(bigEndianValue, radix: 16)
        return String(repeating: "0", count: 32 - digits.utf8.count) + digits
    }

    /// Calls `body` with the 16 bytes in order.
    @inlinable
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let value = bigEndianValue.bigEndian
        return try Swift.withUnsafeBytes(of: value, body)
    }

    /// Writes the 16 bytes in order to `destination`, starting at its byte `offset`, at any alignment.
    @inlinable
    public func store(to destination: UnsafeMutableRawBufferPointer, at offset: Int = 0) {
        destination.storeBytes(of: bigEndianValue.bigEndian, toByteOffset: offset, as: UInt128.self)
    }

    /// Returns the block `count` steps later, modulo 2¹²⁸.
    public func advanced(by count: UInt64) -> Block {
        Block(bigEndianValue: bigEndianValue &+ UInt128(count))
    }

    /// The product with x in GF(2¹²⁸), with the highest power in the first bit. Source: RFC 5297, section 2.3 (`dbl`);
    /// RFC 7253, section 2 (`double`).
    package var doubled: Block {
        // Adds {87} if the highest bit is shifted out, without a branch.
        Block(bigEndianValue: bigEndianValue &<< 1 ^ (0x87 & (0 &- (bigEndianValue &>> 127))))
    }

    /// Returns the bitwise sum of two blocks. Source: NIST SP 800-38A, section 4.2 (`X ⊕ Y`).
    @inlinable
    public static func ^ (left: Block, right: Block) -> Block {
        Block(bigEndianValue: left.bigEndianValue ^ right.bigEndianValue)
    }
}

/// The padding of RFC 5652, section 6.3.
package enum PKCS7 {
    /// Returns the number of padding bytes in a plaintext's last block; `nil` if the padding is invalid.
    static func paddingByteCount(of block: Block) -> Int? {
        difference(in: block) == 0 ? Int(block.bigEndianValue & 0xFF) : nil
    }

    /// Returns 0 if a plaintext's last block has valid padding, and any other number if not.
    ///
    /// The steps do not depend on the block. So the time reveals neither the position nor the number of wrong bytes
    /// (Vaudenay 2002).
    package static func difference(in block: Block) -> UInt32 {
        let value = block.bigEndianValue
        let count = UInt32(truncatingIfNeeded: value & 0xFF)
        var difference: UInt32 = 0
        for position in 0..<16 {
            let byte = UInt32(truncatingIfNeeded: (value >> (8 * UInt128(position))) & 0xFF)
            // All ones if the byte belongs to the padding: position < count.
            let isPadding = (UInt32(position) &- count) >> 31
            difference |= (byte ^ count) & (0 &- isPadding)
        }
        // 1 if count is 0 or above 16.
        difference |= (count &- 1) >> 31
        difference |= (16 &- count) >> 31
        return difference
    }

    /// Returns the number of padding bytes behind `byteCount` plaintext bytes: 1 to 16.
    static func paddingByteCount(afterPlaintext byteCount: UInt64) -> Int {
        16 - Int(byteCount % 16)
    }
}

/// Returns the result of the padding check, for `Benchmarks/timing-leaks`: 0 if a plaintext's last block has valid
/// padding.
@_spi(TimingLeaks)
public func paddingDifference(in block: Block) -> UInt32 {
    PKCS7.difference(in: block)
}
