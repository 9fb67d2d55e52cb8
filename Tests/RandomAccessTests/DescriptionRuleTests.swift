import ByteSources
import Testing

@testable import RandomAccess

/// Descriptions that a user may write: the facts that follow from them, and the rules that are refused.
@Suite("rules of any description")
struct DescriptionRuleTests: ObjectDescribing {
    @Test(
        "objects that cannot be written so that they are read are not written",
        arguments: [
            // A part that depends on itself; a header with less than it checks; the number of chunks in a nonce.
            (
                """
                layout: [{junk: {bytes: 64, is: junk}}, {nonce: 12}, data, {tag: 16}]
                nonce: nonce
                """, "parts of its chunks depend on one another"
            ),
            ("layout: [data, {tag: 16}]\nnonce: u64be(i) ++ u32be(count)", "does not know count"),
            // A header that is a look at the first chunk, which begins with something else.
            (
                """
                header: [{magic: {bytes: 1, is: u8(1)}}]
                start: 0
                layout: [{mark: {bytes: 1, is: u8(2)}}, {nonce: 12}, data, {tag: 16}]
                nonce: nonce
                """, "does not begin with"
            ),
            // Chunks that share a nonce, at once and after 256 of them.
            ("layout: [data, {tag: 16}]\nnonce: zeros(12)", "chunks 0 and 1 have one key and nonce"),
            ("layout: [data, {tag: 16}]\nnonce: u8(i & 255) ++ zeros(11)", "chunks 0 and 256 have one key and nonce"),
        ])
    func refusals(_ members: String, _ expected: String) throws {
        let strategy = try Self.strategy("inputs: {key: 32}\ncipher: aes-gcm\nchunk: 64\nkey: key\n" + members)
        let error = #expect(throws: DecryptionError.self) { try Self.encrypt(Self.plaintext(10), strategy) }
        #expect(error?.protocolName == "unsupported" && "\(error as Any)".contains(expected), "\(error as Any)")
    }

    @Test("counter blocks that overlap are not written")
    func overlap() throws {
        func name(_ nonce: String) throws -> String {
            let strategy = try Self.strategy(
                "inputs: {key: 32, iv: 16}\ncipher: aes-ctr\nchunk: 64\nkey: key\nnonce: \(nonce)",
                ["iv": .block(Block(bigEndianValue: 99))])
            return Self.name { try Self.encrypt(Self.plaintext(200), strategy) }
        }
        #expect(try name("addBE(iv, i * 4)") == "none")
        #expect(try name("addBE(iv, i * 3)") == "unsupported" && name("addBE(iv, i)") == "unsupported")
        #expect(try name("addBE(iv, 0 - i * 4)") == "none" && name("addBE(iv, 0 - i * 3)") == "unsupported")
    }

    @Test(
        "facts follow from what is computed, not from the names that are used",
        arguments: [
            // (nonce, aad, index bound, end bound)
            ("u64be(i) ++ zeros(4)", "zeros(0)", true, false), ("u64be(i / 2) ++ zeros(4)", "zeros(0)", false, false),
            ("u8(i & 255) ++ zeros(11)", "u8(last)", false, true), ("zeros(12)", "u64be(i) ++ u8(last)", true, true),
            ("zeros(12)", "zeros(i - i)", false, false), ("zeros(12)", "u64be(count)", false, true),
            ("mark ++ zeros(8)", "zeros(0)", true, false),
            // In widths that the numbers of a very long object do not fit.
            ("mark ++ zeros(8)", "u8(count)", true, true), ("zeros(12)", "u16be(count)", false, true),
            ("zeros(12)", "u32be(size)", false, true), ("zeros(12)", "u64be(size)", false, true),
            // Cutting off one chunk of a few changes nothing.
            ("zeros(12)", "u64be(count / 1000)", false, false), ("zeros(12)", "u8(count > 5)", false, false),
            ("zeros(12)", "u64be(size / 1000000)", false, false),
        ])
    func facts(_ nonce: String, _ aad: String, _ isIndexBound: Bool, _ isEndBound: Bool) throws {
        let text = """
            inputs: {key: 32}
            cipher: aes-gcm
            chunk: 64
            layout: [{mark: {bytes: 4, is: u32be(i)}}, data, {tag: 16}]
            key: key
            nonce: \(nonce)
            aad: \(aad)
            """
        let facts = try Self.strategy(text).facts()
        #expect(facts.isTagged && facts.isIndexBound == isIndexBound && facts.isEndBound == isEndBound)
        #expect(facts.isObjectBound == false)
    }

    @Test("a part that is only compared binds no chunk to its place")
    func comparedPart() throws {
        let facts = try Self.strategy(
            """
            inputs: {key: 32}
            cipher: aes-gcm
            chunk: 64
            layout: [{index: {bytes: 4, is: u32be(i)}}, {end: {bytes: 1, is: u8(last)}}, {nonce: 12}, data, {tag: 16}]
            key: key
            nonce: nonce
            """
        ).facts()
        #expect(!facts.isIndexBound && !facts.isEndBound && facts.chunksWithOneNonce == nil && !facts.sharesNonces)
    }

    @Test(
        "lengths that follow from the key, and other rules that cannot be, are refused with their place",
        arguments: [
            ("chunk: beInt(truncate(key, 1))", "line 4, column 10: \"key\" follows from the key"),
            (
                "chunk: 64\nderive: [{a: \"truncate(key, 1)\"}, {end: beInt(a)}]\nstart: end",
                "\"end\" follows from the key"
            ),
            ("chunk: 64\nheader: [{f: \"beInt(truncate(key, 1))\"}]", "\"key\" follows from the key"),
            ("chunk: 64\nfullLast: never\nemptyLast: never", "\"allowed\", since a last chunk that is never full"),
            ("chunk: 64\ncheck: [{that: i == 1, error: invalidRequest}]", "unknown name \"i\""),
            (
                "chunk: 64\nheader: [{f: 1}]\ncheck: [{that: beInt(f) == 1, error: invalidRequest}]",
                "expected inputs only"
            ),
            (
                "chunk: 64\nheader: [{f: 1}]\ncheck: [{that: beInt(f) == 1, error: invalidKey}]",
                "inputs and the key only"
            ),
            ("chunk: 64\naad: pbkdf2('sha256', 'a', 'b', 1, 16)", "pbkdf2: expected it in \"derive\" only"),
        ])
    func unreadable(_ members: String, _ expected: String) throws {
        let error = #expect(throws: DescriptionError.self) {
            try Self.strategy(
                "inputs: {key: 32}\ncipher: aes-gcm\n" + members + "\nkey: key\nnonce: u64be(i) ++ zeros(4)")
        }
        #expect("\(error as Any)".contains(expected), "\(error as Any)")
    }

    @Test(
        "rules that a cipher cannot follow are unsupported",
        arguments: [
            ("aes-ctr", "chunk: 64\nfullLast: never", "never full"),
            ("aes-cbc", "chunk: 64\npadding: pkcs7\nmultipleOf: 32", "multipleOf"),
            ("xsalsa20-poly1305", "chunk: 64\naad: u64be(i)\nlayout: [data, {tag: 16}]", "takes none"),
            ("aes-xts", "chunk: 33554432", "at most 16777216 bytes"),
            ("chacha20-poly1305", "chunk: 64\nlayout: [data, {tag: 16}]", "expected 12"),
        ])
    func ciphers(_ cipher: String, _ members: String, _ expected: String) throws {
        let nonce = cipher == "xsalsa20-poly1305" ? "zeros(16) ++ u64be(i)" : "zeros(8) ++ u64be(i * 4)"
        let strategy = try Self.strategy(
            "inputs: {key: 32}\ncipher: \(cipher)\n\(members)\nkey: key\nnonce: \(nonce)")
        let error = #expect(throws: DecryptionError.self) { try Self.decrypt(Self.plaintext(160), strategy) }
        #expect("\(error as Any)".contains(expected), "\(error as Any)")
    }

    /// A backend that counts its contexts.
    private struct Counting: WrappingBackend {
        let base: any CipherBackend
        let counted: @Sendable () -> Void

        func makeContext(
            _ cipher: Cipher, _ direction: CipherDirection, key: SecretKey
        ) throws(DecryptionError) -> any CipherContext {
            counted()
            return try base.makeContext(cipher, direction, key: key)
        }
    }

    @Test(
        "a key is derived again where its numbers change, and not for a length that follows from them",
        arguments: [
            ("u64be(i >> 2)", 2), ("u16be(len(u64be(i >> 2))) ++ u64be(i >> 2)", 2), ("u64be(i)", 8),
            ("u16be(len(u64be(i)))", 8),
        ])
    func derivedKeys(info: String, expected: Int) throws {
        let strategy = try Self.strategy(
            """
            inputs: {key: 32}
            cipher: aes-gcm
            chunk: 64
            layout: [data, {tag: 16}]
            key: "hkdf('sha256', key, '', \(info), 32)"
            nonce: u32be(0) ++ u64be(i << 1 | last)
            """)
        let plaintext = Self.plaintext(8 * 64)
        let ciphertext = try Self.encrypt(plaintext, strategy)
        nonisolated(unsafe) var count = 0
        let backend = Counting(base: try Self.backend(strategy)) { count += 1 }
        let object = try EncryptedObject(
            source: MemorySource(ciphertext), strategy: strategy, backend: backend, key: Self.key(strategy))
        count = 0
        #expect(try object.makeCursor(windowByteCount: 512).read(at: 0, count: plaintext.count) == plaintext)
        #expect(count == expected, "\(info)")
    }
}
