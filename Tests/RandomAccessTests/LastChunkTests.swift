import ByteSources
import Synchronization
import Testing

@testable import RandomAccess

/// Objects whose header has fields that are repeated, and whose last chunk has other parts than the others.
@Suite("repeated fields, and last chunks with parts of their own")
struct LastChunkTests: ObjectDescribing {
    private static func open(_ source: any ByteSource, _ strategy: Strategy) throws -> EncryptedObject {
        try EncryptedObject(
            source: source, strategy: strategy, backend: backend(strategy), key: key(strategy))
    }

    private static func decrypt(_ ciphertext: [UInt8], _ strategy: Strategy) throws -> [UInt8] {
        try open(MemorySource(ciphertext), strategy).makeCursor().read(at: 0, count: ciphertext.count + 1)
    }

    /// Frames with a mark and a length in the last one, and something of unknown length behind them.
    private static let framed = """
        inputs: {key: 32}
        header: [{salt: 4}]
        cipher: aes-gcm
        chunk: 32
        layout: [{end: {bytes: "last ? 4 : 0", is: "last ? x'ffffffff' : ''"}}, {sequence: {bytes: 4, is: u32be(i + 1)}}, {iv: 12}, {length: {bytes: "last ? 4 : 0", is: "last ? u32be(n) : ''"}}, data, {tag: 16}]
        lastChunk: beInt(length)
        trailer: [{signatureLength: {bytes: 2, usually: u16be(9)}}, {signature: beInt(signatureLength)}]
        key: hash('sha256', key ++ salt)
        nonce: iv
        aad: u64be(i) ++ u8(last)
        emptyLast: allowed
        maxChunks: 0xffffffff
        """

    @Test(
        "what is written is read back, at every length around chunks",
        arguments: [
            framed,
            framed.replacing("\nemptyLast", with: "\nfirstChunk: 20\nemptyLast"),
            framed.replacing("\nemptyLast: allowed", with: "\nfullLast: never"),
            // Parts of the last chunk behind its data, and a tag in front.
            """
            inputs: {key: 32}
            cipher: aes-gcm
            chunk: 32
            layout: [{tag: 16}, {nonce: 12}, data, {end: {bytes: "last ? 3 : 0", is: "last ? 'end' : ''"}}]
            key: key
            nonce: nonce
            aad: u64be(i) ++ u8(last)
            """,
            // Fewer parts in the last chunk.
            """
            inputs: {key: 32}
            cipher: aes-gcm
            chunk: 32
            layout: [{more: {bytes: "last ? 0 : 5", is: "last ? '' : 'more!'"}}, {nonce: 12}, data, {tag: 16}]
            key: key
            nonce: nonce
            aad: u64be(i) ++ u8(last)
            empty: nothing
            """,
            // A key that follows from a part that the last chunk lacks.
            """
            inputs: {key: 32}
            cipher: aes-gcm
            chunk: 32
            layout: [{nonce: 12}, {own: "last ? 0 : 8"}, data, {tag: 16}]
            key: hash('sha256', key ++ own)
            nonce: nonce
            aad: u64be(i)
            """,
            // A header whose lengths follow from what stands in it.
            """
            inputs: {key: 32}
            header: [{version: {bytes: 1, oneOf: [u8(2), u8(1)]}}, {id: "beInt(version) * 8"}, {many: {bytes: 1, usually: u8(2)}}, {list: {repeat: {times: beInt(many), fields: [{a: 1}, {v: beInt(a)}]}, usually: "x'0161' ++ x'00'"}}, {size8: {bytes: 1, usually: u8(32)}}]
            cipher: aes-gcm
            chunk: beInt(size8)
            layout: [{nonce: 12}, data, {tag: 16}]
            key: hash('sha256', key ++ id ++ list)
            nonce: nonce
            aad: u64be(i) ++ u8(last)
            """,
            lines,
        ])
    func roundTrips(_ text: String) throws {
        let strategy = try Self.strategy(text)
        for count in [0, 1, 11, 12, 13, 19, 20, 21, 31, 32, 33, 51, 52, 63, 64, 65, 96, 200] {
            let plaintext = Self.plaintext(count)
            let ciphertext = try Self.encrypt(plaintext, strategy)
            #expect(try Self.decrypt(ciphertext, strategy) == plaintext, "\(count) bytes")
            let object = try Self.open(MemorySource(ciphertext), strategy)
            let (cursor, offset) = (try object.makeCursor(), count / 2)
            #expect(try cursor.read(at: UInt64(offset), count: 3) == Array(plaintext[offset...].prefix(3)))
        }
    }

    @Test("each cut and each change is noticed, but for the signature's, which no range needs")
    func damages() throws {
        let strategy = try Self.strategy(Self.framed)
        for count in [0, 5, 32, 64, 70] {
            let (plaintext, trailer) = (Self.plaintext(count), 11)
            let ciphertext = try Self.encrypt(plaintext, strategy)
            for index in ciphertext.indices {
                var bytes = ciphertext
                bytes[index] ^= 1
                let isSignature = index >= ciphertext.count - trailer + 2
                let found = Self.name { try Self.decrypt(bytes, strategy) }
                #expect((found == "none") == isSignature, "\(count) bytes, \(index): \(found)")
                #expect(["none", "authenticationFailed", "truncatedCiphertext"].contains(found))
                let cut = Self.name { try Self.decrypt(Array(ciphertext[..<index]), strategy) }
                #expect(["authenticationFailed", "truncatedCiphertext"].contains(cut), "\(count), to \(index): \(cut)")
            }
            for behind in [1, 16, 68, 500] {
                let bytes = ciphertext + [UInt8](repeating: 0, count: behind)
                #expect(Self.name { try Self.decrypt(bytes, strategy) } == "truncatedCiphertext", "\(count), \(behind)")
            }
        }
        let facts = try strategy.facts()
        #expect(facts.unchecked == ["signatureLength", "signature"])
        #expect(facts.isIndexBound && facts.isEndBound && facts.isObjectBound && facts.chunksWithOneNonce == nil)
    }

    @Test("an empty last chunk behind full ones is read, and a signature of any length")
    func others() throws {
        let strategy = try Self.strategy(Self.framed.replacing("emptyLast: allowed", with: "fullLast: never"))
        let ciphertext = try Self.encrypt(Self.plaintext(64), strategy)
        let reader = try Self.strategy(Self.framed)
        #expect(try Self.decrypt(ciphertext, reader) == Self.plaintext(64))
        // Longer than many frames.
        for count in [0, 1, 500, 65535] {
            let bytes =
                Array(ciphertext[..<(ciphertext.count - 11)]) + [UInt8(count >> 8), UInt8(count & 255)]
                + [UInt8](repeating: 0xff, count: count)
            #expect(try Self.decrypt(Array(bytes), reader) == Self.plaintext(64), "\(count) bytes")
        }
    }

    /// A source of zeros that counts what is asked for.
    private final class Zeroes: ByteSource {
        let byteCount: UInt64
        let fetched = Mutex<(count: Int, byteCount: Int)>((0, 0))

        init(_ byteCount: UInt64) { self.byteCount = byteCount }

        func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
            buffers.forEach { _, buffer in buffer.initializeMemory(as: UInt8.self, repeating: 0) }
            fetched.withLock { $0 = ($0.count + 1, $0.byteCount + buffers.byteCount) }
            return buffers.byteCount
        }
    }

    @Test("a last chunk is looked for in 1 MiB before the end, and no farther")
    func bounded() throws {
        let strategy = try Self.strategy(Self.framed)
        let source = Zeroes(1 << 40)
        #expect(Self.name { try Self.open(source, strategy) } == "truncatedCiphertext")
        let (count, byteCount) = source.fetched.withLock { $0 }
        #expect(count < 300 && byteCount < 5 << 18, "\(count) fetches of \(byteCount) bytes")
    }

    private static let repeated = """
        inputs: {key: 32}
        header: [{magic: {bytes: 2, is: "'KP'", error: invalidHeader}}, {many: 4}, {keys: {repeat: {times: beInt(many), fields: [{a: 4}, {wrapped: beInt(a)}]}}}, {salt: 4}]
        cipher: aes-gcm
        chunk: 32
        layout: [{nonce: 12}, data, {tag: 16}]
        key: hash('sha256', key ++ keys ++ salt)
        nonce: nonce
        """

    @Test(
        "a header with repeated fields that cannot be is an error, and takes no memory",
        arguments: [
            // (header behind the magic number, error)
            ([0xff, 0xff, 0xff, 0xff], "authenticationFailed"), ([0x00, 0x10, 0x00, 0x01], "authenticationFailed"),
            ([0x00, 0x10, 0x00, 0x00], "authenticationFailed"),
            ([0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff], "authenticationFailed"),
            ([0, 0, 0, 1, 0, 0x0f, 0xff, 0xff], "authenticationFailed"),
            ([0, 0, 0, 1, 0, 0, 2, 0], "truncatedCiphertext"),
            ([0, 0, 0, 1, 0, 0, 0], "truncatedCiphertext"), ([0, 0, 0, 1], "truncatedCiphertext"),
            ([0, 0, 0], "truncatedCiphertext"), ([0, 0, 0, 2, 0, 0, 0, 1, 9], "truncatedCiphertext"),
            ([0, 0, 0, 1, 0, 0, 0, 1, 9, 1, 2], "truncatedCiphertext"),
        ] as [([UInt8], String)])
    func hostile(_ header: [UInt8], _ error: String) throws {
        let strategy = try Self.strategy(Self.repeated)
        let found = Self.name { try Self.decrypt(Array("KP".utf8) + header, strategy) }
        #expect(found == (header == [0, 0x10, 0, 0] ? "truncatedCiphertext" : error), "\(header)")
        // The length of another format's header means nothing.
        #expect(Self.name { try Self.decrypt(Array("XY".utf8) + [0, 0] + header, strategy) } == "invalidHeader")
    }

    @Test("rounds without a byte are refused, and a writer has to be told what is repeated")
    func rounds() throws {
        let empty = Self.repeated.replacing("{a: 4}, {wrapped: beInt(a)}", with: "{a: 0}")
        let bytes = Array("KP".utf8) + [0, 0x0f, 0xff, 0xff] + [UInt8](repeating: 0, count: 40)
        #expect(Self.name { try Self.decrypt(bytes, Self.strategy(empty)) } == "authenticationFailed")
        #expect(Self.name { try Self.encrypt([], Self.strategy(Self.repeated)) } == "unsupported")
    }

    /// A header of lines, up to one that begins with two dashes.
    private static let lines = """
        inputs: {key: 32}
        header: [{lines: {linesBefore: "'--'", usually: "'one' ++ x'0a' ++ '-two' ++ x'0a'"}}, {end: {bytes: 3, is: "'--' ++ x'0a'"}}, {salt: 8}]
        cipher: aes-gcm
        chunk: 32
        layout: [{nonce: 12}, data, {tag: 16}]
        key: hash('sha256', key ++ lines ++ salt)
        nonce: nonce
        aad: u64be(i) ++ u8(last)
        """

    @Test("lines end before the first one with the prefix, and a writer is refused that would write others")
    func linesOfText() throws {
        let strategy = try Self.strategy(Self.lines)
        let written = try Self.encrypt([1, 2, 3], strategy)
        #expect(written.starts(with: Array("one\n-two\n--\n".utf8)))
        // Another first line with the prefix is not taken for the end's.
        #expect(Self.name { try Self.decrypt(Array("--x".utf8) + written, strategy) } == "authenticationFailed")
        // Without such a line, no header ends.
        let joined = written.map { $0 == UInt8(ascii: "\n") ? UInt8(ascii: " ") : $0 }
        #expect(Self.name { try Self.decrypt(joined, strategy) } == "invalidHeader")
        for usual in ["'one'", "'one' ++ x'0a' ++ '--' ++ x'0a'", "'--'"] {
            let text = Self.lines.replacing("'one' ++ x'0a' ++ '-two' ++ x'0a'", with: usual)
            #expect(Self.name { try Self.encrypt([], Self.strategy(text)) } == "unsupported", "\(usual)")
        }
        let read = Self.lines.replacing(", usually: \"'one' ++ x'0a' ++ '-two' ++ x'0a'\"", with: "")
        #expect(Self.name { try Self.encrypt([], Self.strategy(read)) } == "unsupported")
        #expect(try Self.decrypt(written, Self.strategy(read)) == [1, 2, 3])
    }

    @Test("a header of lines may be as long as a header, and be hashed as a whole")
    func longLines() throws {
        let usual = "repeat('one' ++ x'0a', 16384)"
        let text = Self.lines.replacing(
            "'one' ++ x'0a' ++ '-two' ++ x'0a'", with: Array(repeating: usual, count: 15).joined(separator: " ++ "))
        let written = try Self.encrypt([1, 2, 3], Self.strategy(text))
        #expect(written.count > 15 << 16)
        #expect(try Self.decrypt(written, Self.strategy(text)) == [1, 2, 3])
    }

    @Test("a chunk of zeros is a hole where the description says so, and nowhere else")
    func holes() throws {
        let plain = """
            inputs: {key: 32}
            cipher: aes-gcm
            chunk: 32
            layout: [{nonce: 12}, data, {tag: 16}]
            key: key
            nonce: nonce
            """
        let plaintext = (0..<100).map { UInt8($0) }
        let written = try Self.encrypt(plaintext, Self.strategy(plain))
        let holes = [("", []), ("\nhole: zero", [0, 1, 2]), ("\nhole: i == 1", [1]), ("\nhole: 2 - i", [0, 1])]
        for (hole, allowed) in holes {
            for index in 0..<3 {
                var (stored, expected) = (written, plaintext)
                stored.replaceSubrange(60 * index..<60 * (index + 1), with: [UInt8](repeating: 0, count: 60))
                expected.replaceSubrange(32 * index..<32 * (index + 1), with: [UInt8](repeating: 0, count: 32))
                let strategy = try Self.strategy(plain + hole)
                if allowed.contains(index) {
                    #expect(try Self.decrypt(stored, strategy) == expected, "\(hole) \(index)")
                } else {
                    let error = Self.name { try Self.decrypt(stored, strategy) }
                    #expect(error == "authenticationFailed", "\(hole) \(index)")
                }
            }
        }
    }

    @Test(
        "rules that cannot be are refused with their place",
        arguments: [
            ("header: [{f: {bytes: 1, is: u8(1), usually: u8(2)}}]", "expected \"is\", \"oneOf\" or \"usually\""),
            ("header: [{f: {repeat: {times: 1}}}]", "\"times\" and \"fields\""),
            ("header: [{f: {repeat: {times: 1, fields: [{a: 1}]}, is: x'00'}}]", "\"repeat\" alone"),
            ("header: [{f: {repeat: {times: 1, fields: [{a: 1}]}}}, {g: beInt(a)}]", "unknown name \"a\""),
            ("header: [{f: {repeat: {times: beInt(key), fields: [{a: 1}]}}}]", "follows from the key"),
            ("header: [{f: {linesBefore: \"'-'\", bytes: 3}}]", "\"linesBefore\" alone"),
            ("header: [{f: {linesBefore: \"'-' ++ x'0a'\"}}]", "what the next line begins with"),
            ("trailer: [{f: {linesBefore: \"'-'\"}}]", "stand in headers only"),
            ("trailer: [{a: 1}, {v: beInt(a)}]", "or \"lastChunk\""),
            ("lastChunk: 3", "a trailer whose lengths its own fields tell"),
            ("trailer: [{a: 1}]\nlastChunk: 3", "a trailer whose lengths its own fields tell"),
            ("trailer: [{a: 1}, {v: beInt(a)}]\nlastChunk: 3", "a part in front of the data that must be something"),
            ("trailer: [{a: {repeat: {times: 1, fields: [{c: 1}]}}}]", "stand in headers only"),
        ])
    func refusals(_ members: String, _ expected: String) throws {
        let error = #expect(throws: DescriptionError.self) {
            try Self.strategy(
                "inputs: {key: 32}\ncipher: aes-gcm\nchunk: 64\nlayout: [{nonce: 12}, data, {tag: 16}]\nkey: key\n"
                    + "nonce: nonce\n\(members)")
        }
        #expect("\(error as Any)".contains(expected), "\(error as Any)")
    }
}
