import BackendRegistry
import Foundation
import RandomAccess
import Testing

@testable import OpenSSLBackend

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
        _ cipher: Cipher, _ direction: CipherDirection, _ input: [UInt8], key: SecretKey, iv: Block
    ) throws -> [UInt8] {
        try makeContext(cipher, direction, key: key).process(input, iv: iv)
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
        var buffer = [0x77] + input + [0x77]
        try buffer.withUnsafeMutableBytes { bytes in
            try process(inPlace: UnsafeMutableRawBufferPointer(rebasing: bytes[1..<bytes.count - 1]), iv: iv)
        }
        #expect(buffer.first == 0x77 && buffer.last == 0x77)
        return Array(buffer.dropFirst().dropLast())
    }
}

/// Four blocks of ciphertext in each mode, as hexadecimal digits.
struct KnownAnswers: Sendable, CustomTestStringConvertible {
    var key: String
    var cbc: String
    var ctr: String
    var testDescription: String { "AES-\(key.count * 4)" }
}

/// The backends of this machine that have AES.
let aesNames = BackendRegistry.availableNames(having: .aesCBC)

@Suite("every backend")
struct BackendTests {
    @Test("unknown names are refused, known ones go by them")
    func names() throws {
        #expect(throws: DecryptionError.self) { try BackendRegistry.backend(named: "nothing") }
        for name in BackendRegistry.availableNames {
            let backend = try BackendRegistry.backend(named: name)
            #expect(backend.name == name)
            #expect(!backend.version.isEmpty)
        }
    }

    @Test("a backend that this machine lacks says so, and why")
    func unavailable() {
        let available = BackendRegistry.availableNames
        #expect(Set(BackendRegistry.names).subtracting(available).isSubset(of: ["af-alg"]))
        for name in BackendRegistry.names where !available.contains(name) {
            do throws(DecryptionError) {
                _ = try BackendRegistry.backend(named: name)
            } catch {
                guard case .unavailable(name, let reason, let expected) = error else {
                    Issue.record("\(error)")
                    continue
                }
                #expect(!reason.isEmpty && !expected.isEmpty)
                #expect("\(error)".contains("backend \"\(name)\" is not available"))
            }
        }
    }

    @Test(
        "the kernel's ciphers are among those that are tested",
        .enabled(if: BackendRegistry.availableNames.contains("af-alg"), "this kernel has no AF_ALG"))
    func kernel() throws {
        #expect(try BackendRegistry.backend(named: "af-alg").ciphers.map(\.cipher) == Cipher.streaming)
    }

    @Test(
        "the blocks of SP 800-38A, F.2 and F.5", arguments: aesNames,
        [
            KnownAnswers(
                key: "2b7e151628aed2a6abf7158809cf4f3c",
                cbc: "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2"
                    + "73bed6b8e3c1743b7116e69e222295163ff1caa1681fac09120eca307586e1a7",
                ctr: "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff"
                    + "5ae4df3edbd5d35e5b4f09020db03eab1e031dda2fbe03d1792170a0f3009cee"),
            KnownAnswers(
                key: "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b",
                cbc: "4f021db243bc633d7178183a9fa071e8b4d9ada9ad7dedf4e5e738763f69145a"
                    + "571b242012fb7ae07fa9baac3df102e008b0e27988598881d920a9e64f5615cd",
                ctr: "1abc932417521ca24f2b0459fe7e6e0b090339ec0aa6faefd5ccc2c6f4ce8e94"
                    + "1e36b26bd1ebc670d1bd1d665620abf74f78a7f6d29809585a97daec58c6b050"),
            KnownAnswers(
                key: "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
                cbc: "f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d"
                    + "39f23369a9d9bacfa530e26304231461b2eb05e2c39be9fcda6c19078c6a9d1b",
                ctr: "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5"
                    + "2b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6"),
        ])
    func knownAnswers(name: String, answers: KnownAnswers) throws {
        let backend = try BackendRegistry.backend(named: name)
        let key = try SecretKey(bytes(answers.key))
        let plaintext = bytes(
            "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
                + "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710")
        let cases = [
            (Cipher.aesCBC, "000102030405060708090a0b0c0d0e0f", answers.cbc),
            (.aesCTR, "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff", answers.ctr),
        ]
        for (cipher, iv, ciphertext) in cases {
            let iv = try Block(bytes(iv))
            #expect(try backend.process(cipher, .encrypt, plaintext, key: key, iv: iv) == bytes(ciphertext))
            #expect(try backend.process(cipher, .decrypt, bytes(ciphertext), key: key, iv: iv) == plaintext)
        }
    }

    // Without the readable AES, which knows no pieces and takes its time.
    @Test(
        "large stretches are the same in every library",
        arguments: aesNames.filter { $0 != "swift-reference" }, Cipher.streaming)
    func largeStretches(name: String, cipher: Cipher) throws {
        let backend = try BackendRegistry.backend(named: name)
        let reference = try BackendRegistry.backend(named: "openssl")
        let iv = Block(bigEndianValue: .max - 9000)
        for keyByteCount in [16, 24, 32] {
            let key = try SecretKey(sample(keyByteCount))
            // More than twice what the kernel takes in one piece, and in CTR a part of a block more.
            let plaintext = sample((1 << 19) + (cipher == .aesCTR ? 7 : 16))
            let ciphertext = try reference.process(cipher, .encrypt, plaintext, key: key, iv: iv)
            for direction in CipherDirection.allCases {
                let context = try backend.makeContext(cipher, direction, key: key)
                let (input, expected) = direction == .encrypt ? (plaintext, ciphertext) : (ciphertext, plaintext)
                #expect(try context.process(input, iv: iv) == expected, "\(direction)")
                #expect(try context.processInPlace(input, iv: iv) == expected, "\(direction) in place")
            }
        }
    }

    @Test("nothing is made of nothing", arguments: aesNames, Cipher.streaming)
    func empty(name: String, cipher: Cipher) throws {
        let backend = try BackendRegistry.backend(named: name)
        let key = try SecretKey(sample(16))
        for direction in CipherDirection.allCases {
            let context = try backend.makeContext(cipher, direction, key: key)
            #expect(try context.process([], iv: Block(bigEndianValue: 1)) == [])
            #expect(try context.processInPlace([], iv: Block(bigEndianValue: 1)) == [])
        }
    }

    @Test(
        "blocks are those of FIPS 197, appendix C", arguments: aesNames,
        [
            (16, "69c4e0d86a7b0430d8cdb78070b4c55a"), (24, "dda97ca4864cdfe06eaf70a0ec0d7191"),
            (32, "8ea2b7ca516745bfeafc49904b496089"),
        ])
    func appendixC(name: String, vector: (keyByteCount: Int, ciphertext: String)) throws {
        let backend = try BackendRegistry.backend(named: name)
        let key = try SecretKey((0..<vector.keyByteCount).map { UInt8($0) })
        let plaintext = bytes("00112233445566778899aabbccddeeff")
        let (ciphertext, zero) = (bytes(vector.ciphertext), Block(bigEndianValue: 0))
        #expect(try backend.process(.aesCBC, .encrypt, plaintext, key: key, iv: zero) == ciphertext)
        #expect(try backend.process(.aesCBC, .decrypt, ciphertext, key: key, iv: zero) == plaintext)
        // In counter mode, the plaintext block as the counter gives its encryption as the key stream.
        let counter = try Block(plaintext)
        for direction in CipherDirection.allCases {
            #expect(
                try backend.process(.aesCTR, direction, [UInt8](repeating: 0, count: 16), key: key, iv: counter)
                    == ciphertext)
        }
    }

    @Test(
        "1 to 70 blocks are right in place and out of place, both ways", arguments: aesNames,
        Cipher.streaming)
    func blockCounts(name: String, cipher: Cipher) throws {
        let backend = try BackendRegistry.backend(named: name)
        let reference = try BackendRegistry.backend(named: "swift-reference")
        for keyByteCount in [16, 24, 32] {
            let key = try SecretKey(sample(keyByteCount))
            let iv = Block(bigEndianValue: 0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10)
            let plaintext = sample(16 * 70)
            let ciphertext = try reference.process(cipher, .encrypt, plaintext, key: key, iv: iv)
            let encrypting = try backend.makeContext(cipher, .encrypt, key: key)
            let decrypting = try backend.makeContext(cipher, .decrypt, key: key)
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

    @Test("CTR takes any length, and the next call starts afresh", arguments: aesNames)
    func partialLengths(name: String) throws {
        let backend = try BackendRegistry.backend(named: name)
        let key = try SecretKey(sample(16))
        let iv = Block(bigEndianValue: 99)
        let whole = try backend.process(.aesCTR, .encrypt, sample(200), key: key, iv: iv)
        let context = try backend.makeContext(.aesCTR, .decrypt, key: key)
        for count in 0...200 {
            #expect(try context.processInPlace(Array(whole.prefix(count)), iv: iv) == sample(count), "\(count) bytes")
            #expect(try context.process(Array(whole.prefix(count)), iv: iv) == sample(count), "\(count) bytes")
        }
    }

    @Test(
        "counters carry at every width inside one call", arguments: aesNames,
        [8, 16, 32, 64, 96, 128])
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
                expected += try reference.process(
                    .aesCBC, .encrypt, counter.bytes, key: key, iv: Block(bigEndianValue: 0))
            }
            let found = try backend.process(.aesCTR, .encrypt, [UInt8](repeating: 0, count: 16 * 70), key: key, iv: iv)
            let wrong = (0..<70).first { expected[16 * $0..<16 * $0 + 16] != found[16 * $0..<16 * $0 + 16] }
            #expect(wrong == nil, "carry after \(before) blocks")
        }
    }

    @Test(
        "CBC of a part of a block is an error, and the context survives it", arguments: aesNames)
    func partialBlocks(name: String) throws {
        let backend = try BackendRegistry.backend(named: name)
        let key = try SecretKey(sample(16))
        let iv = Block(bigEndianValue: 5)
        for direction in CipherDirection.allCases {
            let context = try backend.makeContext(.aesCBC, direction, key: key)
            let good = try context.process(sample(48), iv: iv)
            for count in [1, 15, 17, 31, 33] {
                #expect(throws: DecryptionError.self, "\(count) bytes") { try context.process(sample(count), iv: iv) }
                #expect(try context.process(sample(48), iv: iv) == good)
            }
        }
    }

    @Test("several threads use a backend at once", arguments: aesNames)
    func threads(name: String) async throws {
        let backend = try BackendRegistry.backend(named: name)
        let key = try SecretKey(sample(32))
        let iv = Block(bigEndianValue: 1)
        let ciphertext = try backend.process(.aesCBC, .encrypt, sample(1600), key: key, iv: iv)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    try (0..<20).allSatisfy { _ in
                        try backend.process(.aesCBC, .decrypt, ciphertext, key: key, iv: iv) == sample(1600)
                    }
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }
}

@Suite("versions")
struct VersionTests {
    @Test(
        "BoringSSL's version is that of the package that is asked for",
        .enabled(if: BackendRegistry.names.contains("boringssl"), "built without BoringSSL"))
    func boringSSL() throws {
        let manifest = try String(
            contentsOf: URL(filePath: #filePath).appending(path: "../../../Package.swift").standardized, encoding: .utf8
        )
        let line = try #require(manifest.split(separator: "\n").first { $0.contains("apple/swift-crypto\"") })
        let version = try #require(line.split(separator: "\"").first { $0.first?.isNumber == true })
        #expect(try BackendRegistry.backend(named: "boringssl").version.hasPrefix("swift-crypto \(version) "))
    }
}

@Suite("inputs that are longer than an `int`")
struct OpenSSLSplitTests {
    @Test(
        "several calls give what one gives", arguments: Cipher.streaming, [16, 48, 64, 1024])
    func splits(cipher: Cipher, largestCallByteCount: Int) throws {
        let handles = try OpenSSLCiphers()
        let key = try SecretKey(sample(16))
        let iv = Block(bigEndianValue: .max - 1)
        for direction in CipherDirection.allCases {
            let (handle, support) = (try handles.handle(cipher, keyByteCount: 16), CipherSupport(cipher))
            let whole = try OpenSSLContext(handle, support, direction, key: key)
            let split = try OpenSSLContext(
                handle, support, direction, key: key, largestCallByteCount: largestCallByteCount)
            for count in cipher == .aesCTR ? [1, 47, 48, 49, 1000] : [16, 48, 64, 1008] {
                #expect(try split.process(sample(count), iv: iv) == whole.process(sample(count), iv: iv), "\(count)")
                #expect(try split.processInPlace(sample(count), iv: iv) == whole.process(sample(count), iv: iv))
            }
        }
    }

    @Test("a context that was used before, also for something that failed, decrypts like a new one")
    func reuse() throws {
        let handles = try OpenSSLCiphers()
        let (handle, support) = (try handles.handle(.aesCBC, keyByteCount: 16), CipherSupport(.aesCBC))
        let key = try SecretKey(sample(16))
        let used = try OpenSSLContext(handle, support, .decrypt, key: key)
        for (index, count) in [16, 32, 7, 16, 4096, 24, 48].enumerated() {
            let new = try OpenSSLContext(handle, support, .decrypt, key: key)
            let iv = Block(bigEndianValue: UInt128(index) << 120 | 9)
            // Not whole blocks: an error of the caller, which must not show in the next call.
            guard count % 16 == 0 else {
                _ = try? used.process(sample(count), iv: iv)
                continue
            }
            #expect(try used.process(sample(count), iv: iv) == new.process(sample(count), iv: iv), "\(count)")
            #expect(try used.processInPlace(sample(count), iv: iv) == new.processInPlace(sample(count), iv: iv))
        }
    }
}
