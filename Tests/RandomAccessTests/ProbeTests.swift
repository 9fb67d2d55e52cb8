import RandomAccess
import Testing

@Suite("opening, before any byte is decrypted")
struct ProbeTests {
    private static let iv = Block(bigEndianValue: 7)

    @Test("chunk lengths that the format does not know are refused", arguments: [0, 1, 15, 17, (1 << 62) + 16, .max])
    func chunkLengths(_ chunkByteCount: UInt64) {
        let strategy = Strategy.cbcChunked(
            chunkByteCount: chunkByteCount, iv: Self.iv, ivRule: .fixed, padding: .pkcs7)
        #expect {
            try Probe(strategy: strategy, ciphertextByteCount: 16)
        } throws: { ($0 as? DecryptionError)?.protocolName == "invalidRequest" }
    }

    @Test("lengths that no plaintext has are refused", arguments: Padding.allCases, 0...40)
    func lengths(padding: Padding, byteCount: UInt64) throws {
        let strategy = Strategy.cbcContinuous(iv: Self.iv, padding: padding)
        let isPossible = byteCount % 16 == 0 && (byteCount > 0 || padding == .none)
        if isPossible {
            #expect(try Probe(strategy: strategy, ciphertextByteCount: byteCount).ciphertextByteCount == byteCount)
        } else {
            #expect {
                try Probe(strategy: strategy, ciphertextByteCount: byteCount)
            } throws: { ($0 as? DecryptionError)?.protocolName == "truncatedCiphertext" }
        }
    }

    @Test("the last chunk's length is checked against its padding", arguments: 1...16)
    func lastChunks(pad: Int) throws {
        let strategy = Strategy.cbcChunked(chunkByteCount: 32, iv: Self.iv, ivRule: .fixed, padding: .pkcs7)
        let block = try Block([UInt8](repeating: UInt8(pad), count: 16))
        func length(_ ciphertextByteCount: UInt64) throws -> UInt64 {
            try Probe(strategy: strategy, ciphertextByteCount: ciphertextByteCount).layout(lastBlock: block)
                .plaintextByteCount
        }
        #expect(try length(16) == UInt64(16 - pad))
        #expect(try length(32) == UInt64(32 - pad))
        if pad == 16 {
            #expect(try length(48) == 32)
            #expect(throws: DecryptionError.invalidPadding) { try length(64) }
        } else {
            #expect(throws: DecryptionError.invalidPadding) { try length(48) }
            #expect(try length(64) == UInt64(48 - pad))
        }
        #expect(try length(80) == UInt64(64 - pad))
    }
}
