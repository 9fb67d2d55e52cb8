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

    @Test("what begins with text is neither, unless it is said to be or is too short to tell", arguments: strategies)
    func text(_ strategy: Strategy) {
        let base64 = Array("U2FsdGVkX18BAgMEBQYHCPH9wd7NGhSZ8VVEKa49PzO28clsgWo1y566aF8x35t3\n".utf8)
        for text in [base64, Array(base64.prefix(16)), Array("00010203\r\n\t0405 0607".utf8)] {
            #expect(isRefused(text, strategy) && !isRefused(text, strategy, isAsSaid: true))
            #expect(!isRefused(Array(text.prefix(15)), strategy))
        }
        for byte in [0, 0x7F, 0x80] as [UInt8] {
            #expect(!isRefused(Array(base64.prefix(63)) + [byte], strategy))
            #expect(isRefused(Array(base64.prefix(64)) + [byte], strategy))
        }
    }

    @Test("a format with a header tells by that, and not by the look of its ciphertext")
    func header() throws {
        let text = """
            mine:
              inputs: {key: 16}
              header: [{mark: {bytes: 8, is: "'Salted__'"}}, {salt: 16}]
              cipher: aes-ctr
              chunk: whole
              key: key
              nonce: salt
            """
        let strategy = Strategy(try #require(try Format.read(Array(text.utf8)).first))
        #expect(!isRefused(Array("Salted__ and sixteen and more".utf8), strategy))
    }

    private func refusal(_ bytes: [UInt8], _ strategy: Strategy) -> String? {
        do throws(DecryptionError) {
            return try GivenCiphertext.open(MemorySource(bytes), strategy, isAsSaid: false) { nil }
        } catch {
            return "\(error)"
        }
    }

    @Test("what begins with its own IV is neither, and the refusal says how to read it", arguments: strategies)
    func ivInFront(_ strategy: Strategy) throws {
        let ciphertext = Self.iv.bytes + Samples.bytes(32)
        #expect(isRefused(ciphertext, strategy) && !isRefused(ciphertext, strategy, isAsSaid: true))
        #expect(try #require(refusal(ciphertext, strategy)).contains("tail -c +17"))
        #expect(
            !isRefused(Array(ciphertext.dropFirst()), strategy) && !isRefused(Array(ciphertext.prefix(15)), strategy))
    }

    @Test("what a refusal names reads what is behind the IV")
    func ways() throws {
        let zeros = String(repeating: "0", count: 32)
        let ciphertext = Self.iv.bytes + Samples.bytes(32)
        #expect(refusal(ciphertext, Self.strategies[0])?.contains("--range 16- with --iv \(zeros)") == true)
        #expect(refusal(ciphertext, .ctr(iv: Self.iv))?.contains("f0e1d2c3b4a5968778695a4b3c2d1e0e") == true)
        // And is not refused itself.
        #expect(!isRefused(ciphertext, .cbcContinuous(iv: Block(bigEndianValue: 0), padding: .pkcs7)))
        let counted = Block(bigEndianValue: 0x0102_0304_0506_0708_090A_0B0C_0000_0001)
        let before = Block(bigEndianValue: counted.bigEndianValue - 1)
        #expect(isRefused(counted.bytes + [1], .ctr(iv: counted)) && !isRefused(counted.bytes + [1], .ctr(iv: before)))
    }

    @Test("a nonce in front of CTR is found by the counter that follows it in the IV; zeros are no nonce")
    func nonces() {
        let nonce: UInt128 = 0x0102_0304_0506_0708_090A_0B0C
        for counter in 0..<3 as Range<UInt128> {
            let iv = Block(bigEndianValue: nonce << 32 | counter)
            let words = refusal(Array(iv.bytes[..<12]) + Samples.bytes(9), .ctr(iv: iv))
            #expect(words?.contains("tail -c +13") == true && words?.contains("head -c -16") == (counter == 2))
        }
        let short = Block(bigEndianValue: (nonce >> 32) << 64)
        #expect(refusal(Array(short.bytes[..<8]) + Samples.bytes(9), .ctr(iv: short))?.contains("tail -c +9") == true)
        #expect(!isRefused(Array(short.bytes[..<7]) + Samples.bytes(9), .ctr(iv: short)))
        let iv = Block(bigEndianValue: nonce << 32 | 3)
        #expect(!isRefused(Array(iv.bytes[..<12]) + Samples.bytes(9), .ctr(iv: iv)))
        for value in 0..<3 as Range<UInt128> {
            #expect(!isRefused([UInt8](repeating: 0, count: 64), .ctr(iv: Block(bigEndianValue: value))))
        }
    }

    @Test("lengths and ends that CBC does not have say what is likely, and stay the errors that they are")
    func hints() {
        let cbc = Self.strategies[0]
        func error(_ byteCount: Int, _ strategy: Strategy, _ error: DecryptionError) -> DecryptionError? {
            do throws(DecryptionError) {
                return try GivenCiphertext.open(MemorySource(Samples.bytes(byteCount)), strategy, isAsSaid: false) {
                    () throws(DecryptionError) -> DecryptionError? in throw error
                }
            } catch {
                return error
            }
        }
        for (byteCount, words) in [
            (1018, ["head -c -10", "WhatsApp", "tail -c +11"]), (1028, ["head -c -4", "-20 of HMAC-SHA-1"]),
            (1016, ["tail -c +9"]), (1009, ["1 byte too many"]),
        ] {
            let found = error(byteCount, cbc, .truncatedCiphertext(byteCount: UInt64(byteCount), expected: "x"))
            #expect(found?.protocolName == "truncatedCiphertext")
            for word in words { #expect(found?.description.contains(word) == true, "\(word)") }
        }
        let padding = error(1040, cbc, .invalidPadding)
        #expect(padding?.protocolName == "invalidPadding")
        #expect(padding?.description.contains("padding=none") == true)
        #expect(padding?.description.contains("head -c -32") == true)
        let ctr = Strategy.ctr(iv: Self.iv)
        #expect(
            error(17, ctr, .backend(name: "b", operation: "o", reason: "r"))
                == .backend(name: "b", operation: "o", reason: "r"))
    }
}
