import ByteSources
import RandomAccess
import TestSupport
import Testing

@Suite("ciphertexts that users name")
struct GivenCiphertextTests {
    private static let iv = Block(bigEndianValue: 0xF0E1_D2C3_B4A5_9687_7869_5A4B_3C2D_1E0F)
    private static let strategies: [Strategy] = [
        .cbcContinuous(iv: iv, padding: .pkcs7), .cbcContinuous(iv: iv, padding: .none), .ctr(iv: iv),
        .cbcChunked(chunkByteCount: 64, iv: iv, ivRule: .sequence, padding: .pkcs7),
    ]

    private func isRefused(_ bytes: [UInt8], _ strategy: Strategy, isAsSaid: Bool = false) -> Bool {
        do throws(DecryptionError) {
            return try GivenCiphertext.open(MemorySource(bytes), strategy, isAsSaid: isAsSaid) { false }
        } catch {
            return error.protocolName == "invalidRequest"
        }
    }

    @Test("what begins with a salt is neither CBC nor CTR, unless it is said to be", arguments: strategies)
    func salted(_ strategy: Strategy) {
        let salted = Array("Salted__".utf8) + Samples.bytes(24)
        #expect(isRefused(salted, strategy) && isRefused(Array(salted.prefix(8)), strategy))
        #expect(!isRefused(salted, strategy, isAsSaid: true))
        for other in [Array(salted.prefix(7)), Array(salted.dropFirst()), [], Array("salted__".utf8)] {
            #expect(!isRefused(other, strategy))
        }
    }
}
