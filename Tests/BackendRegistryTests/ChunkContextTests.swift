import BackendRegistry
import Foundation
import RandomAccess
import Testing

/// A key, a nonce, a plaintext, and what AES-GCM makes of them without additional data.
struct SealedAnswer: Sendable, CustomTestStringConvertible {
    var key: String
    var nonce = "000000000000000000000000"
    var plaintext = ""
    var sealed: String
    var testDescription: String { "AES-\(key.count * 4), \(plaintext.count / 2) bytes" }

    /// Source: McGrew and Viega, "The Galois/Counter Mode of Operation (GCM)", appendix B, test cases 1 to 3 and 13 to 15.
    static let all = [
        SealedAnswer(key: zeros(16), sealed: "58e2fccefa7e3061367f1d57a4e7455a"),
        SealedAnswer(
            key: zeros(16), plaintext: zeros(16),
            sealed: "0388dace60b6a392f328c2b971b2fe78ab6e47d42cec13bdf53a67b21257bddf"),
        SealedAnswer(
            key: "feffe9928665731c6d6a8f9467308308", nonce: "cafebabefacedbaddecaf888", plaintext: long,
            sealed: "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa05"
                + "1ba30b396a0aac973d58e091473f59854d5c2af327cd64a62cf35abd2ba6fab4"),
        SealedAnswer(key: zeros(32), sealed: "530f8afbc74536b9a963b4f1c4cb738b"),
        SealedAnswer(
            key: zeros(32), plaintext: zeros(16),
            sealed: "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919"),
        SealedAnswer(
            key: "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
            nonce: "cafebabefacedbaddecaf888", plaintext: long,
            sealed: "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838"
                + "c5f61e6393ba7a0abcc9f662898015adb094dac5d93471bdec1a502270e3cc6c"),
    ]

    private static let long =
        "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525"
        + "b16aedf5aa0de657ba637b391aafd255"

    private static func zeros(_ count: Int) -> String { String(repeating: "00", count: count) }
}

extension CipherBackend {
    func seal(_ plaintext: [UInt8], key: SecretKey, nonce: [UInt8]) throws -> [UInt8] {
        let context = try makeChunkContext(direction: .encrypt, key: key)
        return try #require(try context.process(plaintext, nonce: nonce, outputByteCount: plaintext.count + 16))
    }

    /// `nil` for a chunk that is not authentic.
    func open(_ sealed: [UInt8], key: SecretKey, nonce: [UInt8]) throws -> [UInt8]? {
        try makeChunkContext(direction: .decrypt, key: key).process(
            sealed, nonce: nonce, outputByteCount: sealed.count - 16)
    }
}

extension ChunkContext {
    /// `nil` for a chunk that is not authentic; nothing around the output may change.
    func process(_ input: [UInt8], nonce: [UInt8], outputByteCount: Int) throws -> [UInt8]? {
        var buffer = [UInt8](repeating: 0x77, count: outputByteCount + 2)
        let start = try Block(nonce + [0, 0, 0, 1])
        let isAuthentic = try input.withUnsafeBytes { input in
            try buffer.withUnsafeMutableBytes { buffer in
                let output = try #require(buffer.baseAddress) + 1
                return try process(input, into: output, start: start)
            }
        }
        #expect(buffer.first == 0x77 && buffer.last == 0x77)
        return isAuthentic ? Array(buffer[1..<1 + outputByteCount]) : nil
    }
}

/// The backends of this machine that have AES-GCM.
private let names = BackendRegistry.availableNames.filter {
    (try? BackendRegistry.backend(named: $0).modes.contains(.gcm)) ?? false
}

/// Wycheproof's `aes_gcm_test.json`, where the variable says that it is; only cases that chunks can have.
private let wycheproofFile = ProcessInfo.processInfo.environment["WYCHEPROOF_AES_GCM"]

@Suite("authenticated chunks in every backend")
struct ChunkContextTests {
    @Test("most backends have AES-GCM, and the others say so")
    func offers() throws {
        #expect(Set(BackendRegistry.availableNames).subtracting(names).isSubset(of: ["af-alg"]))
        #expect(names.count >= 4)
        for name in BackendRegistry.availableNames {
            let backend = try BackendRegistry.backend(named: name)
            #expect(throws: DecryptionError.self) {
                try backend.makeContext(mode: .gcm, direction: .decrypt, key: try SecretKey(sample(16)))
            }
            guard !names.contains(name) else { continue }
            #expect(throws: DecryptionError.unsupported("AES-GCM in \(name)")) {
                try backend.makeChunkContext(direction: .decrypt, key: try SecretKey(sample(16)))
            }
        }
    }

    @Test("the published answers", arguments: names, SealedAnswer.all)
    func knownAnswers(name: String, answer: SealedAnswer) throws {
        let backend = try BackendRegistry.backend(named: name)
        let (key, nonce) = (try SecretKey(bytes(answer.key)), bytes(answer.nonce))
        #expect(try backend.seal(bytes(answer.plaintext), key: key, nonce: nonce) == bytes(answer.sealed))
        #expect(try backend.open(bytes(answer.sealed), key: key, nonce: nonce) == bytes(answer.plaintext))
    }

    @Test("every bit of ciphertext, tag, nonce and key counts", arguments: names)
    func changes(name: String) throws {
        let backend = try BackendRegistry.backend(named: name)
        let (key, nonce) = (sample(16), sample(12))
        let sealed = try backend.seal(sample(35), key: SecretKey(key), nonce: nonce)
        let context = try backend.makeChunkContext(direction: .decrypt, key: SecretKey(key))
        for place in 0..<sealed.count {
            var changed = sealed
            changed[place] ^= 1 << UInt8(place % 8)
            #expect(try context.process(changed, nonce: nonce, outputByteCount: 35) == nil, "byte \(place)")
        }
        for place in 0..<12 {
            var changed = nonce
            changed[place] ^= 0x80
            #expect(try context.process(sealed, nonce: changed, outputByteCount: 35) == nil, "nonce byte \(place)")
        }
        for place in 0..<16 {
            var changed = key
            changed[place] ^= 1
            #expect(try backend.open(sealed, key: SecretKey(changed), nonce: nonce) == nil, "key byte \(place)")
        }
        for count in 16..<sealed.count {
            #expect(try backend.open(Array(sealed.prefix(count)), key: SecretKey(key), nonce: nonce) == nil)
        }
        // The same context is none the worse for it.
        #expect(try context.process(sealed, nonce: nonce, outputByteCount: 35) == sample(35))
    }

    @Test("chunks of all kinds of lengths are the same in every backend", arguments: names)
    func lengths(name: String) throws {
        let backend = try BackendRegistry.backend(named: name)
        let reference = try BackendRegistry.backend(named: "openssl")
        for keyByteCount in [16, 24, 32] {
            let key = try SecretKey(sample(keyByteCount))
            // The same contexts throughout: nothing may be left over from earlier chunks.
            let sealing = try backend.makeChunkContext(direction: .encrypt, key: key)
            let opening = try backend.makeChunkContext(direction: .decrypt, key: key)
            for count in [0, 1, 15, 16, 17, 31, 127, 128, 129, 511, 512, 513, 4056, 4080] {
                let nonce = sample(12 + count).suffix(12)
                let sealed = try reference.seal(sample(count), key: key, nonce: Array(nonce))
                let found = try sealing.process(sample(count), nonce: Array(nonce), outputByteCount: count + 16)
                #expect(found == sealed, "\(count) bytes")
                #expect(
                    try opening.process(sealed, nonce: Array(nonce), outputByteCount: count) == sample(count),
                    "\(count) bytes")
            }
        }
    }

    @Test("of a chunk that is not authentic nothing is left", arguments: names)
    func erasure(name: String) throws {
        let backend = try BackendRegistry.backend(named: name)
        let (key, nonce) = (try SecretKey(sample(32)), sample(12))
        var sealed = try backend.seal([UInt8](repeating: 0x5a, count: 1000), key: key, nonce: nonce)
        sealed[999] ^= 1
        let context = try backend.makeChunkContext(direction: .decrypt, key: key)
        var output = [UInt8](repeating: 0x77, count: 1001)
        #expect(throws: DecryptionError.authenticationFailed(chunk: 7)) {
            try sealed.withUnsafeBytes { sealed in
                try output.withUnsafeMutableBytes { output in
                    let start = try #require(output.baseAddress)
                    try context.open(sealed, chunk: 7, into: start, start: try Block(nonce + [0, 0, 0, 1]))
                }
            }
        }
        #expect(output == [UInt8](repeating: 0, count: 1000) + [0x77])
    }

    @Test("less than a tag is an error, not a chunk", arguments: names)
    func tooShort(name: String) throws {
        let backend = try BackendRegistry.backend(named: name)
        let context = try backend.makeChunkContext(direction: .decrypt, key: SecretKey(sample(16)))
        for count in [0, 1, 15] {
            #expect(throws: DecryptionError.self) {
                try context.process(sample(count), nonce: sample(12), outputByteCount: 0)
            }
        }
    }

    @Test(
        "Wycheproof's cases with nonces of 96 bits and no additional data",
        .enabled(if: wycheproofFile != nil, "WYCHEPROOF_AES_GCM is not set"),
        arguments: names)
    func wycheproof(name: String) throws {
        let backend = try BackendRegistry.backend(named: name)
        let data = try Data(contentsOf: URL(filePath: try #require(wycheproofFile)))
        let file = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        var count = 0
        for group in try #require(file["testGroups"] as? [[String: Any]]) {
            guard group["ivSize"] as? Int == 96, group["tagSize"] as? Int == 128 else { continue }
            for test in try #require(group["tests"] as? [[String: Any]]) where test["aad"] as? String == "" {
                func member(_ name: String) throws -> [UInt8] { bytes(try #require(test[name] as? String)) }
                let key = try SecretKey(try member("key"))
                let opened = try backend.open(try member("ct") + member("tag"), key: key, nonce: try member("iv"))
                let isValid = test["result"] as? String == "valid"
                #expect(opened == (isValid ? try member("msg") : nil), "case \(test["tcId"] ?? "")")
                count += 1
            }
        }
        #expect(count == 145)
    }
}
