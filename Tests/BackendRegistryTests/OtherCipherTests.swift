import BackendRegistry
import RandomAccess
import Testing

/// A key, a nonce, associated data, a plaintext, and what a cipher makes of them.
struct CipherAnswer: Sendable, CustomTestStringConvertible {
    var cipher: Cipher
    var title: String
    var key: [UInt8]
    var nonce: [UInt8]
    var associatedData: [UInt8] = []
    var plaintext: [UInt8]
    /// The ciphertext, and the tag behind it where there is one.
    var output: [UInt8]
    var testDescription: String { "\(cipher.rawValue), \(title)" }

    private static let sunscreen = Array(
        ("Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, "
            + "sunscreen would be it.").utf8)

    private static let sealed = [
        CipherAnswer(
            cipher: .chaCha20Poly1305, title: "RFC 8439, section 2.8.2", key: Array(0x80..<0xA0),
            nonce: bytes("070000004041424344454647"), associatedData: bytes("50515253c0c1c2c3c4c5c6c7"),
            plaintext: sunscreen,
            output: bytes(
                "d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d63dbea45e8ca9671282fafb69da92728b"
                    + "1a71de0a9e060b2905d6a5b67ecd3b3692ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc"
                    + "3ff4def08e4b7a9de576d26586cec64b61161ae10b594f09e26a7e902ecbd0600691")),
        CipherAnswer(
            cipher: .xChaCha20Poly1305, title: "draft-irtf-cfrg-xchacha-03, A.3.1", key: Array(0x80..<0xA0),
            nonce: Array(0x40..<0x58), associatedData: bytes("50515253c0c1c2c3c4c5c6c7"), plaintext: sunscreen,
            output: bytes(
                "bd6d179d3e83d43b9576579493c0e939572a1700252bfaccbed2902c21396cbb731c7f1b0b4aa6440bf3a82f4eda7e39"
                    + "ae64c6708c54c216cb96b72e1213b4522f8c9ba40db5d945b11b69b982c1bb9e3f3fac2bc369488f76b2383565d3fff9"
                    + "21f9664c97637da9768812f615c68b13b52ec0875924c1c7987947deafd8780acf49")),
        // NaCl's output begins with the tag.
        CipherAnswer(
            cipher: .xSalsa20Poly1305, title: "nacl-20110221, tests/secretbox.c",
            key: bytes("1b27556473e985d462cd51197a9a46c76009549eac6474f206c4ee0844f68389"),
            nonce: bytes("69696ee955b62b73cd62bda875fc73d68219e0036b7a0b37"),
            plaintext: bytes(
                "be075fc53c81f2d5cf141316ebeb0c7b5228c52a4c62cbd44b66849b64244ffce5ecbaaf33bd751a1ac728d45e6c6129"
                    + "6cdc3c01233561f41db66cce314adb310e3be8250c46f06dceea3a7fa1348057e2f6556ad6b1318a024a838f21af1fde"
                    + "048977eb48f59ffd4924ca1c60902e52f0a089bc76897040e082f937763848645e0705"),
            output: bytes(
                "8e993b9f48681273c29650ba32fc76ce48332ea7164d96a4476fb8c531a1186ac0dfc17c98dce87b4da7f011ec48c972"
                    + "71d2c20f9b928fe2270d6fb863d51738b48eeee314a7cc8ab932164548e526ae90224368517acfeabd6bb3732bc0e9da"
                    + "99832b61ca01b6de56244a9e88d5f9b37973f622a43d14a6599b1f654cb45a74e355a5"
                    + "f3ffc7703f9400e52a7dfb4b3d3305d9")),
    ]

    /// Source: IEEE 1619-2007, annex B. Of the data unit's number, the lowest byte comes first.
    private static let units = [
        CipherAnswer(
            cipher: .aesXTS, title: "IEEE 1619-2007, vector 1", key: [UInt8](repeating: 0, count: 32),
            nonce: [UInt8](repeating: 0, count: 16), plaintext: [UInt8](repeating: 0, count: 32),
            output: bytes("917cf69ebd68b2ec9b9fe9a3eadda692cd43d2f59598ed858c02c2652fbf922e")),
        CipherAnswer(
            cipher: .aesXTS, title: "IEEE 1619-2007, vector 2",
            key: [UInt8](repeating: 0x11, count: 16) + [UInt8](repeating: 0x22, count: 16),
            nonce: bytes("33333333330000000000000000000000"), plaintext: [UInt8](repeating: 0x44, count: 32),
            output: bytes("c454185e6a16936e39334038acef838bfb186fff7480adc4289382ecd6d394f0")),
        CipherAnswer(
            cipher: .aesXTS, title: "IEEE 1619-2007, vector 4",
            key: bytes("27182818284590452353602874713526" + "31415926535897932384626433832795"),
            nonce: [UInt8](repeating: 0, count: 16), plaintext: Array(0...255) + Array(0...255),
            output: bytes(
                "27a7479befa1d476489f308cd4cfa6e2a96e4bbe3208ff25287dd3819616e89cc78cf7f5e543445f8333d8fa7f560000"
                    + "05279fa5d8b5e4ad40e736ddb4d35412328063fd2aab53e5ea1e0a9f332500a5df9487d07a5c92cc512c8866c7e860ce"
                    + "93fdf166a24912b422976146ae20ce846bb7dc9ba94a767aaef20c0d61ad02655ea92dc4c4e41a8952c651d33174be51"
                    + "a10c421110e6d81588ede82103a252d8a750e8768defffed9122810aaeb99f9172af82b604dc4b8e51bcb08235a6f434"
                    + "1332e4ca60482a4ba1a03b3e65008fc5da76b70bf1690db4eae29c5f1badd03c5ccf2a55d705ddcd86d449511ceb7ec3"
                    + "0bf12b1fa35b913f9f747a8afd1b130e94bff94effd01a91735ca1726acd0b197c4e5b03393697e126826fb6bbde8ecc"
                    + "1e08298516e2c9ed03ff3c1b7860f6de76d4cecd94c8119855ef5297ca67e9f3e7ff72b1e99785ca0a7e7720c5b36dc6"
                    + "d72cac9574c8cbbc2f801e23e56fd344b07f22154beba0f08ce8891e643ed995c94d9a69c9f1b5f499027a78572aeebd"
                    + "74d20cc39881c213ee770b1010e4bea718846977ae119f7a023ab58cca0ad752afe656bb3c17256a9f6e9bf19fdd5a38"
                    + "fc82bbe872c5539edb609ef4f79c203ebb140f2e583cb2ad15b4aa5b655016a8449277dbd477ef2c8d6c017db738b18d"
                    + "eb4a427d1923ce3ff262735779a418f20a282df920147beabe421ee5319d0568")),
        CipherAnswer(
            cipher: .aesXTS, title: "IEEE 1619-2007, vector 10",
            key: bytes(
                "2718281828459045235360287471352662497757247093699959574966967627"
                    + "3141592653589793238462643383279502884197169399375105820974944592"),
            nonce: [0xFF] + [UInt8](repeating: 0, count: 15), plaintext: Array(0...255) + Array(0...255),
            output: bytes(
                "1c3b3a102f770386e4836c99e370cf9bea00803f5e482357a4ae12d414a3e63b5d31e276f8fe4a8d66b317f9ac683f44"
                    + "680a86ac35adfc3345befecb4bb188fd5776926c49a3095eb108fd1098baec70aaa66999a72a82f27d848b21d4a741b0"
                    + "c5cd4d5fff9dac89aeba122961d03a757123e9870f8acf1000020887891429ca2a3e7a7d7df7b10355165c8b9a6d0a7d"
                    + "e8b062c4500dc4cd120c0f7418dae3d0b5781c34803fa75421c790dfe1de1834f280d7667b327f6c8cd7557e12ac3a0f"
                    + "93ec05c52e0493ef31a12d3d9260f79a289d6a379bc70c50841473d1a8cc81ec583e9645e07b8d9670655ba5bbcfecc6"
                    + "dc3966380ad8fecb17b6ba02469a020a84e18e8f84252070c13e9f1f289be54fbc481457778f616015e1327a02b140f1"
                    + "505eb309326d68378f8374595c849d84f4c333ec4423885143cb47bd71c5edae9be69a2ffeceb1bec9de244fbe15992b"
                    + "11b77c040f12bd8f6a975a44a0f90c29a9abc3d4d893927284c58754cce294529f8614dcd2aba991925fedc4ae74ffac"
                    + "6e333b93eb4aff0479da9a410e4450e0dd7ae4c6e2910900575da401fc07059f645e8b7e9bfdef33943054ff84011493"
                    + "c27b3429eaedb4ed5376441a77ed43851ad77f16f541dfd269d50d6a5f14fb0aab1cbb4c1550be97f7ab4066193c4caa"
                    + "773dad38014bd2092fa755c824bb5e54c4f36ffda9fcea70b9c6e693e148c151")),
    ]

    static let all = sealed + units + modes
}

/// The ciphers beside CBC, CTR and GCM.
private let others: [Cipher] = [
    .chaCha20Poly1305, .xChaCha20Poly1305, .xSalsa20Poly1305, .aesXTS, .aesOCB, .aesEAX, .aesGCMSIV, .aesSIV,
]
private let authenticated = others.filter(\.isAuthenticated)

/// Each of some ciphers with each backend of this machine that has it.
private func offers(_ ciphers: [Cipher]) -> [(name: String, cipher: Cipher)] {
    ciphers.flatMap { cipher in BackendRegistry.availableNames(having: cipher).map { ($0, cipher) } }
}

@Suite("ChaCha20, XChaCha20, XSalsa20, XTS, OCB, EAX, GCM-SIV and SIV")
struct OtherCipherTests {
    @Test("what kind of cipher each is")
    func kinds() {
        #expect(Cipher.streaming == [.aesCBC, .aesCTR])
        #expect(Cipher.allCases.filter(\.isAuthenticated) == [.aesGCM] + authenticated)
        #expect(Cipher.allCases.allSatisfy { $0.tagByteCount == ($0.isAuthenticated ? 16 : 0) })
        #expect(
            Cipher.allCases.map(\.mode) == [
                "cbc", "ctr", "gcm", "chacha20-poly1305", "xchacha20-poly1305", "xsalsa20-poly1305", "xts", "ocb",
                "eax",
                "gcm-siv", "siv",
            ])
    }

    @Test("who has what")
    func backends() {
        let names = Set(BackendRegistry.availableNames)
        func expect(_ cipher: Cipher, _ expected: Set<String>) {
            #expect(Set(BackendRegistry.availableNames(having: cipher)) == expected.intersection(names))
        }
        let swift: Set = ["swift-reference", "swift-bitsliced"]
        expect(.chaCha20Poly1305, swift.union(["openssl", "libgcrypt", "boringssl", "nettle", "sodium"]))
        expect(.aesXTS, swift.union(["openssl", "libgcrypt", "nettle"]))
        expect(.aesOCB, swift.union(["openssl", "libgcrypt"]))
        expect(.aesEAX, swift.union(["libgcrypt", "nettle"]))
        expect(.aesGCMSIV, swift.union(["libgcrypt", "boringssl"]))
        expect(.aesSIV, swift.union(["openssl", "libgcrypt", "nettle"]))
        expect(.xChaCha20Poly1305, swift.union(["sodium"]))
        expect(.xSalsa20Poly1305, swift.union(["sodium"]))
    }

    @Test("the published answers", arguments: CipherAnswer.all)
    func knownAnswers(answer: CipherAnswer) throws {
        let names = BackendRegistry.availableNames(having: answer.cipher)
        #expect(!names.isEmpty)
        let key = try SecretKey(material: answer.key)
        for name in names {
            let backend = try BackendRegistry.backend(named: name)
            func process(_ direction: CipherDirection, _ input: [UInt8], _ count: Int) throws -> [UInt8]? {
                try backend.makeContext(answer.cipher, direction, key: key).process(
                    input, nonce: answer.nonce, associatedData: answer.associatedData, outputByteCount: count)
            }
            #expect(
                try process(.decrypt, answer.output, answer.plaintext.count) == answer.plaintext, "\(name)")
            // Both keys of vector 1 are the same one, with which OpenSSL decrypts only.
            if name == "openssl", Set(answer.key).count == 1 {
                #expect(throws: DecryptionError.self) { try process(.encrypt, answer.plaintext, answer.output.count) }
                continue
            }
            #expect(try process(.encrypt, answer.plaintext, answer.output.count) == answer.output, "\(name)")
        }
    }

    @Test("every length is the same in each library that has the cipher, and is read back", arguments: offers(others))
    func lengths(name: String, cipher: Cipher) throws {
        let reference = try #require(BackendRegistry.availableNames(having: cipher).first)
        // Past four blocks of 64 bytes, which the streams in Swift are made of, and the start of one in the middle.
        let batches = cipher.keyByteCounts == [32] ? Array(190...290) + Array(440...520) : []
        let lengths = Array(0...70) + batches + [4096, 65536, 65537]
        for keyByteCount in cipher.keyByteCounts {
            let key = try SecretKey(material: sample(keyByteCount))
            func context(_ name: String, _ direction: CipherDirection) throws -> any CipherContext {
                try BackendRegistry.backend(named: name).makeContext(cipher, direction, key: key)
            }
            // The same contexts throughout: nothing may be left over from earlier messages.
            let (expected, sealing) = (try context(reference, .encrypt), try context(name, .encrypt))
            let opening = try context(name, .decrypt)
            for length in lengths {
                let length = cipher == .aesXTS ? 16 * min(length + 1, 4096) : length
                let nonce = Array(sample(cipher.nonceByteCount + length).suffix(cipher.nonceByteCount))
                let associatedData = cipher == .xSalsa20Poly1305 ? [] : sample(length % 40)
                let outputByteCount = length + cipher.tagByteCount
                let output = try #require(
                    try expected.process(
                        sample(length), nonce: nonce, associatedData: associatedData,
                        outputByteCount: outputByteCount))
                let found = try sealing.process(
                    sample(length), nonce: nonce, associatedData: associatedData, outputByteCount: outputByteCount)
                let opened = try opening.process(
                    output, nonce: nonce, associatedData: associatedData, outputByteCount: length)
                #expect(found == output && opened == sample(length), "\(length) bytes")
                guard cipher == .aesXTS else { continue }
                #expect(try sealing.processInPlace(sample(length), iv: Block(nonce)) == output, "\(length) in place")
                #expect(try opening.processInPlace(output, iv: Block(nonce)) == sample(length), "\(length) in place")
            }
        }
    }

    @Test("a message that was changed is refused, and nothing is left of it", arguments: offers(authenticated))
    func changes(name: String, cipher: Cipher) throws {
        let backend = try BackendRegistry.backend(named: name)
        let (key, nonce) = (try SecretKey(sample(32)), sample(cipher.nonceByteCount))
        let associatedData = cipher == .xSalsa20Poly1305 ? [] : sample(21)
        let plaintext = [UInt8](repeating: 0x5A, count: 100)
        let sealed = try #require(
            try backend.makeContext(cipher, .encrypt, key: key).process(
                plaintext, nonce: nonce, associatedData: associatedData, outputByteCount: 116))
        let context = try backend.makeContext(cipher, .decrypt, key: key)
        func open(_ sealed: [UInt8], _ nonce: [UInt8], _ associatedData: [UInt8]) throws -> [UInt8] {
            var output = [UInt8](repeating: 0x77, count: sealed.count - 15)
            do {
                try output.withUnsafeMutableBytes { output in
                    let start = try #require(output.baseAddress)
                    try sealed.withUnsafeBytes { sealed in
                        try nonce.withUnsafeBytes { nonce in
                            try associatedData.withUnsafeBytes {
                                try context.open(sealed, chunk: 7, into: start, nonce: nonce, associatedData: $0)
                            }
                        }
                    }
                }
            } catch DecryptionError.authenticationFailed(chunk: 7) {
                #expect(output == [UInt8](repeating: 0, count: sealed.count - 16) + [0x77])
                return []
            }
            return output.dropLast()
        }
        func changed(_ bytes: [UInt8], _ place: Int) -> [UInt8] {
            var bytes = bytes
            bytes[place] ^= 1 << UInt8(place % 8)
            return bytes
        }
        for place in sealed.indices {
            #expect(try open(changed(sealed, place), nonce, associatedData) == [], "byte \(place)")
        }
        for place in nonce.indices {
            #expect(try open(sealed, changed(nonce, place), associatedData) == [], "byte \(place) of the nonce")
        }
        for place in associatedData.indices {
            #expect(try open(sealed, nonce, changed(associatedData, place)) == [], "byte \(place) beside it")
        }
        for count in [16, 17, 99, 115] {
            #expect(try open(Array(sealed.prefix(count)), nonce, associatedData) == [], "\(count) bytes")
        }
        for count in [0, 1, 15] {
            #expect(throws: DecryptionError.self, "\(count) bytes") {
                try context.process(sample(count), nonce: nonce, outputByteCount: 0)
            }
        }
        // The same context is none the worse for it.
        #expect(try open(sealed, nonce, associatedData) == plaintext)
    }

    @Test("OCB comes to what RFC 7253 iterates to", arguments: BackendRegistry.availableNames(having: .aesOCB))
    func iterated(name: String) throws {
        let expected = [
            16: "67e944d23256c5e0b6c61fa22fdf1ea2", 24: "f673f2c3e7174aae7bae986ca9f29e17",
            32: "d90eb8e9c977c88b79dd793d7ffa161c",
        ]
        for (keyByteCount, output) in expected {
            let key = try SecretKey([UInt8](repeating: 0, count: keyByteCount - 1) + [128])
            let context = try BackendRegistry.backend(named: name).makeContext(.aesOCB, .encrypt, key: key)
            func seal(_ number: Int, _ plaintext: [UInt8], _ associatedData: [UInt8]) throws -> [UInt8] {
                let nonce = [UInt8](repeating: 0, count: 10) + [UInt8(number >> 8), UInt8(number & 255)]
                return try #require(
                    try context.process(
                        plaintext, nonce: nonce, associatedData: associatedData, outputByteCount: plaintext.count + 16))
            }
            var all: [UInt8] = []
            for index in 0..<128 {
                let zeros = [UInt8](repeating: 0, count: index)
                all += try seal(3 * index + 1, zeros, zeros)
                all += try seal(3 * index + 2, zeros, [])
                all += try seal(3 * index + 3, [], zeros)
            }
            #expect(all.count == 22400)
            #expect(try seal(385, [], all) == bytes(output), "\(keyByteCount)")
        }
    }

    @Test("XSalsa20 has no associated data", arguments: BackendRegistry.availableNames(having: .xSalsa20Poly1305))
    func associatedData(name: String) throws {
        let context = try BackendRegistry.backend(named: name)
            .makeContext(.xSalsa20Poly1305, .encrypt, key: SecretKey(sample(32)))
        #expect(throws: DecryptionError.unsupported("xsalsa20-poly1305 with associated data in \(name)")) {
            try context.process(sample(3), nonce: sample(24), associatedData: [1], outputByteCount: 19)
        }
    }

    @Test(
        "a part of a block is no data unit, nor is nothing", arguments: BackendRegistry.availableNames(having: .aesXTS))
    func dataUnits(name: String) throws {
        let backend = try BackendRegistry.backend(named: name)
        for direction in CipherDirection.allCases {
            let context = try backend.makeContext(.aesXTS, direction, key: SecretKey(sample(32)))
            let good = try context.process(sample(48), iv: Block(bigEndianValue: 5))
            for count in [0, 1, 15, 17, 31, 33] {
                let error = DecryptionError.backend(
                    name: name, operation: "aes-xts",
                    reason: "\(count) bytes: expected a multiple of 16, and 16 at least")
                #expect(throws: error) {
                    try context.process(sample(count), nonce: sample(16), outputByteCount: count)
                }
                #expect(try context.process(sample(48), iv: Block(bigEndianValue: 5)) == good)
            }
        }
    }
}
