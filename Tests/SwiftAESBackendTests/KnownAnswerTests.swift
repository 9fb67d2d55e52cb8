import RandomAccess
import Testing

@testable import SwiftAESBackend

func bytes(_ hex: String) -> [UInt8] {
    let digits = hex.filter { !$0.isWhitespace }.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

@Suite("the Swift AES against what FIPS 197 prints")
struct KnownAnswerTests {
    struct Expansion: Sendable, CustomTestStringConvertible {
        var section: String
        var key: String
        var firstDerived: String
        var last: String
        var testDescription: String { section }
    }

    @Test(
        "the key schedule has the words of appendix A",
        arguments: [
            Expansion(
                section: "A.1", key: "2b7e151628aed2a6abf7158809cf4f3c", firstDerived: "a0fafe17", last: "b6630ca6"),
            Expansion(
                section: "A.2", key: "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b", firstDerived: "fe0c91f7",
                last: "01002202"),
            Expansion(
                section: "A.3", key: "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
                firstDerived: "9ba35411", last: "706c631e"),
        ])
    func keySchedule(_ expansion: Expansion) throws {
        let key = bytes(expansion.key)
        let schedule = KeySchedule(try SecretKey(key))
        #expect(schedule.roundCount == key.count / 4 + 6)
        let all = (0...schedule.roundCount).flatMap(schedule.roundKey)
        #expect(Array(all.prefix(key.count)) == key)
        #expect(Array(all[key.count..<key.count + 4]) == bytes(expansion.firstDerived))
        #expect(Array(all.suffix(4)) == bytes(expansion.last))
    }

    @Test("the S-boxes have the first and last rows of tables 4 and 6, and undo each other")
    func substitutionBoxes() {
        let boxes = SubstitutionBoxes.shared
        let forward = (0..<256).map { boxes.forward[$0] }
        let inverse = (0..<256).map { boxes.inverse[$0] }
        #expect(Array(forward.prefix(16)) == bytes("637c777bf26b6fc53001672bfed7ab76"))
        #expect(Array(forward.suffix(16)) == bytes("8ca1890dbfe6426841992d0fb054bb16"))
        #expect(Array(inverse.prefix(16)) == bytes("52096ad53036a538bf40a39e81f3d7fb"))
        #expect(Array(inverse.suffix(16)) == bytes("172b047eba77d626e169146355210c7d"))
        #expect(forward.map { inverse[Int($0)] } == Array(0...255))
    }

    @Test("products in GF(2^8) are those of section 4.2")
    func products() {
        #expect(GaloisField.multiply(0x57, 0x13) == 0xfe)
        #expect(GaloisField.multiply(0x57, 0x83) == 0xc1)
        #expect((1...255).allSatisfy { GaloisField.multiply(UInt8($0), GaloisField.inverse(UInt8($0))) == 1 })
        #expect(GaloisField.inverse(0) == 0)
    }

    @Test(
        "single blocks are those of appendix C",
        arguments: [
            (16, "69c4e0d86a7b0430d8cdb78070b4c55a"), (24, "dda97ca4864cdfe06eaf70a0ec0d7191"),
            (32, "8ea2b7ca516745bfeafc49904b496089"),
        ])
    func singleBlocks(keyByteCount: Int, ciphertext: String) throws {
        let cipher = AESBlockCipher(try SecretKey((0..<keyByteCount).map { UInt8($0) }))
        let plaintext = try Block(bytes("00112233445566778899aabbccddeeff"))
        #expect(cipher.encrypt(plaintext).bytes == bytes(ciphertext))
        #expect(cipher.decrypt(try Block(bytes(ciphertext))) == plaintext)
    }
}

@Suite("GHASH")
struct GHASHTests {
    /// Algorithm 1 of NIST SP 800-38D, section 6.3, bit by bit.
    private static func product(_ x: UInt128, _ y: UInt128) -> UInt128 {
        var (z, v): (UInt128, UInt128) = (0, y)
        for bit in 0..<128 {
            if x >> UInt128(127 - bit) & 1 == 1 { z ^= v }
            v = v & 1 == 0 ? v >> 1 : v >> 1 ^ UInt128(0xe1) << 120
        }
        return z
    }

    private static func block(_ value: UInt128) -> Block { Block(bigEndianValue: value) }

    @Test("products are those of the standard's algorithm")
    func products() {
        var random = SplitMix(state: 5)
        var values: [UInt128] = [0, 1, 2, 1 << 63, 1 << 64, 1 << 127, .max, .max >> 64, .max << 64, 0xe1 << 120]
        for _ in 0..<40 {
            values.append(random.bytes(16).reduce(0) { $0 << 8 | UInt128($1) })
        }
        for x in values {
            for y in values {
                let found = (Polynomial(Self.block(x)) * Polynomial(Self.block(y))).block
                #expect(found == Self.block(Self.product(x, y)), "\(x) · \(y)")
            }
        }
    }

    /// Source: McGrew and Viega, "The Galois/Counter Mode of Operation (GCM)", appendix B, test case 2.
    @Test("the hash is that of the published case")
    func knownAnswer() {
        var hash = GHASH(key: Polynomial(Self.block(0x66e9_4bd4_ef8a_2c3b_884c_fa59_ca34_2b2e)))
        let ciphertext = Self.block(0x0388_dace_60b6_a392_f328_c2b9_71b2_fe78)
        let found = ciphertext.withUnsafeBytes { hash.hash($0) }
        #expect(found == Self.block(0xf38c_bb1a_d692_23dc_c345_7ae5_b6b0_f885))
    }
}

/// Bytes that look random and are the same in each run.
///
/// - Source: Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators" (OOPSLA 2014), figure 17.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }

    mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
    }
}

extension KeySchedule {
    /// The 16 bytes of a round's key.
    func roundKey(_ round: Int) -> [UInt8] {
        var state = AESState(Block(bigEndianValue: 0))
        state.addRoundKey(self, round: round)
        return state.block.bytes
    }
}
