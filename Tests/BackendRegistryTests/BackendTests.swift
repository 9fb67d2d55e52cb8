import BackendRegistry
import RandomAccess
import Testing

func bytes(_ hex: String) -> [UInt8] {
    let digits = hex.filter { !$0.isWhitespace }.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

/// Some bytes that are not all alike.
func sample(_ byteCount: Int) -> [UInt8] {
    (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 / 17) }
}

extension CipherBackend {
    /// One stretch in a context of its own.
    func process(
        _ mode: CipherMode, _ direction: CipherDirection, _ input: [UInt8], key: SecretKey, iv: Block
    ) throws -> [UInt8] {
        try makeContext(mode: mode, direction: direction, key: key).process(input, iv: iv)
    }
}

extension CipherContext {
    /// From one buffer into another.
    func process(_ input: [UInt8], iv: Block) throws -> [UInt8] {
        var output = [UInt8](repeating: 0, count: input.count)
        try input.withUnsafeBytes { input in
            try output.withUnsafeMutableBytes { output in
                guard let start = output.baseAddress else { return }
                try process(input, into: start, iv: iv)
            }
        }
        return output
    }

    /// In place, at an odd address.
    func processInPlace(_ input: [UInt8], iv: Block) throws -> [UInt8] {
        var room = [0x77] + input + [0x77]
        try room.withUnsafeMutableBytes { bytes in
            try process(inPlace: UnsafeMutableRawBufferPointer(rebasing: bytes[1..<bytes.count - 1]), iv: iv)
        }
        #expect(room.first == 0x77 && room.last == 0x77)
        return Array(room.dropFirst().dropLast())
    }
}

@Suite("every backend")
struct BackendTests {
    @Test("unknown names are refused, known ones go by them")
    func names() throws {
        #expect(throws: DecryptionError.self) { try BackendRegistry.backend(named: "nothing") }
        for name in BackendRegistry.names {
            let backend = try BackendRegistry.backend(named: name)
            #expect(backend.name == name)
            #expect(!backend.version.isEmpty)
        }
    }

    @Test(
        "blocks are those of FIPS 197, appendix C", arguments: BackendRegistry.names,
        [
            (16, "69c4e0d86a7b0430d8cdb78070b4c55a"), (24, "dda97ca4864cdfe06eaf70a0ec0d7191"),
            (32, "8ea2b7ca516745bfeafc49904b496089"),
        ])
    func appendixC(name: String, vector: (keyByteCount: Int, ciphertext: String)) throws {
        let backend = try BackendRegistry.backend(named: name)
        let key = try SecretKey((0..<vector.keyByteCount).map { UInt8($0) })
        let plaintext = bytes("00112233445566778899aabbccddeeff")
        let (ciphertext, zero) = (bytes(vector.ciphertext), Block(bigEndianValue: 0))
        #expect(try backend.process(.cbc, .encrypt, plaintext, key: key, iv: zero) == ciphertext)
        #expect(try backend.process(.cbc, .decrypt, ciphertext, key: key, iv: zero) == plaintext)
        // In counter mode, the plaintext block as the counter gives its encryption as the key stream.
        let counter = try Block(plaintext)
        for direction in CipherDirection.allCases {
            #expect(
                try backend.process(.ctr, direction, [UInt8](repeating: 0, count: 16), key: key, iv: counter)
                    == ciphertext)
        }
    }

    @Test(
        "1 to 70 blocks are right in place and out of place, both ways", arguments: BackendRegistry.names,
        CipherMode.allCases)
    func blockCounts(name: String, mode: CipherMode) throws {
        let backend = try BackendRegistry.backend(named: name)
        let reference = try BackendRegistry.backend(named: "swift-reference")
        for keyByteCount in [16, 24, 32] {
            let key = try SecretKey(sample(keyByteCount))
            let iv = Block(bigEndianValue: 0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10)
            let plaintext = sample(16 * 70)
            let ciphertext = try reference.process(mode, .encrypt, plaintext, key: key, iv: iv)
            let encrypting = try backend.makeContext(mode: mode, direction: .encrypt, key: key)
            let decrypting = try backend.makeContext(mode: mode, direction: .decrypt, key: key)
            for blocks in 1...70 {
                let (p, c) = (Array(plaintext.prefix(16 * blocks)), Array(ciphertext.prefix(16 * blocks)))
                // The same contexts throughout: nothing may be left over from earlier calls.
                #expect(try encrypting.process(p, iv: iv) == c, "\(blocks) blocks")
                #expect(try encrypting.processInPlace(p, iv: iv) == c, "\(blocks) blocks in place")
                #expect(try decrypting.process(c, iv: iv) == p, "\(blocks) blocks")
                #expect(try decrypting.processInPlace(c, iv: iv) == p, "\(blocks) blocks in place")
            }
        }
    }

    @Test("CTR takes any length, and the next call starts afresh", arguments: BackendRegistry.names)
    func partialLengths(name: String) throws {
        let backend = try BackendRegistry.backend(named: name)
        let key = try SecretKey(sample(16))
        let iv = Block(bigEndianValue: 99)
        let whole = try backend.process(.ctr, .encrypt, sample(200), key: key, iv: iv)
        let context = try backend.makeContext(mode: .ctr, direction: .decrypt, key: key)
        for count in 0...200 {
            #expect(try context.processInPlace(Array(whole.prefix(count)), iv: iv) == sample(count), "\(count) bytes")
            #expect(try context.process(Array(whole.prefix(count)), iv: iv) == sample(count), "\(count) bytes")
        }
    }

    @Test("counters carry at every width inside one call", arguments: BackendRegistry.names, [8, 16, 32, 64, 96, 128])
    func counterCarries(name: String, bits: Int) throws {
        let backend = try BackendRegistry.backend(named: name)
        let reference = try BackendRegistry.backend(named: "swift-reference")
        let key = try SecretKey(sample(32))
        let high = UInt128(0x1234_5678_9abc_def0_0fed_cba9_8765_4321)
        for before in [1, 3, 7, 8, 31] {
            // All ones in the low bits, less a few, so that the carry falls on another block of the library's batch.
            let ones = bits == 128 ? UInt128.max : (high >> bits) << bits | (1 << UInt128(bits) - 1)
            let iv = Block(bigEndianValue: ones - UInt128(before - 1))
            // Block by block, each counter computed on its own.
            var expected: [UInt8] = []
            for index in 0..<70 {
                let counter = Block(bigEndianValue: iv.bigEndianValue &+ UInt128(index))
                expected += try reference.process(.cbc, .encrypt, counter.bytes, key: key, iv: Block(bigEndianValue: 0))
            }
            let found = try backend.process(.ctr, .encrypt, [UInt8](repeating: 0, count: 16 * 70), key: key, iv: iv)
            let wrong = (0..<70).first { expected[16 * $0..<16 * $0 + 16] != found[16 * $0..<16 * $0 + 16] }
            #expect(wrong == nil, "carry after \(before) blocks")
        }
    }

    @Test("CBC of a part of a block is an error, and the context survives it", arguments: BackendRegistry.names)
    func partialBlocks(name: String) throws {
        let backend = try BackendRegistry.backend(named: name)
        let key = try SecretKey(sample(16))
        let iv = Block(bigEndianValue: 5)
        for direction in CipherDirection.allCases {
            let context = try backend.makeContext(mode: .cbc, direction: direction, key: key)
            let good = try context.process(sample(48), iv: iv)
            for count in [1, 15, 17, 31, 33] {
                #expect(throws: DecryptionError.self, "\(count) bytes") { try context.process(sample(count), iv: iv) }
                #expect(try context.process(sample(48), iv: iv) == good)
            }
        }
    }

    @Test("several threads use a backend at once", arguments: BackendRegistry.names)
    func threads(name: String) async throws {
        let backend = try BackendRegistry.backend(named: name)
        let key = try SecretKey(sample(32))
        let iv = Block(bigEndianValue: 1)
        let ciphertext = try backend.process(.cbc, .encrypt, sample(1600), key: key, iv: iv)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    try (0..<20).allSatisfy { _ in
                        try backend.process(.cbc, .decrypt, ciphertext, key: key, iv: iv) == sample(1600)
                    }
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }
}
