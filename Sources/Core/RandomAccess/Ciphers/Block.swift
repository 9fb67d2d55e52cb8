/// One AES block: 16 bytes, seen as a big-endian number.
///
/// IVs and counter blocks are blocks. Adding to one carries through all 128 bits and wraps at 2¹²⁸, which is what CTR
/// (NIST SP 800-38A, appendix B.1, with m = 128) and the IV rule `sequence` ask for.
public struct Block: Hashable, Sendable {
    /// The length of a block in bytes.
    public static let byteCount = 16

    /// The block as a number; its first byte is the most significant one.
    public var bigEndianValue: UInt128

    /// Creates a block from its value as a big-endian number.
    @inlinable
    public init(bigEndianValue: UInt128) {
        self.bigEndianValue = bigEndianValue
    }

    /// Reads the block that starts at byte `offset` of some memory, at any alignment.
    @inlinable
    public init(loadingFrom bytes: UnsafeRawBufferPointer, at offset: Int = 0) {
        self.bigEndianValue = UInt128(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt128.self))
    }

    /// Creates a block from 16 bytes.
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

    /// Calls `body` with the 16 bytes in order.
    @inlinable
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let value = bigEndianValue.bigEndian
        return try Swift.withUnsafeBytes(of: value, body)
    }

    /// Writes the 16 bytes in order to `destination`, from its byte `offset` on, at any alignment.
    @inlinable
    public func store(to destination: UnsafeMutableRawBufferPointer, at offset: Int = 0) {
        destination.storeBytes(of: bigEndianValue.bigEndian, toByteOffset: offset, as: UInt128.self)
    }

    /// The block `count` steps on, modulo 2¹²⁸.
    public func advanced(by count: UInt64) -> Block {
        Block(bigEndianValue: bigEndianValue &+ UInt128(count))
    }

    /// The product with x in GF(2¹²⁸), of which the first bit is the highest power. Source: RFC 5297, section 2.3
    /// (`dbl`); RFC 7253, section 2 (`double`).
    package var doubled: Block {
        // {87} where the highest bit falls out, chosen without a branch.
        Block(bigEndianValue: bigEndianValue &<< 1 ^ (0x87 & (0 &- (bigEndianValue &>> 127))))
    }

    /// The bitwise sum of two blocks. Source: NIST SP 800-38A, section 4.2 (`X ⊕ Y`).
    @inlinable
    public static func ^ (left: Block, right: Block) -> Block {
        Block(bigEndianValue: left.bigEndianValue ^ right.bigEndianValue)
    }
}

extension Block {
    /// Calls `body` with a nonce for a cipher: the block's first bytes, or all of them with zeros behind.
    package func withNonce<Result>(
        for cipher: Cipher, _ body: (UnsafeRawBufferPointer) throws(DecryptionError) -> Result
    ) throws(DecryptionError) -> Result {
        var space = InlineArray<4, UInt64>(repeating: 0)
        return try Swift.withUnsafeMutableBytes(of: &space) { (space) throws(DecryptionError) in
            store(to: space)
            return try body(UnsafeRawBufferPointer(rebasing: space[..<cipher.nonceByteCount]))
        }
    }
}

/// The padding of RFC 5652, section 6.3.
package enum PKCS7 {
    /// The number of padding bytes in a plaintext's last block, or `nil` if it is not padded.
    static func paddingByteCount(of block: Block) -> Int? {
        difference(in: block) == 0 ? Int(block.bigEndianValue & 0xFF) : nil
    }

    /// 0 if a plaintext's last block is padded, something else if not.
    ///
    /// Takes the same steps whatever the block holds: which byte is wrong, or how many are, cannot be told from the
    /// time (Vaudenay 2002).
    package static func difference(in block: Block) -> UInt32 {
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
        return difference
    }

    /// The padding bytes that follow `byteCount` plaintext bytes: 1 to 16.
    static func paddingByteCount(afterPlaintext byteCount: UInt64) -> Int {
        16 - Int(byteCount % 16)
    }
}

/// What the check of padding works out, for `Benchmarks/timing-leaks`: 0 if a plaintext's last block is padded.
@_spi(TimingLeaks)
public func paddingDifference(in block: Block) -> UInt32 {
    PKCS7.difference(in: block)
}
