import RandomAccess

/// AES on single blocks. Source: FIPS 197, section 5.
struct AESBlockCipher: Sendable {
    private let schedule: KeySchedule
    private let boxes = SubstitutionBoxes.shared

    init(_ key: SecretKey) {
        self.schedule = KeySchedule(key)
    }

    /// CIPHER(). Source: FIPS 197, section 5.1, algorithm 1.
    func encrypt(_ block: Block) -> Block {
        var state = AESState(block)
        state.addRoundKey(schedule, round: 0)
        for round in 1..<schedule.roundCount {
            state.subBytes(boxes)
            state.shiftRows()
            state.mixColumns()
            state.addRoundKey(schedule, round: round)
        }
        state.subBytes(boxes)
        state.shiftRows()
        state.addRoundKey(schedule, round: schedule.roundCount)
        return state.block
    }

    /// INVCIPHER(). Source: FIPS 197, section 5.3, algorithm 3.
    func decrypt(_ block: Block) -> Block {
        var state = AESState(block)
        state.addRoundKey(schedule, round: schedule.roundCount)
        for round in stride(from: schedule.roundCount - 1, to: 0, by: -1) {
            state.invShiftRows()
            state.invSubBytes(boxes)
            state.addRoundKey(schedule, round: round)
            state.invMixColumns()
        }
        state.invShiftRows()
        state.invSubBytes(boxes)
        state.addRoundKey(schedule, round: 0)
        return state.block
    }
}

/// The 4 × 4 array of bytes that AES works on, and the steps of a round.
///
/// Byte *i* of a block is row *i* mod 4, column *i* div 4. Source: FIPS 197, section 3.4. The steps are written like
/// the standard's, one column after another. Table look-ups depend on secrets, so this code must not process secrets
/// that another program on the machine could time.
struct AESState {
    /// The columns, each a word of the standard: row 0 is its most significant byte. Source: section 3.5.
    var columns: InlineArray<4, UInt32>

    /// The input of a cipher. Source: section 3.4, equation (3.6).
    init(_ block: Block) {
        let value = block.bigEndianValue
        columns = InlineArray { UInt32(truncatingIfNeeded: value >> (96 - 32 * UInt128($0))) }
    }

    /// The output of a cipher. Source: section 3.4, equation (3.7).
    var block: Block {
        var value: UInt128 = 0
        for c in 0..<4 { value = value << 32 | UInt128(columns[c]) }
        return Block(bigEndianValue: value)
    }

    /// SUBBYTES(). Source: section 5.1.1.
    @inline(__always)
    mutating func subBytes(_ boxes: SubstitutionBoxes) { substitute { boxes.forward[Int($0)] } }

    /// SHIFTROWS(): row r moves r columns to the left. Source: section 5.1.2, equation (5.5).
    @inline(__always)
    mutating func shiftRows() {
        let s = columns
        for c in 0..<4 {
            columns[c] =
                s[c] & 0xff00_0000 | s[(c + 1) & 3] & 0x00ff_0000 | s[(c + 2) & 3] & 0x0000_ff00
                | s[(c + 3) & 3] & 0x0000_00ff
        }
    }

    /// MIXCOLUMNS(): each column times {02} {03} {01} {01}, rotated by rows. Source: section 5.1.3, equation (5.8).
    @inline(__always)
    mutating func mixColumns() {
        for c in 0..<4 {
            let s = columns[c]
            // {03}·s = {02}·s ⊕ s, so {02}·s0 ⊕ {03}·s1 = {02}·(s0 ⊕ s1) ⊕ s1; a rotation by 8 bits is one by a row.
            let s1 = rotateLeft(s, 8)
            columns[c] = GaloisField.xTimes(s ^ s1) ^ s1 ^ rotateLeft(s, 16) ^ rotateLeft(s, 24)
        }
    }

    /// ADDROUNDKEY(), its own inverse. Source: sections 5.1.4 and 5.3.4.
    @inline(__always)
    mutating func addRoundKey(_ schedule: KeySchedule, round: Int) {
        for c in 0..<4 { columns[c] ^= schedule.word(4 * round + c) }
    }

    /// INVSHIFTROWS(): row r moves r columns to the right. Source: section 5.3.1, equation (5.12).
    @inline(__always)
    mutating func invShiftRows() {
        let s = columns
        for c in 0..<4 {
            columns[c] =
                s[c] & 0xff00_0000 | s[(c + 3) & 3] & 0x00ff_0000 | s[(c + 2) & 3] & 0x0000_ff00
                | s[(c + 1) & 3] & 0x0000_00ff
        }
    }

    /// INVSUBBYTES(). Source: section 5.3.2.
    @inline(__always)
    mutating func invSubBytes(_ boxes: SubstitutionBoxes) { substitute { boxes.inverse[Int($0)] } }

    /// INVMIXCOLUMNS(): each column times {0e} {0b} {0d} {09}, rotated by rows. Source: section 5.3.3, equation (5.15).
    @inline(__always)
    mutating func invMixColumns() {
        for c in 0..<4 {
            // With {0e} = {02} ⊕ {0c}, {0b} = {03} ⊕ {08}, {0d} = {01} ⊕ {0c}, {09} = {01} ⊕ {08}, the product is
            // MIXCOLUMNS() of the column after {04}·(s0 ⊕ s2) is added to s0 and s2, and {04}·(s1 ⊕ s3) to s1 and s3.
            let sums = columns[c] ^ rotateLeft(columns[c], 16)
            columns[c] ^= GaloisField.xTimes(GaloisField.xTimes(sums))
        }
        mixColumns()
    }

    @inline(__always)
    private mutating func substitute(_ box: (UInt8) -> UInt8) {
        for c in 0..<4 {
            let s = columns[c]
            let (high, low) = (UInt16(truncatingIfNeeded: s >> 16), UInt16(truncatingIfNeeded: s))
            columns[c] =
                UInt32(box(UInt8(high >> 8))) << 24 | UInt32(box(UInt8(truncatingIfNeeded: high))) << 16
                | UInt32(box(UInt8(low >> 8))) << 8 | UInt32(box(UInt8(truncatingIfNeeded: low)))
        }
    }
}

/// The round keys. Source: FIPS 197, section 5.2.
final class KeySchedule: Sendable {
    /// The number of rounds Nr: 10, 12 or 14. Source: section 5, table 3.
    let roundCount: Int

    // Written in `init` only.
    nonisolated(unsafe) private let storage: UnsafeMutableBufferPointer<UInt8>

    /// KEYEXPANSION(). Source: section 5.2, algorithm 2.
    init(_ key: SecretKey) {
        let keyWordCount = key.byteCount / 4
        let roundCount = keyWordCount + 6
        let byteCount = 16 * (roundCount + 1)
        let w = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: byteCount)
        key.withUnsafeBytes { bytes in
            for index in 0..<byteCount { w[index] = index < bytes.count ? bytes[index] : 0 }
        }
        let boxes = SubstitutionBoxes.shared
        func sbox(_ byte: UInt8) -> UInt8 { boxes.forward[Int(byte)] }
        var roundConstant: UInt8 = 1
        for i in keyWordCount..<4 * (roundCount + 1) {
            var word = (w[4 * i - 4], w[4 * i - 3], w[4 * i - 2], w[4 * i - 1])
            if i % keyWordCount == 0 {
                // SUBWORD(ROTWORD(temp)) ⊕ Rcon[i/Nk]; Rcon is the next power of x. Equations (5.10), (5.11), table 5.
                word = (
                    sbox(word.1) ^ roundConstant, sbox(word.2), sbox(word.3), sbox(word.0)
                )
                roundConstant = GaloisField.xTimes(roundConstant)
            } else if keyWordCount > 6, i % keyWordCount == 4 {
                word = (sbox(word.0), sbox(word.1), sbox(word.2), sbox(word.3))
            }
            let before = 4 * (i - keyWordCount)
            w[4 * i] = w[before] ^ word.0
            w[4 * i + 1] = w[before + 1] ^ word.1
            w[4 * i + 2] = w[before + 2] ^ word.2
            w[4 * i + 3] = w[before + 3] ^ word.3
        }
        self.roundCount = roundCount
        self.storage = w
    }

    deinit {
        eraseBytes(UnsafeMutableRawBufferPointer(storage))
        storage.deallocate()
        eraseStack()
    }

    /// Returns the word w[i] of the key expansion, 0 to 4 × `roundCount` + 3.
    @inline(__always)
    func word(_ index: Int) -> UInt32 {
        UnsafeRawBufferPointer(storage).loadUnaligned(fromByteOffset: 4 * index, as: UInt32.self).bigEndian
    }
}

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

@inline(__always)
private func rotateLeft<Word: FixedWidthInteger>(_ word: Word, _ count: Word) -> Word {
    word &<< count | word &>> (Word(Word.bitWidth) &- count)
}

/// Arithmetic on bytes as elements of GF(2⁸). Source: FIPS 197 (2023 update), section 4.
enum GaloisField {
    /// Multiplication by x, that is by {02}, modulo x⁸ + x⁴ + x³ + x + 1. Source: section 4.2, equation (4.5).
    @inline(__always)
    static func xTimes(_ b: UInt8) -> UInt8 {
        // Adds {1b} if the highest bit is shifted out, without a branch.
        b &<< 1 ^ (0x1b & (0 &- (b &>> 7)))
    }

    /// Multiplication by x in each of four bytes.
    @inline(__always)
    static func xTimes(_ column: UInt32) -> UInt32 {
        let high = column & 0x8080_8080
        return (column ^ high) &<< 1 ^ ((high &- high &>> 7) & 0x1b1b_1b1b)
    }

    /// Multiplication. Source: section 4.2.
    static func multiply(_ a: UInt8, _ b: UInt8) -> UInt8 {
        var product: UInt8 = 0
        var power = a
        for bit in 0..<8 {
            if b >> bit & 1 == 1 { product ^= power }
            power = xTimes(power)
        }
        return product
    }

    /// The multiplicative inverse b⁻¹ = b²⁵⁴; {00} goes to itself. Source: section 4.4, equation (4.10).
    static func inverse(_ b: UInt8) -> UInt8 {
        (0..<254).reduce(1) { power, _ in multiply(power, b) }
    }
}
