import RandomAccess

/// A code of a message under a one-time key: a polynomial modulo 2¹³⁰ − 5, evaluated at half of the key.
///
/// It uses ordinary multiplications and additions with carry, without tables and without branches that depend on the
/// message or the key.
///
/// - Source: RFC 8439, section 2.5, which defines the names used here.
struct Poly1305 {
    /// The bytes behind a message's last block, if it is shorter than 16 bytes.
    enum End {
        /// Zeros, as part of the message. Source: RFC 8439, section 2.8.1.
        case zeros
        /// A bit, and zeros. Source: RFC 8439, section 2.5.1.
        case mark
    }

    // r in two words, and 5/4 of the higher one, which is a multiple of 4.
    private let (r0, r1, r1Times5Quarters): (UInt64, UInt64, UInt64)
    private let s: UInt128
    // The accumulator, whose highest word is at most 4.
    private var (h0, h1, h2): (UInt64, UInt64, UInt64) = (0, 0, 0)

    /// A code under a key of 32 bytes. Source: section 2.5.
    @inline(__always)
    init(_ key: UnsafeRawBufferPointer) {
        let r = UInt128(littleEndian: key.loadUnaligned(as: UInt128.self)) & 0x0ffffffc_0ffffffc_0ffffffc_0fffffff
        s = UInt128(littleEndian: key.loadUnaligned(fromByteOffset: 16, as: UInt128.self))
        (r0, r1) = (r.lowWord, r.highWord)
        r1Times5Quarters = r1 &+ r1 &>> 2
    }

    /// Adds some bytes, starting with a new block.
    @inline(__always)
    mutating func add(_ bytes: UnsafeRawBufferPointer, end: End) {
        let whole = bytes.count & ~15
        for offset in stride(from: 0, to: whole, by: 16) {
            add(UInt128(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt128.self)))
        }
        guard whole < bytes.count else { return }
        var last: UInt128 = 0
        for index in whole..<bytes.count { last |= UInt128(bytes[index]) &<< UInt128(8 * (index - whole)) }
        switch end {
        case .zeros: add(last)
        case .mark: add(last | 1 &<< UInt128(8 * (bytes.count - whole)), bitBehind: 0)
        }
    }

    /// Adds a block: a ← (a + n) · r. Source: section 2.5.1.
    ///
    /// Sums are twice as wide as their words, so that a carry is a number: the compiler may turn a flag into a branch.
    @inline(__always)
    mutating func add(_ block: UInt128, bitBehind: UInt64 = 1) {
        let sum0 = UInt128(h0) &+ UInt128(block.lowWord)
        let sum1 = UInt128(h1) &+ UInt128(block.highWord) &+ UInt128(sum0.highWord)
        // The highest word is at most 6.
        let (a0, a1, a2) = (sum0.lowWord, sum1.lowWord, h2 &+ bitBehind &+ sum1.highWord)
        // Products of 2¹²⁸ and beyond are divided by 2¹³⁰ and multiplied by 5. r is below 2¹²⁴, so no sum overflows.
        let d0 = product(a0, r0) &+ product(a1, r1Times5Quarters)
        let d1 = product(a0, r1) &+ product(a1, r0) &+ product(a2, r1Times5Quarters) &+ UInt128(d0.highWord)
        let d2 = a2 &* r0 &+ d1.highWord
        // Adds the part above 2¹³⁰ five times: four times and once.
        let reduced0 = UInt128(d0.lowWord) &+ UInt128((d2 & ~3) &+ d2 &>> 2)
        let reduced1 = UInt128(d1.lowWord) &+ UInt128(reduced0.highWord)
        (h0, h1, h2) = (reduced0.lowWord, reduced1.lowWord, d2 & 3 &+ reduced1.highWord)
    }

    /// The code: (a mod 2¹³⁰ − 5) + s, modulo 2¹²⁸.
    var tag: Block {
        // a − (2¹³⁰ − 5) if that is not negative, chosen without a branch.
        let difference0 = UInt128(h0) &+ 5
        let difference1 = UInt128(h1) &+ UInt128(difference0.highWord)
        let mask = 0 &- ((h2 &+ difference1.highWord) &>> 2)
        let low = difference0.lowWord & mask | h0 & ~mask
        let high = difference1.lowWord & mask | h1 & ~mask
        return Block(bigEndianValue: ((UInt128(high) &<< 64 | UInt128(low)) &+ s).byteSwapped)
    }
}

/// Returns the full product of two words, which is one instruction.
@inline(__always)
private func product(_ left: UInt64, _ right: UInt64) -> UInt128 { UInt128(left) &* UInt128(right) }

extension UInt128 {
    @inline(__always)
    fileprivate var lowWord: UInt64 { UInt64(truncatingIfNeeded: self) }

    @inline(__always)
    fileprivate var highWord: UInt64 { UInt64(truncatingIfNeeded: self &>> 64) }
}
