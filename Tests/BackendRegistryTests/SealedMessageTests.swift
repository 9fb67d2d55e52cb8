import BackendRegistry
import Foundation
import RandomAccess
import Testing

/// A key, a nonce, associated data, a plaintext, and what AES-GCM makes of them.
struct SealedAnswer: Sendable, CustomTestStringConvertible {
    var key: String
    var nonce = "000000000000000000000000"
    var associatedData = ""
    var plaintext = ""
    var sealed: String
    var testDescription: String {
        "AES-\(key.count * 4), \(plaintext.count / 2) bytes, nonce \(nonce.prefix(8)) of \(nonce.count / 2), "
            + "\(associatedData.count / 2) of associated data"
    }

    /// Source: McGrew and Viega, "The Galois/Counter Mode of Operation (GCM)", appendix B, test cases 1 to 6 and 13
    /// to 18.
    private static let mcGrewAndViega = [
        SealedAnswer(key: zeros(16), sealed: "58e2fccefa7e3061367f1d57a4e7455a"),
        SealedAnswer(
            key: zeros(16), plaintext: zeros(16),
            sealed: "0388dace60b6a392f328c2b971b2fe78ab6e47d42cec13bdf53a67b21257bddf"),
        SealedAnswer(
            key: shortKey, nonce: "cafebabefacedbaddecaf888", plaintext: long,
            sealed: "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa05"
                + "1ba30b396a0aac973d58e091473f59854d5c2af327cd64a62cf35abd2ba6fab4"),
        SealedAnswer(
            key: shortKey, nonce: "cafebabefacedbaddecaf888", associatedData: associated, plaintext: short,
            sealed: "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa05"
                + "1ba30b396a0aac973d58e0915bc94fbc3221a5db94fae95ae7121a47"),
        SealedAnswer(
            key: shortKey, nonce: "cafebabefacedbad", associatedData: associated, plaintext: short,
            sealed: "61353b4c2806934a777ff51fa22a4755699b2a714fcdc6f83766e5f97b6c742373806900e49f24b22b097544d4896b42"
                + "4989b5e1ebac0f07c23f45983612d2e79e3b0785561be14aaca2fccb"),
        SealedAnswer(
            key: shortKey, nonce: longNonce, associatedData: associated, plaintext: short,
            sealed: "8ce24998625615b603a033aca13fb894be9112a5c3a211a8ba262a3cca7e2ca701e4a9a4fba43c90ccdcb281d48c7c6f"
                + "d62875d2aca417034c34aee5619cc5aefffe0bfa462af43c1699d050"),
        SealedAnswer(key: zeros(32), sealed: "530f8afbc74536b9a963b4f1c4cb738b"),
        SealedAnswer(
            key: zeros(32), plaintext: zeros(16),
            sealed: "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919"),
        SealedAnswer(
            key: shortKey + shortKey, nonce: "cafebabefacedbaddecaf888", plaintext: long,
            sealed: "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838"
                + "c5f61e6393ba7a0abcc9f662898015adb094dac5d93471bdec1a502270e3cc6c"),
        SealedAnswer(
            key: shortKey + shortKey, nonce: "cafebabefacedbaddecaf888", associatedData: associated, plaintext: short,
            sealed: "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838"
                + "c5f61e6393ba7a0abcc9f66276fc6ece0f4e1768cddf8853bb2d551b"),
        SealedAnswer(
            key: shortKey + shortKey, nonce: "cafebabefacedbad", associatedData: associated, plaintext: short,
            sealed: "c3762df1ca787d32ae47c13bf19844cbaf1ae14d0b976afac52ff7d79bba9de0feb582d33934a4f0954cc2363bc73f78"
                + "62ac430e64abe499f47c9b1f3a337dbf46a792c45e454913fe2ea8f2"),
        SealedAnswer(
            key: shortKey + shortKey, nonce: longNonce, associatedData: associated, plaintext: short,
            sealed: "5a8def2f0c9e53f1f75d7853659e2a20eeb2b22aafde6419a058ab4f6f746bf40fc0c3b780f244452da3ebf1c5d82cde"
                + "a2418997200ef82e44ae7e3fa44a8266ee1c8eb0c8b5d4cf5ae9f19a"),
    ]

    /// Nonces of one byte. Source: NIST CAVP, gcmEncryptExtIV128.rsp and its two siblings, the first cases of IVlen
    /// 8, PTlen 104 and AADlen 160.
    private static let shortNonces = [
        SealedAnswer(
            key: "a5a10d0f6d323ca2b39596036afcdf7d", nonce: "52",
            associatedData: "1b5f6c949cc5be523ae4732d12bb189ffaeadd91", plaintext: "f85be0138fb4c19717633a5f37",
            sealed: "4ed45067f32cc97836908c692580359250836667494cd27631de910bfa"),
        SealedAnswer(
            key: "cc5099551cdb9897abd3f419f0b1a87ea102bb1f9e7def91", nonce: "36",
            associatedData: "a20026630e50c24eeb98e07d23367b8dbf98c629", plaintext: "527571c910718afa58c7d23754",
            sealed: "f16aa704406b2506228873215d96c2d4468390f2de32c970ae8643ce8c"),
        SealedAnswer(
            key: "bfe5a8faf6791bda313a6026beb91d8e23274c79276e807e25d30aa00d440da7", nonce: "9d",
            associatedData: "6175a08f4c1604545ad9e6ec6354b69a63b034ee", plaintext: "616dd54e73c0139712a0231788",
            sealed: "28032774bc8507df0226b8427b1f8d71d8b66e9db9a7903d85e8fc113d"),
    ]

    /// Nonces of 16 bytes; of all but the first, the counter's last 4 bytes wrap, and nothing is carried out of them.
    /// Source: Wycheproof, aes_gcm_test.json, tcId 71, 77, 79, 80 and 160.
    private static let blockNonces = [
        SealedAnswer(
            key: "2034a82547276c83dd3212a813572bce", nonce: "3254202d854734812398127a3d134421",
            associatedData: "1a0293d8f90219058902139013908190bc490890d3ff12a3",
            plaintext: "02efd2e5782312827ed5d230189a2a342b277ce048462193",
            sealed: "64069c2d58690561f27ee199e6b479b6369eec688672bde99b7abadd6e69c1d9ec925786534f5075"),
        SealedAnswer(
            key: "00112233445566778899aabbccddeeff", nonce: "f95fde4a751913202aeeee32a0b55753", plaintext: zeros(40),
            sealed: "00078d109d92143fcd5df56721b884fac64ac7762cc09eea2a3c68e92a17bdb575f87bda18be564e"
                + "152a65045fe674f97627427af5be22da"),
        SealedAnswer(
            key: "00112233445566778899aabbccddeeff", nonce: "1a552e67cdc4dc1a33b824874ebf0bed", plaintext: zeros(40),
            sealed: "948ca37a8e6649e88aeffb1c598f3607007702417ea0e0bc3c60ad5a949886de968cf53ea6462aed"
                + "99b381bfa2af9751c39d1b6e86d1be6a"),
        SealedAnswer(
            key: "00112233445566778899aabbccddeeff", nonce: "dd9d0b4a0c3d681524bffca31d907661", plaintext: zeros(40),
            sealed: "64b19314c31af45accdf7e3c4db79f0d948ca37a8e6649e88aeffb1c598f3607007702417ea0e0bc"
                + "5281efc7f13ac8e14ccf5dca7bfbfdd1"),
        SealedAnswer(
            key: "00112233445566778899aabbccddeeff1021324354657687", nonce: "40bb0abebc483ff6d5671241ff5d66c6",
            plaintext: zeros(40),
            sealed: "2a818888d1f09f32aa7beedd2869b446575e2ecec2b3c72d4e80830d0d859ad9e42c29c4a68d8d9d"
                + "dc481f172545268eff63ab0490403dc3"),
    ]

    static let all = mcGrewAndViega + shortNonces + blockNonces

    private static let shortKey = "feffe9928665731c6d6a8f9467308308"
    private static let longNonce =
        "9313225df88406e555909c5aff5269aa6a7a9538534f7da1e4c303d2a318a728c3c0c95156809539fcf0e2429a6b5254"
        + "16aedbf5a0de6a57a637b39b"
    private static let associated = "feedfacedeadbeeffeedfacedeadbeefabaddad2"
    private static let long =
        "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525"
        + "b16aedf5aa0de657ba637b391aafd255"
    private static let short = String(long.prefix(120))

    private static func zeros(_ count: Int) -> String { String(repeating: "00", count: count) }
}

extension CipherBackend {
    func seal(
        _ plaintext: [UInt8], key: SecretKey, nonce: [UInt8], associatedData: [UInt8] = []
    ) throws -> [UInt8] {
        let context = try makeContext(.aesGCM, .encrypt, key: key)
        return try #require(
            try context.process(
                plaintext, nonce: nonce, associatedData: associatedData, outputByteCount: plaintext.count + 16))
    }

    /// `nil` for a message that is not authentic.
    func open(
        _ sealed: [UInt8], key: SecretKey, nonce: [UInt8], associatedData: [UInt8] = []
    ) throws -> [UInt8]? {
        try makeContext(.aesGCM, .decrypt, key: key).process(
            sealed, nonce: nonce, associatedData: associatedData, outputByteCount: sealed.count - 16)
    }
}

extension CipherContext {
    /// `nil` for a message that is not authentic; nothing around the output may change.
    func process(
        _ input: [UInt8], nonce: [UInt8], associatedData: [UInt8] = [], outputByteCount: Int
    ) throws -> [UInt8]? {
        var buffer = [UInt8](repeating: 0x77, count: outputByteCount + 2)
        let isAuthentic = try buffer.withUnsafeMutableBytes { buffer in
            let output = try #require(buffer.baseAddress) + 1
            return try input.withUnsafeBytes { input in
                try nonce.withUnsafeBytes { nonce in
                    try associatedData.withUnsafeBytes {
                        try process(input, into: output, nonce: nonce, associatedData: $0)
                    }
                }
            }
        }
        #expect(buffer.first == 0x77 && buffer.last == 0x77)
        return isAuthentic ? Array(buffer[1..<1 + outputByteCount]) : nil
    }
}

/// The backends of this machine that have AES-GCM.
private let names = BackendRegistry.availableNames(having: .aesGCM)

/// Wycheproof's `aes_gcm_test.json`, where the variable says that it is.
private let wycheproofFile = ProcessInfo.processInfo.environment["WYCHEPROOF_AES_GCM"]

@Suite("messages with tags in every backend")
struct SealedMessageTests {
    /// The error that a backend throws for a nonce that it does not take.
    private static func refusal(
        _ byteCount: Int, in name: String, of cipher: Cipher = .aesGCM
    ) -> DecryptionError {
        .unsupported("\(cipher.rawValue) with a nonce of \(byteCount) bytes in \(name)")
    }

    @Test("most backends have AES-GCM, and the others say so")
    func offers() throws {
        #expect(Set(BackendRegistry.availableNames).subtracting(names).isSubset(of: ["af-alg", "sodium"]))
        #expect(names.count >= 4)
        for name in BackendRegistry.availableNames where !names.contains(name) {
            let backend = try BackendRegistry.backend(named: name)
            #expect(throws: DecryptionError.unsupported("aes-gcm in \(name) \(backend.version)")) {
                try backend.makeContext(.aesGCM, .decrypt, key: try SecretKey(sample(16)))
            }
        }
    }

    @Test("what a backend says of its ciphers is so", arguments: BackendRegistry.availableNames)
    func support(name: String) throws {
        let backend = try BackendRegistry.backend(named: name)
        #expect(Set(backend.ciphers.map(\.cipher)).count == backend.ciphers.count)
        for support in backend.ciphers {
            let cipher = support.cipher
            #expect(support.keyByteCounts == cipher.keyByteCounts)
            #expect(backend.supports(cipher, keyByteCount: 32, nonceByteCount: support.nonceByteCounts.lowerBound))
            #expect(backend.supports(cipher, nonceByteCount: cipher.nonceByteCount))
            #expect(!backend.supports(cipher, keyByteCount: 20) && !backend.supports(cipher, nonceByteCount: 0))
            let reason = "\(cipher.rawValue) with a key of 20 bytes in \(name) \(backend.version)"
            #expect(throws: DecryptionError.unsupported(reason)) {
                try backend.makeContext(cipher, .decrypt, key: SecretKey(material: sample(20)))
            }
            for direction in CipherDirection.allCases {
                let context = try backend.makeContext(cipher, direction, key: SecretKey(sample(32)))
                for count in [0, 1, 11, 12, 15, 16, 17, 24, 128, 129, 300]
                where !support.nonceByteCounts.contains(count) {
                    let error: DecryptionError =
                        cipher.isAuthenticated
                        ? Self.refusal(count, in: name, of: cipher) : .invalidIV(byteCount: count)
                    #expect(throws: error) {
                        try context.process(sample(32), nonce: sample(count), outputByteCount: 48)
                    }
                }
            }
        }
        #expect(backend.supports(.aesGCM, nonceByteCount: 16) == backend.supports(.aesGCM))
    }

    @Test("streaming ciphers ignore associated data", arguments: aesNames, Cipher.streaming)
    func ignored(name: String, cipher: Cipher) throws {
        let backend = try BackendRegistry.backend(named: name)
        let (key, iv) = (try SecretKey(sample(32)), sample(16))
        let expected = try backend.process(cipher, .decrypt, sample(48), key: key, iv: Block(iv))
        let context = try backend.makeContext(cipher, .decrypt, key: key)
        let found = try context.process(sample(48), nonce: iv, associatedData: sample(7), outputByteCount: 48)
        #expect(found == expected)
    }

    @Test("the published answers", arguments: names, SealedAnswer.all)
    func knownAnswers(name: String, answer: SealedAnswer) throws {
        let backend = try BackendRegistry.backend(named: name)
        let (key, nonce) = (try SecretKey(bytes(answer.key)), bytes(answer.nonce))
        let associatedData = bytes(answer.associatedData)
        guard backend.supports(.aesGCM, nonceByteCount: nonce.count) else {
            #expect(throws: Self.refusal(nonce.count, in: name)) {
                try backend.open(bytes(answer.sealed), key: key, nonce: nonce, associatedData: associatedData)
            }
            return
        }
        let sealed = try backend.seal(
            bytes(answer.plaintext), key: key, nonce: nonce, associatedData: associatedData)
        #expect(sealed == bytes(answer.sealed))
        let opened = try backend.open(bytes(answer.sealed), key: key, nonce: nonce, associatedData: associatedData)
        #expect(opened == bytes(answer.plaintext))
    }

    @Test(
        "every bit of ciphertext, tag, nonce, associated data and key counts", arguments: names, [(12, 0), (16, 21)])
    func changes(name: String, lengths: (nonce: Int, associatedData: Int)) throws {
        let backend = try BackendRegistry.backend(named: name)
        let (key, nonce, associatedData) = (sample(16), sample(lengths.nonce), sample(lengths.associatedData))
        let sealed = try backend.seal(sample(35), key: SecretKey(key), nonce: nonce, associatedData: associatedData)
        let context = try backend.makeContext(.aesGCM, .decrypt, key: SecretKey(key))
        func open(_ sealed: [UInt8], _ nonce: [UInt8], _ associatedData: [UInt8]) throws -> [UInt8]? {
            try context.process(
                sealed, nonce: nonce, associatedData: associatedData, outputByteCount: sealed.count - 16)
        }
        for place in 0..<sealed.count {
            var changed = sealed
            changed[place] ^= 1 << UInt8(place % 8)
            #expect(try open(changed, nonce, associatedData) == nil, "byte \(place)")
        }
        for place in nonce.indices {
            var changed = nonce
            changed[place] ^= 0x80
            #expect(try open(sealed, changed, associatedData) == nil, "nonce byte \(place)")
        }
        for place in associatedData.indices {
            var changed = associatedData
            changed[place] ^= 4
            #expect(try open(sealed, nonce, changed) == nil, "byte \(place) of associated data")
            #expect(try open(sealed, nonce, Array(associatedData.prefix(place))) == nil, "\(place) bytes of it")
        }
        // Longer by zeros, as GHASH pads it.
        #expect(try open(sealed, nonce, associatedData + [0]) == nil)
        #expect(try open(sealed, nonce + [0], associatedData) == nil)
        for place in 0..<16 {
            var changed = key
            changed[place] ^= 1
            let found = try backend.open(
                sealed, key: SecretKey(changed), nonce: nonce, associatedData: associatedData)
            #expect(found == nil, "key byte \(place)")
        }
        for count in 16..<sealed.count {
            #expect(try open(Array(sealed.prefix(count)), nonce, associatedData) == nil)
        }
        // The same context is none the worse for it.
        #expect(try open(sealed, nonce, associatedData) == sample(35))
    }

    @Test("messages of all kinds of lengths are the same in every backend", arguments: names)
    func lengths(name: String) throws {
        let backend = try BackendRegistry.backend(named: name)
        let reference = try BackendRegistry.backend(named: "openssl")
        for keyByteCount in [16, 24, 32] {
            let key = try SecretKey(sample(keyByteCount))
            // The same contexts throughout: nothing may be left over from earlier messages.
            let sealing = try backend.makeContext(.aesGCM, .encrypt, key: key)
            let opening = try backend.makeContext(.aesGCM, .decrypt, key: key)
            func check(_ count: Int, nonce: [UInt8], _ associatedData: [UInt8]) throws {
                let sealed = try reference.seal(sample(count), key: key, nonce: nonce, associatedData: associatedData)
                let found = try sealing.process(
                    sample(count), nonce: nonce, associatedData: associatedData, outputByteCount: count + 16)
                let opened = try opening.process(
                    sealed, nonce: nonce, associatedData: associatedData, outputByteCount: count)
                #expect(
                    found == sealed && opened == sample(count),
                    "\(count) bytes, nonce of \(nonce.count), \(associatedData.count) of associated data")
            }
            for count in [0, 1, 15, 16, 17, 31, 127, 128, 129, 511, 512, 513, 4056, 4080] {
                try check(count, nonce: Array(sample(12 + count).suffix(12)), [])
                try check(count, nonce: Array(sample(16 + count).suffix(16)), sample(count % 50))
            }
            for count in [1, 8, 11, 12, 13, 15, 16, 17, 31, 32, 60, 64, 128]
            where backend.supports(.aesGCM, nonceByteCount: count) {
                for associatedByteCount in [0, 1, 15, 16, 17, 33, 300] {
                    try check(35, nonce: sample(count), sample(associatedByteCount))
                }
            }
        }
    }

    @Test("of a message that is not authentic nothing is left", arguments: names)
    func erasure(name: String) throws {
        let backend = try BackendRegistry.backend(named: name)
        let (key, nonce, associatedData) = (try SecretKey(sample(32)), sample(16), sample(9))
        let sealed = try backend.seal(
            [UInt8](repeating: 0x5a, count: 1000), key: key, nonce: nonce, associatedData: associatedData)
        let context = try backend.makeContext(.aesGCM, .decrypt, key: key)
        var output = [UInt8](repeating: 0x77, count: 1001)
        #expect(throws: DecryptionError.authenticationFailed(chunk: 7)) {
            try output.withUnsafeMutableBytes { output in
                let start = try #require(output.baseAddress)
                try sealed.withUnsafeBytes { sealed in
                    try nonce.withUnsafeBytes { nonce in
                        // Without its associated data.
                        try context.open(sealed, chunk: 7, into: start, nonce: nonce)
                    }
                }
            }
        }
        #expect(output == [UInt8](repeating: 0, count: 1000) + [0x77])
    }

    @Test("less than a tag is an error, not a message", arguments: names)
    func tooShort(name: String) throws {
        let backend = try BackendRegistry.backend(named: name)
        let context = try backend.makeContext(.aesGCM, .decrypt, key: SecretKey(sample(16)))
        for count in [0, 1, 15] {
            #expect(throws: DecryptionError.self) {
                try context.process(sample(count), nonce: sample(12), outputByteCount: 0)
            }
        }
    }

    @Test(
        "Wycheproof's cases", .enabled(if: wycheproofFile != nil, "WYCHEPROOF_AES_GCM is not set"), arguments: names)
    func wycheproof(name: String) throws {
        let backend = try BackendRegistry.backend(named: name)
        let data = try Data(contentsOf: URL(filePath: try #require(wycheproofFile)))
        let file = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        var count = 0
        for group in try #require(file["testGroups"] as? [[String: Any]]) {
            guard group["tagSize"] as? Int == 128 else { continue }
            for test in try #require(group["tests"] as? [[String: Any]]) {
                func member(_ name: String) throws -> [UInt8] { bytes(try #require(test[name] as? String)) }
                let (key, nonce) = (try SecretKey(try member("key")), try member("iv"))
                let (sealed, associatedData) = (try member("ct") + member("tag"), try member("aad"))
                let isValid = test["result"] as? String == "valid"
                count += 1
                guard backend.supports(.aesGCM, nonceByteCount: nonce.count) else {
                    #expect(throws: Self.refusal(nonce.count, in: name)) {
                        try backend.open(sealed, key: key, nonce: nonce, associatedData: associatedData)
                    }
                    continue
                }
                let opened = try backend.open(sealed, key: key, nonce: nonce, associatedData: associatedData)
                #expect(opened == (isValid ? try member("msg") : nil), "case \(test["tcId"] ?? "")")
            }
        }
        #expect(count == 316)
    }
}
