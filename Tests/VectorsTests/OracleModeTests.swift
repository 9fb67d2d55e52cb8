import BackendRegistry
import RandomAccess
import TestSupport
import Testing

@testable import Vectors

/// OCB, EAX, GCM-SIV and SIV: the oracle against each library, and against RFC 5297, whose examples have other lists of
/// strings than a library takes.
@Suite("the oracle's OCB, EAX, GCM-SIV and SIV")
struct OracleModeTests {
    private static let ciphers: [Cipher] = [.aesOCB, .aesEAX, .aesGCMSIV, .aesSIV]

    private static let offers = ciphers.flatMap { cipher in
        BackendRegistry.availableNames(having: cipher).map { (name: $0, cipher: cipher) }
    }

    private static let nonceByteCounts: [Cipher: [Int]] = [
        .aesOCB: [1, 8, 12, 15], .aesEAX: [1, 12, 16, 33], .aesGCMSIV: [12], .aesSIV: [1, 12, 16, 33],
    ]

    @Test("S2V of RFC 5297, appendix A")
    func strings() throws {
        let deterministic = OracleAES(bytes("fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0"))
        let header = bytes("101112131415161718191a1b1c1d1e1f2021222324252627")
        #expect(
            deterministic.code(strings: [header], bytes("112233445566778899aabbccddee")).bytes
                == bytes("85632d07c6e8f37f950acd320a2ecc93"))
        let strings = [
            "00112233445566778899aabbccddeeffdeaddadadeaddadaffeeddccbbaa99887766554433221100",
            "102030405060708090a0", "09f911029d74e35bd84156c5635688c0",
        ]
        let plaintext = Array("this is some plaintext to encrypt using SIV-AES".utf8)
        #expect(
            OracleAES(bytes("7f7e7d7c7b7a79787776757473727170")).code(strings: strings.map(bytes), plaintext).bytes
                == bytes("7bdb6e3b432667eb06f4d14bff2fbd0f"))
    }

    @Test("libraries and the oracle make the same messages, and refuse others", arguments: offers)
    func libraries(name: String, cipher: Cipher) throws {
        let backend = try BackendRegistry.backend(named: name)
        for keyByteCount in cipher.keyByteCounts {
            let key = Samples.bytes(keyByteCount, seed: 3)
            let oracle = try OracleCipher(Array(cipher.rawValue.utf8), key: key)
            // The same contexts throughout: nothing may be left over from earlier messages.
            let sealing = try backend.makeContext(cipher, .encrypt, key: SecretKey(material: key))
            let opening = try backend.makeContext(cipher, .decrypt, key: SecretKey(material: key))
            for length in Array(0...80) + [4079, 4080, 4095, 4096, 4097, 4112] {
                for associatedByteCount in [0, 16, 1 + length % 40] {
                    let counts = Self.nonceByteCounts[cipher] ?? []
                    let nonceByteCount = counts[length % counts.count]
                    guard backend.supports(cipher, nonceByteCount: nonceByteCount) else { continue }
                    let nonce = Samples.bytes(nonceByteCount, seed: UInt64(length) + 5)
                    let associatedData = Samples.bytes(associatedByteCount, seed: 7)
                    let plaintext = Samples.bytes(length, seed: 11)
                    let what: Comment = "\(length) bytes, \(associatedByteCount) beside, key of \(keyByteCount)"
                    let (ciphertext, tag) = oracle.seal(plaintext, nonce: nonce, associatedData: associatedData)
                    func process(_ context: any CipherContext, _ input: [UInt8], _ count: Int) throws -> [UInt8]? {
                        try Self.process(context, input, nonce, associatedData, count)
                    }
                    #expect(try process(sealing, plaintext, length + 16) == ciphertext + tag, what)
                    #expect(try process(opening, ciphertext + tag, length) == plaintext, what)
                    var changed = ciphertext + tag
                    changed[(length * 7) % changed.count] ^= 1 << UInt8(length % 8)
                    #expect(try process(opening, changed, length) == nil, what)
                    #expect(
                        oracle.tag(
                            Array(changed.dropLast(16)), nonce: nonce, associatedData: associatedData,
                            found: changed.suffix(16)) != changed.suffix(16), what)
                    #expect(
                        oracle.tag(ciphertext, nonce: nonce, associatedData: associatedData, found: tag) == tag, what)
                    #expect(Self.decrypted(ciphertext, tag, oracle, nonce) == plaintext, what)
                }
            }
        }
    }

    /// Decrypts in two parts, from a block in the middle on.
    private static func decrypted(
        _ ciphertext: [UInt8], _ tag: [UInt8], _ oracle: OracleCipher, _ nonce: [UInt8]
    ) -> [UInt8] {
        let middle = ciphertext.count / 32 * 16
        return [0..<middle, middle..<ciphertext.count].flatMap { range in
            var part = ciphertext[range] + [UInt8](repeating: 0, count: (16 - range.count % 16) % 16)
            part.withUnsafeMutableBytes {
                oracle.decrypt(
                    $0, at: UInt64(range.lowerBound), nonce: nonce, previous: tag, of: UInt64(ciphertext.count))
            }
            return part.prefix(range.count)
        }
    }

    private static func process(
        _ context: any CipherContext, _ input: [UInt8], _ nonce: [UInt8], _ associatedData: [UInt8], _ count: Int
    ) throws -> [UInt8]? {
        var output = [UInt8](repeating: 0x77, count: count + 1)
        let isAuthentic = try output.withUnsafeMutableBytes { output in
            let start = try #require(output.baseAddress)
            return try input.withUnsafeBytes { input in
                try nonce.withUnsafeBytes { nonce in
                    try associatedData.withUnsafeBytes {
                        try context.process(input, into: start, nonce: nonce, associatedData: $0)
                    }
                }
            }
        }
        #expect(output.last == 0x77)
        return isAuthentic ? output.dropLast() : nil
    }
}
