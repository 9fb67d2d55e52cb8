import BackendRegistry
import ByteSources
import Testing

@testable import RandomAccess

@Suite("objects with a table of tags and nonces in front of the data")
struct ChunkTableTests {
    /// Chunks of 32 bytes with 12 bytes in front of the data and 16 behind it; the data begins at a multiple of 64.
    private static func strategy(dataStart: String, saltByteCount: Int = 8) throws -> Strategy {
        let text = """
            mine:
              inputs: {key: 32}
              header: [{salt: \(saltByteCount)}]
              cipher: aes-gcm
              chunk: 32
              layout: [{iv: 12}, data, {tag: 16}]
              dataStart: \(dataStart)
              key: key
              nonce: iv
              aad: u64be(i) ++ u8(last) ++ salt
              emptyLast: onlyChunk
            """
        return Strategy(try #require(try Format.read(Array(text.utf8)).first), [:])
    }

    private static let aligned = "(headerEnd + count * 28 + 63) / 64 * 64"

    private static func key() throws -> SecretKey { try SecretKey((0..<32).map { 7 * $0 + 1 }) }

    /// The table, with the header in front, and the data of an object.
    private static func parts(
        _ plaintext: [UInt8], headerByteCount: Int = 8
    ) throws -> (table: [UInt8], data: [UInt8]) {
        let encryptor = try ObjectEncryptor(
            strategy: strategy(dataStart: "0", saltByteCount: headerByteCount),
            backend: BackendRegistry.backend(named: "openssl"), key: key())
        var whole: [UInt8] = []
        try plaintext.withUnsafeBytes { try encryptor.append($0) { whole += $0 } }
        try encryptor.finish { whole += $0 }
        var (table, data) = (Array(whole[..<headerByteCount]), [UInt8]())
        for start in stride(from: headerByteCount, to: whole.count, by: 60) {
            let chunk = whole[start..<min(start + 60, whole.count)]
            table += chunk.prefix(12) + chunk.suffix(16)
            data += chunk.dropFirst(12).dropLast(16)
        }
        return (table, data)
    }

    private static func object(_ plaintext: [UInt8]) throws -> [UInt8] {
        let (table, data) = try parts(plaintext)
        return table + [UInt8](repeating: 0, count: (64 - table.count % 64) % 64) + data
    }

    private static func open(_ source: any ByteSource) throws -> EncryptedObject {
        try EncryptedObject(
            source: source, strategy: strategy(dataStart: aligned), backend: BackendRegistry.backend(named: "openssl"),
            key: key())
    }

    @Test("every range of every length reads as it is", arguments: [0, 1, 31, 32, 33, 63, 64, 65, 96, 200])
    func ranges(count: Int) throws {
        let plaintext = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let object = try Self.open(MemorySource(try Self.object(plaintext)))
        #expect(object.plaintextByteCount == UInt64(count))
        let cursor = try object.makeCursor()
        for offset in 0...count {
            for end in offset...count {
                #expect(try cursor.read(at: UInt64(offset), count: end - offset) == Array(plaintext[offset..<end]))
            }
        }
    }

    @Test("a header that is longer than all chunks is no matter", arguments: [0, 1, 32, 33, 700])
    func longHeader(count: Int) throws {
        let plaintext = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let (table, data) = try Self.parts(plaintext, headerByteCount: 3000)
        let object = try EncryptedObject(
            source: MemorySource(table + data),
            strategy: Self.strategy(dataStart: "headerEnd + count * 28", saltByteCount: 3000),
            backend: BackendRegistry.backend(named: "openssl"), key: Self.key())
        #expect(try object.makeCursor().read(at: 0, count: count + 1) == plaintext)
    }

    @Test("every bit of the table and of the data is noticed, and padding is not looked at")
    func damage() throws {
        let plaintext = [UInt8](repeating: 5, count: 70)
        let object = try Self.object(plaintext)
        let tableEnd = 8 + 3 * 28
        for index in object.indices {
            var damaged = object
            damaged[index] ^= 0x10
            let read = { try Self.open(MemorySource(damaged)).makeCursor().read(at: 0, count: 70) }
            if (tableEnd..<128).contains(index) {
                #expect(try read() == plaintext)
            } else {
                #expect(throws: DecryptionError.self, "byte \(index)") { _ = try read() }
            }
        }
    }

    @Test("an object that ends early does not open")
    func truncated() throws {
        let object = try Self.object([UInt8](repeating: 5, count: 70))
        for count in object.indices {
            #expect(throws: DecryptionError.self, "\(count) bytes") {
                _ = try Self.open(MemorySource(Array(object[..<count])))
            }
        }
    }

    @Test("reading asks once for the entries and once for the data")
    func requests() throws {
        let plaintext = [UInt8](repeating: 5, count: 320)
        let source = RecordingSource(MemorySource(try Self.object(plaintext)), keepsRanges: true)
        let cursor = try Self.open(source).makeCursor()
        source.reset()
        _ = try cursor.read(at: 33, count: 200)
        #expect(source.ranges.count == 2, "\(source.ranges)")
    }

    @Test("our writer, which does not know the number of chunks, refuses")
    func writing() throws {
        #expect(throws: DecryptionError.self) {
            _ = try ObjectEncryptor(
                strategy: Self.strategy(dataStart: Self.aligned), backend: BackendRegistry.backend(named: "openssl"),
                key: Self.key())
        }
    }
}
