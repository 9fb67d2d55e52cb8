/// A hash function: SHA-1, or one of SHA-2.
public enum HashFunction: String, CaseIterable, Hashable, Sendable {
    case sha1, sha256, sha384, sha512

    /// The length of a block in bytes.
    var blockByteCount: Int {
        switch self {
        case .sha1, .sha256: 64
        case .sha384, .sha512: 128
        }
    }

    /// The length of a digest in bytes.
    public var digestByteCount: Int {
        switch self {
        case .sha1: 20
        case .sha256: 32
        case .sha384: 48
        case .sha512: 64
        }
    }

    /// Returns the state of an empty message.
    func makeHash() -> Hash {
        switch self {
        case .sha1: .short(SHA(start: SHAConstants.start1[...], digestByteCount: digestByteCount))
        case .sha256: .short(SHA(start: SHAConstants.start[..<8], digestByteCount: digestByteCount))
        case .sha384: .long(SHA(start: SHAConstants.start[8...], digestByteCount: digestByteCount))
        case .sha512: .long(SHA(start: SHAConstants.start[..<8], digestByteCount: digestByteCount))
        }
    }
}

/// A message that is being hashed, over words of 32 or 64 bits.
enum Hash {
    case short(SHA<UInt32>)
    case long(SHA<UInt64>)

    /// Adds bytes.
    func update(_ bytes: UnsafeRawBufferPointer) {
        switch self {
        case .short(let hash): hash.update(bytes)
        case .long(let hash): hash.update(bytes)
        }
    }

    /// Restarts from the state of another message with the same function.
    func restart(from other: Hash) {
        switch (self, other) {
        case (.short(let hash), .short(let other)): hash.restart(from: other)
        case (.long(let hash), .long(let other)): hash.restart(from: other)
        default: preconditionFailure("two hash functions")
        }
    }

    /// Ends the message and writes its digest to the start of a buffer.
    func finish(into digest: UnsafeMutableRawBufferPointer) {
        switch self {
        case .short(let hash): hash.finish(into: digest)
        case .long(let hash): hash.finish(into: digest)
        }
    }
}

/// SHA-1 and SHA-256 over 32-bit words, SHA-384 and SHA-512 over 64-bit ones: for deriving keys, once per object.
///
/// No branch and no address depends on the hashed bytes. The state is erased with the object.
///
/// - Source: FIPS 180-4.
final class SHA<Word: SHAWord> {

    /// H, then the block being filled, then W, which has 80 words in SHA-1 too.
    private let words: UnsafeMutableBufferPointer<Word>
    private let block: UnsafeMutableRawBufferPointer
    private var filled = 0
    private var byteCount: UInt64 = 0
    private let digestByteCount: Int
    private let isSHA1: Bool

    /// The initial state. Source: section 5.3; SHA-1 has a state of five words.
    init(start: ArraySlice<UInt64>, digestByteCount: Int) {
        self.digestByteCount = digestByteCount
        self.isSHA1 = start.count == 5
        self.words = .allocate(capacity: 8 + 16 + 80)
        words.initialize(repeating: 0)
        self.block = UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: words[8..<24]))
        for (index, value) in start.enumerated() { words[index] = Self.word(value) }
    }

    deinit {
        eraseBytes(UnsafeMutableRawBufferPointer(words))
        words.deallocate()
    }

    /// Adds bytes.
    func update(_ bytes: UnsafeRawBufferPointer) {
        var start = 0
        while start < bytes.count, filled > 0 {
            append(bytes[start])
            start += 1
        }
        while bytes.count - start >= block.count {
            compress(UnsafeRawBufferPointer(rebasing: bytes[start..<start + block.count]))
            start += block.count
            byteCount += UInt64(block.count)
        }
        for index in start..<bytes.count { append(bytes[index]) }
    }

    /// Restarts from the state of another message.
    func restart(from other: SHA) {
        UnsafeMutableRawBufferPointer(words).copyMemory(from: UnsafeRawBufferPointer(other.words))
        (filled, byteCount) = (other.filled, other.byteCount)
    }

    /// Adds one byte.
    func append(_ byte: UInt8) {
        block[filled] = byte
        filled += 1
        byteCount += 1
        if filled == block.count {
            compress(UnsafeRawBufferPointer(block))
            filled = 0
        }
    }

    /// Source: section 5.1; section 6.5 for SHA-384, whose digest is the start of the state.
    func finish(into digest: UnsafeMutableRawBufferPointer) {
        let bitCount = byteCount * 8
        append(0x80)
        // The message's length takes two words; its last 64 bits are enough here.
        while filled != block.count - 2 * MemoryLayout<Word>.size { append(0) }
        while filled != block.count - 8 { append(0) }
        for shift in stride(from: 56, through: 0, by: -8) { append(UInt8(truncatingIfNeeded: bitCount >> shift)) }
        for index in 0..<digestByteCount / MemoryLayout<Word>.size {
            digest.storeBytes(
                of: words[index].bigEndian, toByteOffset: index * MemoryLayout<Word>.size, as: Word.self)
        }
    }

    private func compress(_ block: UnsafeRawBufferPointer) {
        let w = UnsafeMutableBufferPointer(rebasing: words[24...])
        for t in 0..<16 {
            w[t] = Word(
                bigEndian: block.loadUnaligned(fromByteOffset: t * MemoryLayout<Word>.size, as: Word.self))
        }
        if isSHA1 { mix1(w) } else { mix2(w) }
    }

    /// Section 6.1.2.
    private func mix1(_ w: UnsafeMutableBufferPointer<Word>) {
        for t in 16..<80 { w[t] = Self.turned(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], Word.bitWidth - 1) }
        var (a, b, c, d, e) = (words[0], words[1], words[2], words[3], words[4])
        for t in 0..<80 {
            let mixed =
                switch t / 20 {
                case 0: (b & c) ^ (~b & d)
                case 2: (b & c) ^ (b & d) ^ (c & d)
                default: b ^ c ^ d
                }
            let first = Self.turned(a, Word.bitWidth - 5) &+ mixed &+ e
            (e, d, c, b, a) = (
                d, c, Self.turned(b, Word.bitWidth - 30), a, first &+ Self.word(SHAConstants.rounds1[t / 20]) &+ w[t]
            )
        }
        for (index, value) in [a, b, c, d, e].enumerated() { words[index] &+= value }
    }

    /// Sections 6.2.2 and 6.4.2.
    private func mix2(_ w: UnsafeMutableBufferPointer<Word>) {
        for t in 16..<Word.roundCount {
            let early = Self.small(w[t - 15], Word.smallSigma0)
            w[t] = Self.small(w[t - 2], Word.smallSigma1) &+ w[t - 7] &+ early &+ w[t - 16]
        }
        var (a, b, c, d) = (words[0], words[1], words[2], words[3])
        var (e, f, g, h) = (words[4], words[5], words[6], words[7])
        for t in 0..<Word.roundCount {
            let choice = (e & f) ^ (~e & g)
            let first = h &+ Self.big(e, Word.bigSigma1) &+ choice &+ Self.word(SHAConstants.rounds[t]) &+ w[t]
            let majority = (a & b) ^ (a & c) ^ (b & c)
            let second = Self.big(a, Word.bigSigma0) &+ majority
            (h, g, f, e, d, c, b, a) = (g, f, e, d &+ first, c, b, a, first &+ second)
        }
        for (index, value) in [a, b, c, d, e, f, g, h].enumerated() { words[index] &+= value }
    }

    /// Returns the first bits of a constant, as many as a word has.
    private static func word(_ constant: UInt64) -> Word {
        Word(truncatingIfNeeded: constant >> UInt64(64 - Word.bitWidth))
    }

    private static func turned(_ word: Word, _ count: Int) -> Word {
        word >> Word(count) | word << Word(Word.bitWidth - count)
    }

    private static func big(_ word: Word, _ counts: (Int, Int, Int)) -> Word {
        turned(word, counts.0) ^ turned(word, counts.1) ^ turned(word, counts.2)
    }

    private static func small(_ word: Word, _ counts: (Int, Int, Int)) -> Word {
        turned(word, counts.0) ^ turned(word, counts.1) ^ word >> Word(counts.2)
    }
}

/// Digests for other targets.
package enum MessageDigest {
    /// Returns the SHA-256 of bytes.
    ///
    /// - Returns: 32 bytes.
    /// - Source: FIPS 180-4, section 6.2.
    package static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        let hash = HashFunction.sha256.makeHash()
        bytes.withUnsafeBytes { hash.update($0) }
        var digest = [UInt8](repeating: 0, count: HashFunction.sha256.digestByteCount)
        digest.withUnsafeMutableBytes { hash.finish(into: $0) }
        return digest
    }
}

/// A word of 32 or 64 bits, with the constants that distinguish SHA-256 and SHA-512.
///
/// - Source: FIPS 180-4, sections 4.1.2, 4.1.3, 5.3.3, 5.3.5, 6.2 and 6.4.
protocol SHAWord: FixedWidthInteger, UnsignedInteger, BitwiseCopyable {
    /// The number of rounds per block.
    static var roundCount: Int { get }
    /// The three rotations to the right of Σ₀.
    static var bigSigma0: (Int, Int, Int) { get }
    /// The three rotations to the right of Σ₁.
    static var bigSigma1: (Int, Int, Int) { get }
    /// The two rotations to the right of σ₀, and its shift.
    static var smallSigma0: (Int, Int, Int) { get }
    /// The two rotations to the right of σ₁, and its shift.
    static var smallSigma1: (Int, Int, Int) { get }
}

extension UInt32: SHAWord {
    static let roundCount = 64
    static let bigSigma0 = (2, 13, 22)
    static let bigSigma1 = (6, 11, 25)
    static let smallSigma0 = (7, 18, 3)
    static let smallSigma1 = (17, 19, 10)
}

extension UInt64: SHAWord {
    static let roundCount = 80
    static let bigSigma0 = (28, 34, 39)
    static let bigSigma1 = (14, 18, 41)
    static let smallSigma0 = (1, 8, 7)
    static let smallSigma1 = (19, 61, 6)
}

/// Constants. Those of SHA-2 are computed from their definition instead of copied from the standard's tables: the first
/// bits of the fractional parts of roots of the first primes.
///
/// SHA-256 uses the first 32 bits of SHA-512's 64. Source: FIPS 180-4, sections 4.2.2, 4.2.3, 5.3.3 and 5.3.5.
private enum SHAConstants {
    /// The initial state of SHA-1, in the first 32 bits. Source: section 5.3.1.
    static let start1: [UInt64] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0].map { $0 << 32 }

    /// The square roots of 2, 3, 5 and 10, in 32 bits including two integral ones. Source: section 4.2.1.
    static let rounds1: [UInt64] = [2, 3, 5, 10].map { number in
        UInt64(truncatingIfNeeded: largest(below: 1 << 32) { $0 * $0 <= number << 60 } << 32)
    }

    /// The cube roots of the first 80 primes.
    static let rounds: [UInt64] = primes.map { prime in
        // The largest root with root³ ≤ prime · 2¹⁹², without its integral part.
        UInt64(
            truncatingIfNeeded: largest(below: 1 << 67) { root in
                let square = root.multipliedFullWidth(by: root)
                let low = square.low.multipliedFullWidth(by: root)
                // root³ is below 2²⁰⁴, so these sums do not overflow.
                let high = low.high + UInt128(truncatingIfNeeded: square.high) &* root
                return (high, low.low) <= (UInt128(prime) << 64, 0)
            })
    }

    /// The square roots of the first 16 primes: eight for SHA-256 and SHA-512, eight for SHA-384. Source: section
    /// 5.3.4.
    static let start: [UInt64] = primes.prefix(16).map { prime in
        UInt64(
            truncatingIfNeeded: largest(below: 1 << 67) { root in
                let square = root.multipliedFullWidth(by: root)
                return (UInt128(square.high), square.low) <= (UInt128(prime), 0)
            })
    }

    private static let primes: [UInt64] = (2...409).filter { number in
        !(2..<number).contains { $0 * $0 <= number && number.isMultiple(of: $0) }
    }

    /// Returns the largest number below a power of two that is small enough, found bit by bit.
    private static func largest(below limit: UInt128, isSmallEnough: (UInt128) -> Bool) -> UInt128 {
        var root: UInt128 = 0
        var bit = limit >> 1
        while bit > 0 {
            if isSmallEnough(root | bit) { root |= bit }
            bit >>= 1
        }
        return root
    }
}
