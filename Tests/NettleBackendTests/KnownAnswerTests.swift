import RandomAccess
import Testing

@testable import NettleBackend

/// Answers of the standards themselves: vectors of all backends are in other tests, and would not notice a backend that
/// is there and not asked.
@Suite("what Nettle computes")
struct KnownAnswerTests {
    private static func bytes(_ hexadecimal: String) -> [UInt8] {
        let digits = Array(hexadecimal)
        return stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(digits[$0..<$0 + 2]), radix: 16) }
    }

    private static let plaintext = bytes("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51")

    /// Source: NIST SP 800-38A, appendix F.2 and F.5, the first two blocks.
    @Test(
        "CBC and CTR, both ways, with each length of key",
        arguments: [
            (
                .aesCBC, "2b7e151628aed2a6abf7158809cf4f3c", "000102030405060708090a0b0c0d0e0f",
                "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2"
            ),
            (
                .aesCBC, "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b", "000102030405060708090a0b0c0d0e0f",
                "4f021db243bc633d7178183a9fa071e8b4d9ada9ad7dedf4e5e738763f69145a"
            ),
            (
                .aesCBC, "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
                "000102030405060708090a0b0c0d0e0f",
                "f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d"
            ),
            (
                .aesCTR, "2b7e151628aed2a6abf7158809cf4f3c", "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff",
                "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff"
            ),
            (
                .aesCTR, "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
                "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff",
                "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5"
            ),
        ] as [(Cipher, String, String, String)])
    func ciphers(cipher: Cipher, key: String, iv: String, ciphertext: String) throws {
        let backend = Nettle(machineFeatures: [])
        for (direction, input, output) in [
            (CipherDirection.decrypt, Self.bytes(ciphertext), Self.plaintext),
            (.encrypt, Self.plaintext, Self.bytes(ciphertext)),
        ] {
            let context = try backend.makeContext(cipher, direction, key: SecretKey(Self.bytes(key)))
            var bytes = input
            try bytes.withUnsafeMutableBytes { try context.process(inPlace: $0, iv: Block(Self.bytes(iv))) }
            #expect(bytes == output, "\(cipher) \(direction)")
        }
    }

    @Test("a chunk that was sealed is opened, and one with a changed bit is not")
    func chunks() throws {
        let backend = Nettle(machineFeatures: [])
        let key = try SecretKey([UInt8](repeating: 0, count: 16))
        // Source: McGrew and Viega, "The Galois/Counter Mode of Operation", test case 2.
        let nonce = [UInt8](repeating: 0, count: 12)
        let sealed = Self.bytes("0388dace60b6a392f328c2b971b2fe78ab6e47d42cec13bdf53a67b21257bddf")
        let context = try backend.makeContext(.aesGCM, .decrypt, key: key)
        func open(_ bytes: [UInt8]) throws -> [UInt8]? {
            // Room for the tag, which a backend may need on the way.
            let output = UnsafeMutableRawPointer.allocate(byteCount: bytes.count, alignment: 16)
            defer { output.deallocate() }
            let isAuthentic = try bytes.withUnsafeBytes { bytes in
                try nonce.withUnsafeBytes { try context.process(bytes, into: output, nonce: $0) }
            }
            guard isAuthentic else { return nil }
            return Array(UnsafeRawBufferPointer(start: output, count: bytes.count - 16))
        }
        #expect(try open(sealed) == [UInt8](repeating: 0, count: 16))
        for index in [0, 15, 16, 31] {
            var changed = sealed
            changed[index] ^= 1
            #expect(try open(changed) == nil, "byte \(index)")
        }
    }
}
