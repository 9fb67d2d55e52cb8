import RandomAccess
import Testing

@testable import SwiftAESBackend

@Suite("the bitsliced AES")
struct BitslicedTests {
    /// One stretch, from one buffer into another and in place at an odd address; both must come to the same.
    func process(
        _ cipher: Cipher, _ direction: CipherDirection, _ input: [UInt8], key: [UInt8], iv: [UInt8],
        level: VectorLevel
    ) throws -> [UInt8] {
        let context = SwiftBitslicedContext(
            CipherSupport(cipher), direction, key: try SecretKey(key), level: level)
        let iv = try Block(iv)
        var output = [UInt8](repeating: 0x77, count: input.count + 1)
        try input.withUnsafeBytes { input in
            try output.withUnsafeMutableBytes { output in
                guard let start = output.baseAddress else { return }
                try context.process(input, into: start, iv: iv)
            }
        }
        #expect(output.popLast() == 0x77, "nothing past the end is touched")
        var buffer = [0x77] + input + [0x77]
        try buffer.withUnsafeMutableBytes { bytes in
            try context.process(inPlace: UnsafeMutableRawBufferPointer(rebasing: bytes[1..<bytes.count - 1]), iv: iv)
        }
        #expect(buffer == [0x77] + output + [0x77], "in place")
        return output
    }

    @Test(
        "blocks are those of FIPS 197, appendix C, wherever in a batch they are", arguments: VectorLevel.ofTests,
        [
            (16, "69c4e0d86a7b0430d8cdb78070b4c55a"), (24, "dda97ca4864cdfe06eaf70a0ec0d7191"),
            (32, "8ea2b7ca516745bfeafc49904b496089"),
        ])
    func appendixC(level: VectorLevel, answer: (keyByteCount: Int, ciphertext: String)) throws {
        let cipher = BitslicedCipher(try SecretKey((0..<answer.keyByteCount).map { UInt8($0) }), level: level)
        let blocks = UnsafeMutableRawBufferPointer(start: cipher.blocks, count: 16 * level.wideBlockCount)
        let (plaintext, ciphertext) = (bytes("00112233445566778899aabbccddeeff"), bytes(answer.ciphertext))
        for count in [1, 8, 9, level.wideBlockCount] {
            for place in 0..<count {
                // The others are zero, so that one block's bits in another's place would show.
                blocks.initializeMemory(as: UInt8.self, repeating: 0)
                UnsafeMutableRawBufferPointer(rebasing: blocks[16 * place..<16 * place + 16]).copyBytes(from: plaintext)
                cipher.process(blockCount: count, .encrypt)
                #expect(Array(blocks[16 * place..<16 * place + 16]) == ciphertext, "block \(place) of \(count)")
                cipher.process(blockCount: count, .decrypt)
                let expected = (0..<count).flatMap { $0 == place ? plaintext : [UInt8](repeating: 0, count: 16) }
                #expect(Array(blocks[..<(16 * count)]) == expected, "block \(place) of \(count)")
            }
        }
    }

    struct KnownAnswer: Sendable, CustomTestStringConvertible {
        var section: String
        var cipher: Cipher
        var key: String
        var ciphertext: String
        var testDescription: String { section }

        static let all = [
            KnownAnswer(
                section: "F.2.1, F.2.2", cipher: .aesCBC, key: "2b7e151628aed2a6abf7158809cf4f3c",
                ciphertext: """
                    7649abac8119b246cee98e9b12e9197d 5086cb9b507219ee95db113a917678b2
                    73bed6b8e3c1743b7116e69e22229516 3ff1caa1681fac09120eca307586e1a7
                    """),
            KnownAnswer(
                section: "F.2.3, F.2.4", cipher: .aesCBC, key: "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b",
                ciphertext: """
                    4f021db243bc633d7178183a9fa071e8 b4d9ada9ad7dedf4e5e738763f69145a
                    571b242012fb7ae07fa9baac3df102e0 08b0e27988598881d920a9e64f5615cd
                    """),
            KnownAnswer(
                section: "F.2.5, F.2.6", cipher: .aesCBC,
                key: "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
                ciphertext: """
                    f58c4c04d6e5f1ba779eabfb5f7bfbd6 9cfc4e967edb808d679f777bc6702c7d
                    39f23369a9d9bacfa530e26304231461 b2eb05e2c39be9fcda6c19078c6a9d1b
                    """),
            KnownAnswer(
                section: "F.5.1, F.5.2", cipher: .aesCTR, key: "2b7e151628aed2a6abf7158809cf4f3c",
                ciphertext: """
                    874d6191b620e3261bef6864990db6ce 9806f66b7970fdff8617187bb9fffdff
                    5ae4df3edbd5d35e5b4f09020db03eab 1e031dda2fbe03d1792170a0f3009cee
                    """),
            KnownAnswer(
                section: "F.5.3, F.5.4", cipher: .aesCTR, key: "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b",
                ciphertext: """
                    1abc932417521ca24f2b0459fe7e6e0b 090339ec0aa6faefd5ccc2c6f4ce8e94
                    1e36b26bd1ebc670d1bd1d665620abf7 4f78a7f6d29809585a97daec58c6b050
                    """),
            KnownAnswer(
                section: "F.5.5, F.5.6", cipher: .aesCTR,
                key: "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
                ciphertext: """
                    601ec313775789a5b7a7f504bbf3d228 f443e3ca4d62b59aca84e990cacaf5c5
                    2b0930daa23de94ce87017ba2d84988d dfc9c58db67aada613c2dd08457941a6
                    """),
        ]
    }

    @Test("messages are those of SP 800-38A", arguments: VectorLevel.ofTests, KnownAnswer.all)
    func messages(level: VectorLevel, answer: KnownAnswer) throws {
        let plaintext = bytes(
            """
            6bc1bee22e409f96e93d7e117393172a ae2d8a571e03ac9c9eb76fac45af8e51
            30c81c46a35ce411e5fbc1191a0a52ef f69f2445df4f9b17ad2b417be66c3710
            """)
        let (key, ciphertext) = (bytes(answer.key), bytes(answer.ciphertext))
        let iv = bytes(
            answer.cipher == .aesCBC ? "000102030405060708090a0b0c0d0e0f" : "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff")
        #expect(try process(answer.cipher, .encrypt, plaintext, key: key, iv: iv, level: level) == ciphertext)
        #expect(try process(answer.cipher, .decrypt, ciphertext, key: key, iv: iv, level: level) == plaintext)
    }

    @Test(
        "random blocks come out as the reference's at each level, however many there are",
        arguments: Cipher.streaming, CipherDirection.allCases)
    func randomBlocks(cipher: Cipher, direction: CipherDirection) throws {
        var random = SplitMix(state: 4)
        for keyByteCount in [16, 24, 32] {
            let (key, iv) = (random.bytes(keyByteCount), random.bytes(16))
            let reference = try SwiftReference().makeContext(cipher, direction, key: SecretKey(key))
            // Each remainder of the widest batch, and more than one of them; CTR's stretches end within a block, too. CBC
            // encrypts block by block, and CTR does the same in both directions.
            for blockCount in direction == .decrypt ? Array(0...65) + [100, 145] : [0, 1, 17, 65] {
                let input = random.bytes(16 * blockCount + (cipher == .aesCTR ? blockCount % 16 : 0))
                var expected = input
                try expected.withUnsafeMutableBytes { try reference.process(inPlace: $0, iv: Block(iv)) }
                for level in VectorLevel.ofTests {
                    let found = try process(cipher, direction, input, key: key, iv: iv, level: level)
                    let wrong = zip(found, expected).enumerated().first { $1.0 != $1.1 }?.offset
                    #expect(wrong == nil, "\(level), \(keyByteCount)-byte key, \(input.count) bytes: first wrong byte")
                }
            }
        }
    }

    @Test("the level is the highest that the CPU has and that is not switched off, and no CPU needs one")
    func levels() {
        #expect(VectorLevel.best(upTo: .avx512, disabled: "") == .avx512)
        #expect(VectorLevel.best(upTo: .avx512, disabled: "avx512vl") == .avx2)
        #expect(VectorLevel.best(upTo: .avx512, disabled: "avx2") == .portable, "the higher level needs it, too")
        #expect(VectorLevel.best(upTo: .avx512, disabled: "aes,avx2,avx512vl") == .portable)
        #expect(VectorLevel.best(upTo: .avx2, disabled: "avx512vl,avx") == .avx2)
        #expect(VectorLevel.best(upTo: .portable, disabled: "") == .portable)
        #expect(VectorLevel.allCases.map(\.wideBlockCount) == [32, 64, 64])
    }

    @Test("the backend says which vectors it uses")
    func features() {
        #expect(SwiftBitsliced().cpuFeatures == (VectorLevel.ofThisMachine.cpuFeature.map { [$0] } ?? []))
        #expect(VectorLevel.allCases.map(\.cpuFeature) == [nil, "avx2", "avx512vl"])
    }
}

extension VectorLevel {
    /// Those that the CPU has.
    static let ofTests = allCases.filter { $0.rawValue <= present.rawValue }
}

extension Plane {
    /// The bytes in order.
    var byteArray: [UInt8] { (0..<16).map { bytes[$0] } }
}

/// Calls `body` with planes that hold `bytes`, and returns the bytes that they hold then.
func withPlanes<Vector>(_ bytes: [UInt8], _ body: (UnsafeMutablePointer<Vector>) -> Void) -> [UInt8] {
    let planes = UnsafeMutableBufferPointer<Vector>.allocate(capacity: bytes.count / MemoryLayout<Vector>.size)
    defer { planes.deallocate() }
    let memory = UnsafeMutableRawBufferPointer(planes)
    memory.copyBytes(from: bytes)
    if let start = planes.baseAddress { body(start) }
    return Array(memory)
}

@Suite("the steps of the bitsliced AES")
struct BitslicedStepTests {
    @Test("the circuits are the S-boxes, less {63}", arguments: [0, 128])
    func circuits(first: Int) {
        let input = (0..<128).map { UInt8(first + $0) }
        let boxes = SubstitutionBoxes.shared
        let forward = withPlanes(input) { (planes: UnsafeMutablePointer<Plane>) in
            BitTransposition.swapWithinBytes(planes, groupCount: 1)
            SubstitutionCircuits.subBytes(planes)
            BitTransposition.swapWithinBytes(planes, groupCount: 1)
        }
        #expect(forward == input.map { boxes.forward[Int($0)] ^ 0x63 })
        // A round key of {a5} in each byte.
        let key = (0..<8).map { Plane.repeating(0xa5 >> $0 & 1 == 1 ? .max : 0) }
        let inverse = withPlanes(input) { (planes: UnsafeMutablePointer<Plane>) in
            BitTransposition.swapWithinBytes(planes, groupCount: 1)
            SubstitutionCircuits.invSubBytes(planes, addingRoundKey: key)
            BitTransposition.swapWithinBytes(planes, groupCount: 1)
        }
        #expect(inverse == input.map { boxes.inverse[Int($0 ^ 0x63)] ^ 0xa5 })
    }

    @Test("a wide batch has the bits of a row in eight planes, the columns in lanes, the blocks in bits")
    func widePlanes() {
        var random = SplitMix(state: 1)
        let blocks = random.bytes(16 * 32)
        let packed = withPlanes(blocks, WideBatch<Plane>.pack)
        for (row, bit, column, block) in [(0, 0, 0, 0), (1, 7, 2, 31), (3, 4, 3, 8), (2, 1, 1, 17), (3, 7, 3, 31)] {
            let expected = blocks[16 * block + 4 * column + row] >> bit & 1
            let found = packed[16 * (8 * row + bit) + 4 * column + block / 8] >> (block % 8) & 1
            #expect(found == expected, "row \(row), bit \(bit), column \(column), block \(block)")
        }
        #expect(withPlanes(packed, WideBatch<Plane>.unpack) == blocks)
    }

    @Test("a wide batch of 64 blocks is two of 32, those of even blocks and those of odd ones")
    func widestPlanes() {
        var random = SplitMix(state: 5)
        let blocks = random.bytes(16 * 64)
        let packed = withPlanes(blocks, WideBatch<WidePlane>.pack)
        for half in 0..<2 {
            func own(_ bytes: [UInt8]) -> [UInt8] {
                bytes.enumerated().filter { $0.offset / 16 % 2 == half }.map(\.element)
            }
            #expect(own(packed) == withPlanes(own(blocks), WideBatch<Plane>.pack))
        }
        #expect(withPlanes(packed, WideBatch<WidePlane>.unpack) == blocks)
    }

    @Test("a narrow batch has each bit in a plane, the rows in lanes, the columns in bytes, the blocks in bits")
    func narrowPlanes() {
        var random = SplitMix(state: 2)
        let blocks = random.bytes(16 * 8)
        let packed = withPlanes(blocks, NarrowBatch.pack)
        for (row, bit, column, block) in [(0, 0, 0, 0), (1, 7, 2, 7), (3, 4, 3, 2), (2, 1, 1, 5), (3, 7, 3, 7)] {
            let expected = blocks[16 * block + 4 * column + row] >> bit & 1
            let found = packed[16 * bit + 4 * row + column] >> block & 1
            #expect(found == expected, "row \(row), bit \(bit), column \(column), block \(block)")
        }
        #expect(withPlanes(packed, NarrowBatch.unpack) == blocks)
    }

    @Test("products by {02} and {04} are those of GF(2^8)", arguments: [0, 128])
    func products(first: Int) {
        let input = (0..<128).map { UInt8(first + $0) }
        for (factor, product) in [(UInt8(2), \PlaneByte<Plane>.timesTwo), (4, \.timesFour)] {
            let found = withPlanes(input) { (planes: UnsafeMutablePointer<Plane>) in
                BitTransposition.swapWithinBytes(planes, groupCount: 1)
                PlaneByte(planes)[keyPath: product].store(to: planes)
                BitTransposition.swapWithinBytes(planes, groupCount: 1)
            }
            #expect(found == input.map { GaloisField.multiply($0, factor) }, "{0\(factor)}")
        }
    }

    @Test("round keys are the reference's, with {63} in all bytes but the first round's", arguments: [16, 24, 32])
    func roundKeys(keyByteCount: Int) throws {
        var random = SplitMix(state: 3)
        for _ in 0..<20 {
            let key = try SecretKey(random.bytes(keyByteCount))
            let schedule = KeySchedule(key)
            #expect(BitslicedKeyExpansion.roundCount(keyByteCount: keyByteCount) == schedule.roundCount)
            _ = withPlanes([UInt8](repeating: 0, count: 16 * (9 + schedule.roundCount))) {
                (buffer: UnsafeMutablePointer<Plane>) in
                BitslicedKeyExpansion.expand(key, scratch: buffer)
                for round in 0...schedule.roundCount {
                    let expected = schedule.roundKey(round).map { $0 ^ (round == 0 ? 0 : 0x63) }
                    #expect(
                        BitslicedKeyExpansion.roundKey(round, scratch: buffer).byteArray == expected, "round \(round)")
                }
            }
        }
    }
}
