import BackendRegistry
import ByteSources
import Testing

@testable import RandomAccess

/// Objects of descriptions that a user may write: what a header chooses, parts in any order, lengths at the edges.
@Suite("objects of any description")
struct DescribedObjectTests: ObjectDescribing {
    private static let iv: [String: Value] = ["iv": .block(Block(bigEndianValue: 99))]

    @Test(
        "what is written is read back, at every length around chunks",
        arguments: [
            // A header that chooses the padding, the cipher, the chunk.
            """
            inputs: {key: 32, iv: 16}
            header: [{mode: {bytes: 1, oneOf: [u8(1), u8(0)]}}]
            cipher: aes-cbc
            chunk: 64
            padding: "mode == u8(1) ? 'pkcs7' : 'none'"
            key: key
            nonce: addBE(iv, i)
            """,
            """
            inputs: {key: 32, iv: 16}
            header: [{mode: {bytes: 1, oneOf: [u8(1), u8(0)]}}]
            cipher: "mode == u8(1) ? 'aes-cbc' : 'aes-ctr'"
            chunk: 64
            padding: "mode == u8(1) ? 'pkcs7' : 'none'"
            key: key
            nonce: addBE(iv, i * 4)
            empty: nothing
            """,
            """
            inputs: {key: 32, iv: 16}
            header: [{size8: {bytes: 1, is: u8(4)}}]
            cipher: aes-ctr
            chunk: beInt(size8) * 16
            key: key
            nonce: addBE(iv, i * 4)
            """,
            // A first chunk that holds less, padded.
            """
            inputs: {key: 32, iv: 16}
            cipher: aes-cbc
            chunk: 64
            firstChunk: 32
            padding: pkcs7
            key: key
            nonce: addBE(iv, i)
            """,
            // A part that is a copy of a later one.
            """
            inputs: {key: 32}
            cipher: aes-gcm
            chunk: 64
            layout: [{copy: {bytes: 12, is: nonce}}, {nonce: 12}, data, {tag: 16}]
            key: key
            nonce: nonce
            aad: u64be(i) ++ u8(last)
            """,
            // A header that is a look at the first chunk, with what is drawn at random in it.
            """
            inputs: {key: 32}
            header: [{nonce0: 12}]
            start: 0
            cipher: aes-gcm
            chunk: 64
            layout: [{nonce: 12}, data, {tag: 16}]
            key: hkdf('sha256', key, nonce0, '', 32)
            nonce: nonce
            aad: u64be(i) ++ u8(last)
            empty: nothing
            emptyObject: isEmptyPlaintext
            """,
            // A key that the header holds, and the length behind the chunks.
            """
            inputs: {key: 32}
            header: [{salt: 12}, {wrapped: {holds: [{mark: {bytes: 2, is: "'ok'"}}, {own: 32}], cipher: aes-gcm, key: wrapping, nonce: salt}}]
            derive: [{wrapping: "hash('sha256', key)"}, {content: "hash('sha256', own)"}]
            cipher: aes-gcm
            chunk: 64
            layout: [data, {tag: 16}]
            trailer: [{mark2: {bytes: 3, is: "'end'"}}, {seal: {holds: [{noise: 5}], cipher: aes-gcm, key: key, nonce: zeros(12), aad: u64be(count) ++ u64be(total)}}]
            key: content
            nonce: be(i, 12)
            empty: nothing
            openChecksLast: false
            """,
            // The same of padded chunks, and of a stretch of CTR.
            """
            inputs: {key: 32, iv: 16}
            cipher: aes-cbc
            chunk: 64
            padding: pkcs7
            trailer: [{mac: {bytes: 32, is: "hmac('sha256', key, u64be(total))"}}]
            key: key
            nonce: addBE(iv, i)
            """,
            """
            inputs: {key: 32}
            header: [{iv: 16}, {wrapped: {holds: [{own: 16}], cipher: aes-ctr, key: key, nonce: iv}}]
            cipher: aes-ctr
            chunk: 64
            trailer: [{n8: {bytes: 8, is: u64be(total)}}]
            key: own
            nonce: addBE(zeros(16), i * 4)
            """,
            // Numbers below zero, and above 64 bits.
            """
            inputs: {key: 32}
            header: [{base: 12}]
            cipher: aes-gcm
            chunk: 64
            layout: [data, {tag: 16}]
            key: key
            nonce: addBE(base, i - 1)
            """,
            """
            inputs: {key: 32}
            cipher: aes-gcm
            chunk: 64
            layout: [data, {tag: 16}]
            key: hash('sha256', key ++ u128be(i << 64))
            nonce: slice(u128be(i << 64), 0, 12)
            """,
            // Lengths that follow from those of a full chunk.
            """
            inputs: {key: 32}
            cipher: aes-gcm
            chunk: 64
            layout: [{nonce: 12}, data, {tag: 16}]
            key: key
            nonce: nonce
            aad: hash('sha256', u32be(stored - 28))
            """,
            """
            inputs: {key: 32}
            cipher: aes-gcm
            chunk: 64
            layout: [{nonce: 12}, data, {tag: 16}]
            key: key
            nonce: nonce
            rejectNonce: last && nonce == zeros(12)
            fullLast: never
            """,
            """
            inputs: {key: 64}
            cipher: aes-xts
            chunk: 64
            key: key
            nonce: u128be(i << 64)
            empty: nothing
            """,
        ])
    func roundTrips(_ text: String) throws {
        let strategy = try Self.strategy(text, text.contains("iv:") ? Self.iv : [:])
        for count in [0, 1, 16, 31, 32, 48, 63, 64, 65, 96, 127, 128, 129, 200] {
            let plaintext = Self.plaintext(count)
            let ciphertext: [UInt8]
            do throws(any Error) {
                ciphertext = try Self.encrypt(plaintext, strategy)
            } catch DecryptionError.unalignedPlaintext {
                continue
            }
            let found = try Self.decrypt(ciphertext, strategy)
            #expect(found == plaintext, "\(count) bytes")
        }
    }

    @Test("a header that is changed to another choice is an error or other bytes, never a trap")
    func choices() throws {
        let text = """
            inputs: {key: 32, iv: 16}
            header: [{mode: {bytes: 1, oneOf: [u8(1), u8(0)]}}, {size8: 1}]
            cipher: "mode == u8(1) ? 'aes-cbc' : 'aes-ctr'"
            chunk: beInt(size8) * 8
            padding: "mode == u8(1) ? 'pkcs7' : 'none'"
            key: key
            nonce: addBE(iv, i * 4)
            """
        let strategy = try Self.strategy(text, Self.iv)
        for mode in 0...2 as ClosedRange<UInt8> {
            for size in [0, 1, 2, 8, 255] as [UInt8] {
                for count in [0, 1, 15, 16, 17, 64, 80, 81] {
                    let name = Self.name { try Self.decrypt([mode, size] + Self.plaintext(count), strategy) }
                    if mode == 2 { #expect(name == "authenticationFailed") }
                    if mode < 2, size == 0 || size % 2 == 1 && mode == 1 { #expect(name == "invalidHeader") }
                    #expect(name != "invalidRequest", "\(mode) \(size) \(count)")
                }
            }
        }
    }

    @Test("a change of what is encrypted in a header, or of what stands behind the chunks, is an error")
    func encryptedFields() throws {
        let strategy = try Self.strategy(
            """
            inputs: {key: 32}
            header: [{salt: 12}, {wrapped: {holds: [{own: 32}], cipher: aes-gcm, key: key, nonce: salt, error: invalidHeader}}]
            cipher: aes-gcm
            chunk: 16
            layout: [{nonce: 12}, data, {tag: 16}]
            trailer: [{seal: {holds: [], cipher: aes-gcm, key: own, nonce: zeros(12), aad: u64be(count) ++ u64be(total)}}]
            key: own
            nonce: nonce
            empty: nothing
            openChecksLast: false
            """)
        let facts = try strategy.facts()
        #expect(facts.isEndBound && !facts.canBeCutToNothing && facts.unchecked.isEmpty)
        let ciphertext = try Self.encrypt(Self.plaintext(40), strategy)
        #expect(ciphertext.count == 12 + 48 + 3 * 28 + 40 + 16)
        func damaged(_ index: Int) -> [UInt8] {
            var bytes = ciphertext
            bytes[index] ^= 1
            return bytes
        }
        for index in 0..<60 { #expect(Self.name { try Self.decrypt(damaged(index), strategy) } == "invalidHeader") }
        for index in ciphertext.count - 16..<ciphertext.count {
            #expect(Self.name { try Self.decrypt(damaged(index), strategy) } == "authenticationFailed")
        }
        // Chunks that are missing, some or all.
        for kept in 0...2 {
            let bytes = Array(ciphertext[..<(60 + 44 * kept)] + ciphertext.suffix(16))
            #expect(Self.name { try Self.decrypt(bytes, strategy) } == "authenticationFailed", "\(kept) chunks")
        }
        let other = try SecretKey([UInt8](repeating: 9, count: 32))
        #expect(throws: DecryptionError.invalidHeader(expected: "\"wrapped\" as mine has it")) {
            try EncryptedObject(
                source: MemorySource(ciphertext), strategy: strategy, backend: Self.backend(strategy), key: other)
        }
    }

    /// An object of 2⁴⁰ bytes that says so itself.
    private struct HugeSource: ByteSource {
        let byteCount: UInt64 = 1 << 40

        func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
            // The header says how long the trailer is.
            let length = withUnsafeBytes(of: (byteCount - 8 - 32).bigEndian) { Array($0) }
            buffers.forEach { start, buffer in
                for index in buffer.indices {
                    let place = offset + UInt64(start + index)
                    buffer[index] = place < 8 ? length[Int(place)] : 0
                }
            }
            return buffers.byteCount
        }
    }

    @Test("a trailer of any length is an error, and no memory")
    func longTrailer() throws {
        let strategy = try Self.strategy(
            """
            inputs: {key: 32}
            header: [{count8: 8}]
            cipher: aes-gcm
            chunk: 16
            layout: [data, {tag: 16}]
            trailer: [{pad: beInt(count8)}]
            key: key
            nonce: be(i, 12)
            openChecksLast: false
            """)
        #expect(throws: DecryptionError.self) {
            try EncryptedObject(
                source: HugeSource(), strategy: strategy, backend: Self.backend(strategy), key: Self.key(strategy))
        }
    }

    @Test("what a trailer says without a key binds no end")
    func openTrailer() throws {
        let strategy = try Self.strategy(
            """
            inputs: {key: 32}
            cipher: aes-gcm
            chunk: 16
            layout: [{nonce: 12}, data, {tag: 16}]
            trailer: [{n8: {bytes: 8, is: u64be(total)}}]
            key: key
            nonce: nonce
            empty: nothing
            openChecksLast: false
            """)
        let facts = try strategy.facts()
        #expect(!facts.isEndBound && facts.canBeCutToNothing && !facts.sharesNonces)
    }

    @Test("more chunks than there may be are neither written nor read")
    func maxChunkCount() throws {
        let strategy = try Self.strategy(
            """
            inputs: {key: 32, iv: 16}
            cipher: aes-ctr
            chunk: 64
            key: key
            nonce: addBE(iv, i * 4)
            maxChunks: 2
            """, Self.iv)
        #expect(try Self.decrypt(Self.encrypt(Self.plaintext(128), strategy), strategy) == Self.plaintext(128))
        #expect(Self.name { try Self.encrypt(Self.plaintext(129), strategy) } == "invalidRequest")
        #expect(Self.name { try Self.decrypt(Self.plaintext(129), strategy) } == "truncatedCiphertext")
    }

    @Test("two objects whose random bytes come from the same place have different ones")
    func random() throws {
        let strategy = try Self.strategy(
            """
            inputs: {key: 32}
            cipher: aes-gcm
            chunk: 64
            layout: [{nonce: 12}, data, {tag: 16}]
            key: key
            nonce: nonce
            """)
        var generator = SystemRandomNumberGenerator()
        let first = try (0..<2).map { _ in
            let encryptor = try ObjectEncryptor(
                strategy: strategy, backend: try Self.backend(strategy),
                key: Self.key(strategy)
            ) { bytes in for index in bytes.indices { bytes[index] = .random(in: 0...255, using: &generator) } }
            var ciphertext: [UInt8] = []
            try encryptor.finish { ciphertext += $0 }
            return ciphertext
        }
        #expect(first[0].count == 28 && first[0].prefix(12) != first[1].prefix(12))
    }
}
