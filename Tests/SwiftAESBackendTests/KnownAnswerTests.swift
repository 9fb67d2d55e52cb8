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
        let all = (0...schedule.roundCount).flatMap { round in (0..<16).map { schedule.byte($0, ofRound: round) } }
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
