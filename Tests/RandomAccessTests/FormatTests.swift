import BackendRegistry
import ByteSources
import Foundation
import TestSupport
import Testing

@testable import RandomAccess

@Suite("descriptions of formats")
struct FormatTests {
    private static func formats(_ text: String) throws -> [Format] { try Format.read(Array(text.utf8)) }

    private static let small = """
        small:
          inputs: {key: [16, 32], size2: {default: 64, min: 1, max: 100000}}
          header:
            - salt: 4
          cipher: aes-gcm
          chunk: size2
          layout: [{nonce: 12}, data, {tag: 16}]
          key: key
          nonce: nonce
          aad: u64be(i) ++ salt
        """

    @Test("all that come with the program are read")
    func known() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../data/formats").standardized
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        for file in files {
            do {
                _ = try Format.read(Array(try Data(contentsOf: file)))
            } catch {
                Issue.record("\(file.lastPathComponent), \(error)")
            }
        }
        // Each file is embedded, with all of its variants.
        let described = try files.flatMap { try Format.read(Array(try Data(contentsOf: $0))).map(\.name) }
        #expect(Set(Format.names) == Set(described) && Format.names.count == described.count)
        #expect(Format.names == Format.known.map(\.name))
        for format in Format.known { #expect(format.pitfalls.count > 1, "\(format.name)") }
        #expect(Format.names.prefix(3) == ["cbc-continuous", "cbc-chunked", "ctr"])
    }

    @Test(
        "faults of a description have their place, and say what is expected",
        arguments: [
            ("chunk: size2", "chunk: size3", 6, "size"), ("nonce: nonce", "nonce: nonse", 9, "nonce"),
            ("cipher: aes-gcm", "cipher: aes-gmc", 5, "aes-gcm"), ("  cipher", "  ciper", 5, "cipher"),
            ("key: key", "key: i", 8, "bytes"), ("{tag: 16}", "{tag: x}", 7, "length"),
            ("salt: 4", "salt: 'x'", 4, "name"),
            ("data, ", "", 7, "data"), ("aad: u64be(i)", "aad: u64be(salt)", 10, "an integer"),
            ("key: [16, 32], ", "", 2, "key"), ("salt: 4", "i: 4", 4, "one of the language"),
            ("[16, 32]", "{a: 1}", 2, "length"),
            ("min: 1", "min: 200000", 2, "above"), ("small:", "Small:", 1, "a to z"),
            ("aad:", "chunk:", 10, "second time"), ("aad:", "whole: {fold: salt}\n  aad:", 10, "that"),
            ("aad:", "whole: {fold: count, that: 1}\n  aad:", 10, "bytes"),
            ("aad:", "whole: {fold: salt, that: tag}\n  aad:", 10, "tag"),
            ("  inputs", "  pitfalls: a fault\n  inputs", 2, "a list of pitfalls"),
            ("  inputs", "  pitfalls: [{fault: a, result: b}]\n  inputs", 2, "\"seen\", a text"),
            ("  inputs", "  pitfalls: [{fault: a, result: [b], seen: c}]\n  inputs", 2, "a text"),
            ("inputs: {", "inputs: [", 2, "YAML"), ("{tag: 16}", "{tag: 9223372036854775807}", 7, "64"),
            ("chunk: size2", "chunk: whole\n  firstChunk: 5", 7, "one chunk"),
            ("[{nonce: 12}", "[{nonce: 12}, {nonce: 12}", 7, "there already"),
            ("  inputs", "  variants: {Small: {}}\n  inputs", 2, "a to z"),
            ("salt: 4", "salt: {holds: [{a: 4}], key: key, nonce: zeros(12)}", 4, "\"cipher\""),
            ("salt: 4", "salt: {holds: [{a: 4}], cipher: aes-cbc, key: key, nonce: zeros(16)}", 4, "aes-ctr"),
            (
                "salt: 4", "salt: {holds: [{a: 4}], bytes: 4, cipher: aes-ctr, key: key, nonce: zeros(16)}", 4,
                "no length"
            ),
            ("salt: 4", "salt: {bytes: 4, nonce: zeros(16)}", 4, "\"holds\""),
            ("inputs: {", "inputs: {list: {oneOf: [1, 2], min: 1}, ", 2, "none beside \"oneOf\""),
            ("inputs: {", "inputs: {list: {oneOf: [a, b], bytes: 1}, ", 2, "none beside \"oneOf\""),
            ("inputs: {", "inputs: {list: {oneOf: [a, b], text: false}, ", 2, "numbers in \"oneOf\""),
            ("inputs: {", "inputs: {list: {oneOf: []}, ", 2, "words or numbers"),
            (
                "{nonce: 12}", "{nonce: {holds: [{a: 12}], cipher: aes-ctr, key: key, nonce: zeros(16)}}", 7,
                "headers only"
            ),
            ("cipher: aes", "trailer: [{a: {bytes: 8, is: \"u64be(i)\"}}]\n  cipher: aes", 5, "\"i\""),
            ("salt: 4", "total: 4", 4, "one of the language"),
            ("salt: 4", "salt: {holds: [{ck: 16}], cipher: aes-gcm, key: ck, nonce: zeros(12)}", 4, "what it holds"),
            (
                "salt: 4", "salt: {holds: [{a: 4}], cipher: aes-ctr, key: key, nonce: zeros(16), aad: key}", 4,
                "takes none"
            ),
            ("salt: 4", "salt: {bytes: 4, is: zeros(4), oneOf: [zeros(4)]}", 4, "\"oneOf\" or \"usually\""),
            ("cipher: aes", "trailer: [{nonce: 4}]\n  cipher: aes", 5, "there already"),
            ("cipher: aes", "trailer: [{a: total}]\n  cipher: aes", 5, "total"),
            (
                "cipher: aes",
                "trailer: [{box: {holds: [{own: {bytes: 9, is: key}}], cipher: aes-gcm, key: zeros(16), nonce: zeros(12)}}]\n"
                    + "  cipher: aes", 5, "everybody knows"
            ),
            (
                "cipher: aes",
                "trailer: [{box: {holds: [{own: 9}], cipher: aes-gcm, key: key, nonce: zeros(12)}}, {leak: {bytes: 9, is: own}}]\n"
                    + "  cipher: aes", 5, "would stand in the file"
            ),
        ])
    func faults(_ good: String, _ bad: String, _ line: Int, _ expected: String) throws {
        _ = try Self.formats(Self.small)
        let text = Self.small.replacing(good, with: bad, maxReplacements: 1)
        let error = #expect(throws: DescriptionError.self) { try Self.formats(text) }
        #expect(error?.place.line == line, "\(String(describing: error))")
        #expect(error?.message.contains(expected) == true, "\(String(describing: error))")
    }

    @Test(
        "what is not a description is an error",
        arguments: ["", "a", "[]", "{}", "a: 1", "a: &x [*x]", "a: {", "\0", "a: !!b c"])
    func wrong(_ text: String) {
        #expect(throws: DescriptionError.self) { try Self.formats(text) }
    }

    @Test(
        "lengths that nothing has are errors, and no traps",
        arguments: [
            ("chunk: size2", "chunk: size2 - size2"), ("chunk: size2", "chunk: 1 << 63"),
            ("chunk: size2", "chunk: size2\n  multipleOf: 0"), ("chunk: size2", "chunk: size2\n  start: 0 - 1"),
            ("aes-gcm", "aes-cbc\n  multipleOf: 1"), ("aes-gcm", "aes-gcm\n  padding: pkcs7"),
            ("chunk: size2", "chunk: 64\n  firstChunk: 65"), ("chunk: size2", "chunk: 64\n  firstChunk: 0"),
            ("salt: 4", "salt: 1 << 40"), ("nonce: 12}", "nonce: 0 - 1}"),
            ("aes-gcm\n  chunk: size2", "aes-cbc\n  chunk: 64\n  firstChunk: 5"),
        ])
    func lengths(_ good: String, _ bad: String) throws {
        let format = try #require(try Self.formats(Self.small.replacing(good, with: bad, maxReplacements: 1)).first)
        #expect(throws: DecryptionError.self) { try Strategy(format).validate() }
    }

    @Test("errors list lengths with commas")
    func listedLengths() throws {
        let text = Self.small.replacing("[16, 32]", with: "[16, 24, 32], iv: [8, 12, 16]")
        let format = try #require(try Self.formats(text).first)
        let short = try SecretKey(material: [1, 2, 3])
        let cut = try #require(try Self.formats(Self.small.replacing("key: key", with: "key: slice(key, 0, 5)")).first)
        for (error, expected) in [
            (#expect(throws: DecryptionError.self) { try Strategy(format).check(short) }, "16, 24 or 32, for small"),
            (
                #expect(throws: DecryptionError.self) {
                    try Strategy(format, ["iv": .bytes(ByteString([1]))]).validate()
                }, "8, 12 or 16"
            ),
            (try Strategy(cut).facts().readFault, "for aes-gcm: expected 16, 24 or 32"),
        ] {
            #expect("\(error.map { "\($0)" } ?? "")".hasSuffix(expected), "\(error as Any)")
        }
    }

    @Test(
        "rules that no chunk can follow are errors when an object is made, and no traps",
        arguments: [
            ("{nonce: 12}", "{nonce: {bytes: 12, is: zeros(13)}}"),
            ("{nonce: 12}", "{nonce: {bytes: 12, is: zeros(11)}}"),
            ("salt: 4", "salt: {bytes: 4, is: zeros(5)}"), ("chunk: size2", "chunk: size2\n  start: 1 << 60"),
            ("nonce: nonce", "nonce: slice(nonce, (1 << 126) * 2 - 1 + (1 << 126), 12)"), ("{tag: 16}", "{tag: 8}"),
            ("aad: u64be(i)", "aad: zeros(1 << 20) ++ zeros(1)"),
        ])
    func unwritable(_ good: String, _ bad: String) throws {
        let format = try #require(try Self.formats(Self.small.replacing(good, with: bad, maxReplacements: 1)).first)
        let backend = try BackendRegistry.backend(named: "openssl")
        let key = try SecretKey([UInt8](repeating: 7, count: 16))
        #expect(throws: DecryptionError.self) {
            let encryptor = try ObjectEncryptor(strategy: Strategy(format), backend: backend, key: key)
            try [UInt8](repeating: 1, count: 200).withUnsafeBytes { try encryptor.append($0) { _ in } }
            try encryptor.finish { _ in }
        }
    }

    @Test("a counter block whose number does not fit is an error, not another chunk's")
    func counterBlocks() throws {
        let text = """
            small:
              inputs: {key: 16}
              cipher: aes-ctr
              chunk: 16
              key: key
              nonce: zeros(15) ++ u8(i)
            """
        let strategy = Strategy(try #require(try Self.formats(text).first))
        let backend = try BackendRegistry.backend(named: "openssl")
        let key = try SecretKey([UInt8](repeating: 7, count: 16))
        let plaintext = [UInt8](repeating: 1, count: 16 * 257)
        #expect(throws: DecryptionError.self) {
            let encryptor = try ObjectEncryptor(strategy: strategy, backend: backend, key: key)
            try plaintext.withUnsafeBytes { try encryptor.append($0) { _ in } }
            try encryptor.finish { _ in }
        }
        #expect(throws: DecryptionError.self) {
            try EncryptedObject(source: MemorySource(plaintext), strategy: strategy, backend: backend, key: key)
        }
    }

    @Test("functions that use one another do not make the work grow exponentially")
    func exponential() {
        func calls(_ name: String) -> String { Array(repeating: "d(\(name)())", count: 400).joined(separator: "+") }
        let text = """
            small:
              inputs: {key: 16}
              functions: {d(x): 1, f(): \(calls("g")), g(): \(calls("h")), h(): \(calls("k")), k(): 1}
              cipher: aes-ctr
              chunk: f()
              key: key
              nonce: zeros(16)
            """
        let error = #expect(throws: DescriptionError.self) { try Self.formats(text) }
        #expect(error?.message.contains("too much") == true, "\(String(describing: error))")
    }

    @Test("lengths near the max of a number are clamped")
    func clamped() throws {
        let format = try #require(try Self.formats(Self.small).first)
        let geometry = try #require(Strategy(format, ["size2": .integer(1)]).geometry)
        #expect(geometry.ciphertextByteCount(ofPlaintext: .max) == .max)
        #expect(geometry.ciphertextByteCount(ofPlaintext: 1 << 62) == .max)
        #expect(geometry.ciphertextByteCount(ofPlaintext: 3) == 4 + 3 * 29)
    }

    @Test(
        "what is written is read back, at every edge, and every change is noticed",
        arguments: ["{nonce: 12}, data, {tag: 16}", "{tag: 16}, {nonce: 12}, data", "data, {nonce: 12}, {tag: 16}"])
    func roundTrip(_ layout: String) throws {
        let text = Self.small.replacing("{nonce: 12}, data, {tag: 16}", with: layout)
        let format = try #require(try Self.formats(text).first)
        let strategy = Strategy(format, ["size2": .integer(50)])
        let trial = try Trial(strategy)
        for count in [0, 1, 49, 50, 51, 100, 101, 333] {
            let plaintext = Trial.plaintext(count)
            let ciphertext = try trial.encrypt(plaintext)
            #expect(UInt64(ciphertext.count) == strategy.geometry?.ciphertextByteCount(ofPlaintext: UInt64(count)))
            #expect(try trial.read(ciphertext) == plaintext)
            for place in ciphertext.indices where place % 7 == 0 {
                var changed = ciphertext
                changed[place] ^= 1
                #expect(throws: DecryptionError.self) { try trial.read(changed) }
            }
        }
    }

    @Test("equal chunks and equal objects look different where keys or nonces are new")
    func nonces() throws {
        let facts = try Format.known.map { (name: $0.name, facts: try Strategy(sampling: $0).facts()) }
        #expect(facts.filter { !$0.facts.hasOwnNonces }.map(\.name).isEmpty)
        // Of S3, each object has a key of its own. Sectors know their numbers alone.
        #expect(facts.filter { !$0.facts.isFresh }.map(\.name) == ["s3ec-kc-gcm-range", "xts-sectors"])
        for rule in IVRule.allCases {
            let iv = Block(bigEndianValue: 0)
            let strategy = Strategy.cbcChunked(chunkByteCount: 64, iv: iv, ivRule: rule, padding: .pkcs7)
            let facts = try strategy.facts()
            #expect(facts.hasOwnNonces == (rule == .sequence) && facts.isFresh)
        }
    }

    /// Writing and reading by one strategy.
    private struct Trial {
        let strategy: Strategy
        let backend: any CipherBackend
        let key: SecretKey

        init(_ strategy: Strategy) throws {
            self.strategy = strategy
            backend = try BackendRegistry.backend(named: "openssl")
            key = try SecretKey([UInt8](repeating: 7, count: strategy.format.keyByteCounts?.first ?? 16))
        }

        static func plaintext(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) } }

        func encrypt(_ plaintext: [UInt8]) throws -> [UInt8] {
            let encryptor = try ObjectEncryptor(strategy: strategy, backend: backend, key: key)
            var ciphertext: [UInt8] = []
            try plaintext.withUnsafeBytes { try encryptor.append($0) { ciphertext += $0 } }
            try encryptor.finish { ciphertext += $0 }
            return ciphertext
        }

        func object(_ bytes: [UInt8]) throws -> EncryptedObject {
            try EncryptedObject(source: MemorySource(bytes), strategy: strategy, backend: backend, key: key)
        }

        func read(_ bytes: [UInt8]) throws -> [UInt8] {
            try object(bytes).makeCursor().read(at: 0, count: bytes.count)
        }
    }

    @Test(
        "a key may follow from a chunk's number, its parts or the end: chunks read in any order",
        arguments: [
            "hkdf('sha256', key, salt, u64be(i), 16)", "hkdf('sha256', key, part, salt, 16)",
            "hkdf('sha256', key, salt, part ++ u64be(i >> 1) ++ u8(last), 16)",
            "truncate(hash('sha256', key ++ u64be(i * n)), 16)", "i % 2 == 0 ? key : reverse(key) ^ zeros(16)",
        ])
    func keys(_ expression: String) throws {
        let text = """
            keyed:
              inputs: {key: 16}
              header: [{salt: 4}]
              cipher: aes-gcm
              chunk: 32
              layout: [{part: 8}, data, {tag: 16}]
              key: "\(expression)"
              nonce: u64be(i) ++ zeros(4)
            """
        let trial = try Trial(Strategy(#require(try Self.formats(text).first)))
        let plaintext = Trial.plaintext(203)
        let ciphertext = try trial.encrypt(plaintext)
        #expect(try trial.read(ciphertext) == plaintext)
        let cursor = try trial.object(ciphertext).makeCursor()
        for index in [6, 0, 5, 1, 1, 4, 2, 3, 0] {
            let range = index * 32 + 3..<min(203, index * 32 + 30)
            #expect(try cursor.read(at: UInt64(range.lowerBound), count: range.count) == Array(plaintext[range]))
        }
    }

    @Test("an IV may follow from where a chunk lies; from a chunk's length it may not")
    func offsets() throws {
        func format(_ nonce: String) throws -> Strategy {
            let text = """
                placed:
                  inputs: {key: 16, iv: 16}
                  cipher: aes-ctr
                  chunk: 32
                  firstChunk: 16
                  key: key
                  nonce: \(nonce)
                """
            return Strategy(try #require(try Self.formats(text).first), ["iv": .block(Block(bigEndianValue: 9))])
        }
        // Counting on from where a chunk lies is one stream.
        let trial = try Trial(format("addBE(iv, at / 16)"))
        let stream = try Trial(.ctr(iv: Block(bigEndianValue: 9)))
        let plaintext = Trial.plaintext(333)
        let ciphertext = try trial.encrypt(plaintext)
        #expect(try ciphertext == stream.encrypt(plaintext))
        let cursor = try trial.object(ciphertext).makeCursor(windowByteCount: 16)
        for offset in stride(from: 0, to: 333, by: 7) {
            let expected = Array(plaintext[offset..<min(333, offset + 50)])
            #expect(try cursor.read(at: UInt64(offset), count: 50) == expected)
        }
        for nonce in ["addBE(iv, n)", "addBE(iv, stored)"] {
            let error = #expect(throws: DecryptionError.self) {
                try Trial(format(nonce)).read([UInt8](repeating: 1, count: 99))
            }
            #expect(error?.protocolName == "unsupported")
        }
    }

    @Test("bytes around an object are passed over, and an IV in front is read, and drawn when it is written")
    func outer() throws {
        var outer = OuterBytes()
        outer.hasIVInFront = true
        let written = Strategy.cbcContinuous(iv: Block(bigEndianValue: 0), padding: .pkcs7).surrounded(by: outer)
        let ciphertexts = try (0..<2).map { _ in try Trial(written).encrypt(Trial.plaintext(100)) }
        #expect(ciphertexts[0].count == 16 + 112 && ciphertexts[0].prefix(16) != ciphertexts[1].prefix(16))
        #expect(try Trial(written).read(ciphertexts[0]) == Trial.plaintext(100))
        (outer.skipByteCount, outer.trimByteCount) = (5, 3)
        let surrounded = Trial.plaintext(5) + ciphertexts[0] + [1, 2, 3]
        #expect(try Trial(written.surrounded(by: outer)).read(surrounded) == Trial.plaintext(100))
        for (skip, trim) in [(UInt64(120), UInt64(0)), (0, 129), (.max, 1), (1, .max)] {
            (outer.skipByteCount, outer.trimByteCount) = (skip, trim)
            let error = #expect(throws: DecryptionError.self) {
                try Trial(written.surrounded(by: outer)).read(ciphertexts[0])
            }
            #expect(error?.protocolName == "truncatedCiphertext")
        }
    }

    @Test("a header of another format has an error of its own")
    func invalidHeader() throws {
        let text = Self.small.replacing(
            "- salt: 4", with: "- magic: {bytes: 2, is: x'0102', error: invalidHeader}\n    - salt: 4")
        let trial = try Trial(Strategy(#require(try Self.formats(text).first)))
        var ciphertext = try trial.encrypt([1, 2, 3])
        ciphertext[0] ^= 1
        let error = #expect(throws: DecryptionError.self) { try trial.read(ciphertext) }
        #expect(error?.protocolName == "invalidHeader")
    }
}
