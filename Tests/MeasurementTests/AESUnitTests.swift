import Testing

@testable import Measurement

private func bytes(_ hex: String) -> [UInt8] {
    let digits = hex.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

/// A decryption that FIPS 197 or SP 800-38A prints.
struct PrintedBlocks: Sendable, CustomTestStringConvertible {
    var name: String
    var key: String
    var ciphertext: String
    var plaintext: String
    var testDescription: String { name }

    static let appendixC = "00112233445566778899aabbccddeeff"
    static let messages =
        "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
        + "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"

    static let all = [
        PrintedBlocks(
            name: "FIPS 197, C.1", key: "000102030405060708090a0b0c0d0e0f",
            ciphertext: "69c4e0d86a7b0430d8cdb78070b4c55a", plaintext: appendixC),
        PrintedBlocks(
            name: "FIPS 197, C.2", key: "000102030405060708090a0b0c0d0e0f1011121314151617",
            ciphertext: "dda97ca4864cdfe06eaf70a0ec0d7191", plaintext: appendixC),
        PrintedBlocks(
            name: "FIPS 197, C.3", key: "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
            ciphertext: "8ea2b7ca516745bfeafc49904b496089", plaintext: appendixC),
        PrintedBlocks(
            name: "SP 800-38A, F.1.2", key: "2b7e151628aed2a6abf7158809cf4f3c",
            ciphertext: "3ad77bb40d7a3660a89ecaf32466ef97f5d3d58503b9699de785895a96fdbaaf"
                + "43b1cd7f598ece23881b00e3ed0306887b0c785e27e8ad3f8223207104725dd4", plaintext: messages),
        PrintedBlocks(
            name: "SP 800-38A, F.1.4", key: "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b",
            ciphertext: "bd334f1d6e45f25ff712a214571fa5cc974104846d0ad3ad7734ecb3ecee4eef"
                + "ef7afd2270e2e60adce0ba2face6444e9a4b41ba738d6c72fb16691603c18e0e", plaintext: messages),
        PrintedBlocks(
            name: "SP 800-38A, F.1.6", key: "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
            ciphertext: "f3eed1bdb5d2a03c064b5a7e3db181f8591ccb10d410ed26dc5ba74a31362870"
                + "b6ed21b99ca6f4f9f153e7b1beafed1d23304b7a39f9f3ff067d8d8f9e24ecc7", plaintext: messages),
    ]
}

@Suite("AES instructions")
struct AESUnitTests {
    @Test(
        "every unit of this CPU decrypts what the standards print, in batches and one by one, in place or not",
        .enabled(if: !AESUnit.present.isEmpty, "this CPU has no AES instructions"),
        arguments: AESUnit.present, PrintedBlocks.all)
    func knownAnswers(unit: AESUnit, printed: PrintedBlocks) throws {
        let key = try #require(AESUnitKey(unit: unit, key: bytes(printed.key)))
        let (ciphertext, plaintext) = (bytes(printed.ciphertext), bytes(printed.plaintext))
        // Up to two of the largest batches, and what is left over.
        for blockCount in 0...100 {
            let repeats = blockCount * 16 / ciphertext.count + 1
            let input = Array([[UInt8]](repeating: ciphertext, count: repeats).joined().prefix(16 * blockCount))
            let expected = Array([[UInt8]](repeating: plaintext, count: repeats).joined().prefix(16 * blockCount))
            var output = [UInt8](repeating: 0, count: input.count)
            input.withUnsafeBytes { input in output.withUnsafeMutableBytes { key.decrypt(input, into: $0) } }
            #expect(output == expected, "\(blockCount) blocks")
            // At an odd address, between bytes that must stay.
            var buffer = [0x77] + input + [0x77]
            buffer.withUnsafeMutableBytes { buffer in
                let inside = UnsafeMutableRawBufferPointer(rebasing: buffer[1..<buffer.count - 1])
                key.decrypt(UnsafeRawBufferPointer(inside), into: inside)
            }
            #expect(buffer == [0x77] + expected + [0x77], "\(blockCount) blocks in place")
        }
    }

    @Test("keys of other lengths, and units that the CPU lacks, are refused")
    func refusals() {
        for unit in AESUnit.allCases {
            for count in [0, 15, 17, 33] {
                #expect(AESUnitKey(unit: unit, key: [UInt8](repeating: 1, count: count)) == nil)
            }
            let isPresent = AESUnit.present.contains(unit)
            #expect((AESUnitKey(unit: unit, key: [UInt8](repeating: 1, count: 16)) != nil) == isPresent)
        }
    }
}
