public import RandomAccess

/// Galois/Counter Mode over one of the AES ciphers here: its counter mode, and GHASH.
///
/// The tag is compared before anything is decrypted, so an unauthentic message never becomes plaintext.
///
/// - Source: NIST SP 800-38D, sections 7.1 and 7.2, with tags of 128 bits.
final class SwiftGCMContext<Counters: CipherContext>: CipherContext {
    private let support: CipherSupport
    private let backend: String
    private let counters: Counters
    private let direction: CipherDirection
    /// H: an encrypted block of zeros.
    private let hashKey: UnsafeMutablePointer<Polynomial>

    /// Computes the hash key with `counters`, which is counter mode under the key.
    init(
        _ support: CipherSupport, _ direction: CipherDirection, backend: String, counters: Counters
    ) throws(DecryptionError) {
        self.support = support
        self.backend = backend
        self.counters = counters
        self.direction = direction
        self.hashKey = .allocate(capacity: 1)
        hashKey.initialize(to: Polynomial(high: 0, low: 0))
        hashKey.pointee = Polynomial(try Self.encrypted(Block(bigEndianValue: 0), counters))
    }

    deinit {
        eraseBytes(UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(start: hashKey, count: 1)))
        hashKey.deallocate()
        eraseStack()
    }

    func process(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, nonce: UnsafeRawBufferPointer,
        associatedData: UnsafeRawBufferPointer
    ) throws(DecryptionError) -> Bool {
        try support.check(nonce: nonce, in: backend)
        let tagByteCount = support.cipher.tagByteCount
        let start = firstCounter(nonce)
        if direction == .encrypt {
            try applyCounters(input, into: output, start: start)
            let ciphertext = UnsafeRawBufferPointer(start: output, count: input.count)
            let tag = UnsafeMutableRawBufferPointer(start: output + input.count, count: tagByteCount)
            try self.tag(of: ciphertext, associatedData, start: start).store(to: tag)
            return true
        }
        guard input.count >= tagByteCount else {
            throw .backend(name: backend, operation: "gcm", reason: "only \(input.count) bytes")
        }
        let ciphertext = UnsafeRawBufferPointer(rebasing: input[..<(input.count - tagByteCount)])
        let found = UnsafeRawBufferPointer(rebasing: input[(input.count - tagByteCount)...])
        let tag = try tag(of: ciphertext, associatedData, start: start)
        guard tag.withUnsafeBytes({ isEqualInConstantTime($0, found) }) else { return false }
        try applyCounters(ciphertext, into: output, start: start)
        return true
    }

    /// J₀: a nonce of 96 bits and the number 1, or the hash of any other nonce. Source: section 7.1, step 2.
    private func firstCounter(_ nonce: UnsafeRawBufferPointer) -> Block {
        guard nonce.count == 12 else {
            var hash = GHASH(key: hashKey.pointee)
            return hash.hash(nonce)
        }
        return Block(bigEndianValue: nonce.reduce(0) { $0 << 8 | UInt128($1) } << 32 | 1)
    }

    /// C = GCTR(inc₃₂(J₀), P): the counter is the lowest 32 bits, without a carry out of them.
    private func applyCounters(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, start: Block
    ) throws(DecryptionError) {
        guard UInt64(input.count) < Self.largestByteCount else {
            throw .backend(name: backend, operation: "gcm", reason: "a message of \(input.count) bytes")
        }
        let first = UInt128(UInt32(truncatingIfNeeded: start.bigEndianValue) &+ 1)
        let high = (start.bigEndianValue >> 32) << 32
        let split = min(input.count, 16 * Int(1 << 32 - first))
        try counters.process(
            UnsafeRawBufferPointer(rebasing: input[..<split]), into: output, iv: Block(bigEndianValue: high | first))
        guard split < input.count else { return }
        try counters.process(
            UnsafeRawBufferPointer(rebasing: input[split...]), into: output + split, iv: Block(bigEndianValue: high))
    }

    /// T = GCTR(J₀, GHASH(A ‖ 0… ‖ C ‖ 0… ‖ lengths)).
    private func tag(
        of ciphertext: UnsafeRawBufferPointer, _ associatedData: UnsafeRawBufferPointer, start: Block
    ) throws(DecryptionError) -> Block {
        var hash = GHASH(key: hashKey.pointee)
        return hash.hash(ciphertext, after: associatedData) ^ (try Self.encrypted(start, counters))
    }

    /// CIPH(block): counter mode of a block of zeros.
    private static func encrypted(_ block: Block, _ counters: Counters) throws(DecryptionError) -> Block {
        var bytes: UInt128 = 0
        try withUnsafeMutableBytes(of: &bytes) { (bytes) throws(DecryptionError) in
            try counters.process(inPlace: bytes, iv: block)
        }
        return Block(bigEndianValue: UInt128(bigEndian: bytes))
    }

    /// Section 5.2.1.1: at most 2³⁹ − 256 bits.
    private static var largestByteCount: UInt64 { 1 << 36 - 32 }
}

/// The hash under GCM's tags: a polynomial over GF(2¹²⁸), evaluated at the hash key.
///
/// - Source: NIST SP 800-38D, sections 6.3 and 6.4.
struct GHASH {
    private let key: Polynomial
    private var sum = Polynomial(high: 0, low: 0)

    init(key: Polynomial) {
        self.key = key
    }

    /// GHASH(A ‖ zeros ‖ C ‖ zeros ‖ [len(A)]₆₄ ‖ [len(C)]₆₄). Without A, it is also the J₀ of a nonce C.
    mutating func hash(
        _ ciphertext: UnsafeRawBufferPointer, after associatedData: UnsafeRawBufferPointer = .init(start: nil, count: 0)
    ) -> Block {
        add(associatedData)
        add(ciphertext)
        add(Block(bigEndianValue: UInt128(associatedData.count) * 8 << 64 | UInt128(ciphertext.count) * 8))
        return sum.block
    }

    /// Adds some bytes, padded with zeros to whole blocks.
    private mutating func add(_ bytes: UnsafeRawBufferPointer) {
        let wholeByteCount = bytes.count / Block.byteCount * Block.byteCount
        for offset in stride(from: 0, to: wholeByteCount, by: Block.byteCount) {
            add(Block(loadingFrom: bytes, at: offset))
        }
        if wholeByteCount < bytes.count {
            var last: UInt128 = 0
            for (index, byte) in bytes[wholeByteCount...].enumerated() {
                last |= UInt128(byte) << UInt128(120 - 8 * index)
            }
            add(Block(bigEndianValue: last))
        }
    }

    /// Yᵢ = (Yᵢ₋₁ ⊕ Xᵢ) • H. Source: section 6.4, algorithm 2.
    private mutating func add(_ block: Block) {
        sum = (sum + Polynomial(block)) * key
    }
}

/// Returns the hash of a ciphertext under a hash key, for `Benchmarks/timing-leaks`.
@_spi(TimingLeaks)
public func ghash(key: Block, _ ciphertext: UnsafeRawBufferPointer) -> Block {
    var hash = GHASH(key: Polynomial(key))
    return hash.hash(ciphertext)
}

/// An element of GF(2¹²⁸) in GCM's representation: a block whose first bit is the coefficient of 1, and its last that
/// of x¹²⁷.
///
/// Products use ordinary multiplications, without tables and without branches. The time does not depend on the factors,
/// if the machine multiplies integers in constant time.
///
/// - Source: NIST SP 800-38D, section 6.3.
struct Polynomial: Hashable {
    /// The coefficients of 1 to x⁶³, from the highest bit down.
    var high: UInt64
    /// The coefficients of x⁶⁴ to x¹²⁷, from the highest bit down.
    var low: UInt64

    init(high: UInt64, low: UInt64) {
        (self.high, self.low) = (high, low)
    }

    @inline(__always)
    init(_ block: Block) {
        self.high = UInt64(truncatingIfNeeded: block.bigEndianValue >> 64)
        self.low = UInt64(truncatingIfNeeded: block.bigEndianValue)
    }

    var block: Block { Block(bigEndianValue: UInt128(high) << 64 | UInt128(low)) }

    @inline(__always)
    static func + (left: Polynomial, right: Polynomial) -> Polynomial {
        Polynomial(high: left.high ^ right.high, low: left.low ^ right.low)
    }

    /// The product modulo x¹²⁸ + x⁷ + x² + x + 1.
    ///
    /// Both factors are split into halves, and three products of halves suffice (Karatsuba and Ofman 1962): for a₁x⁶⁴ +
    /// a₀ and b₁x⁶⁴ + b₀, the middle one is (a₀ + a₁)(b₀ + b₁) − a₀b₀ − a₁b₁.
    @inline(__always)
    static func * (left: Polynomial, right: Polynomial) -> Polynomial {
        let first = product(left.high, right.high)
        let last = product(left.low, right.low)
        let both = product(left.high ^ left.low, right.high ^ right.low)
        let (middleHigh, middleLow) = (both.high ^ first.high ^ last.high, both.low ^ first.low ^ last.low)
        // Four words: coefficients of 1…, x⁶⁴…, x¹²⁸…, x¹⁹²….
        return reduced(first.high, first.low ^ middleHigh, last.high ^ middleLow, last.low)
    }

    /// Reduces x¹²⁸ and beyond: x¹²⁸⁺ⁿ = xⁿ⁺⁷ + xⁿ⁺² + xⁿ⁺¹ + xⁿ. A higher power is further to the right.
    @inline(__always)
    private static func reduced(_ w0: UInt64, _ w1: UInt64, _ w2: UInt64, _ w3: UInt64) -> Polynomial {
        // Reducing x¹⁹² and beyond yields terms at x¹²⁸ and beyond again.
        let third = w2 ^ w3 &<< 57 ^ w3 &<< 62 ^ w3 &<< 63
        return Polynomial(
            high: w0 ^ third ^ third &>> 1 ^ third &>> 2 ^ third &>> 7,
            low: w1 ^ w3 ^ w3 &>> 1 ^ w3 &>> 2 ^ w3 &>> 7 ^ third &<< 57 ^ third &<< 62 ^ third &<< 63)
    }

    /// Returns the product of two polynomials of degree 63 at most. Its degree is at most 126, so that the last bit is
    /// zero.
    @inline(__always)
    private static func product(_ left: UInt64, _ right: UInt64) -> (high: UInt64, low: UInt64) {
        // An integer product adds up where a polynomial product only flips a bit, and carries everything above 1. With
        // four of five bits cleared, at most thirteen ones add up in one position, and their carries stay within the
        // four bits above it, which are ignored. (Pornin, BearSSL, "Constant-Time Mul": the same with three bits of
        // four.)
        var (high, low): (UInt64, UInt64) = (0, 0)
        for residue: UInt64 in 0..<5 {
            var (sumHigh, sumLow): (UInt64, UInt64) = (0, 0)
            for part: UInt64 in 0..<5 {
                let product = (left & every5thBit &<< part)
                    .multipliedFullWidth(by: right & every5thBit &<< ((residue &+ 5 &- part) % 5))
                sumHigh ^= product.high
                sumLow ^= product.low
            }
            // The 64th bit is the fourth of five.
            high |= sumHigh & every5thBit &<< ((residue &+ 1) % 5)
            low |= sumLow & every5thBit &<< residue
        }
        // Bit i of an integer is the coefficient of x⁶³⁻ⁱ here, so that the product's bit i is that of x¹²⁶⁻ⁱ.
        return (high &<< 1 | low &>> 63, low &<< 1)
    }

    private static var every5thBit: UInt64 { 0x1084_2108_4210_8421 }
}
