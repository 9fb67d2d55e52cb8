import BackendRegistry
import ByteSources
import RandomAccess
import TestSupport
import Testing

/// Objects that are written and read again, with sources that change between.
@Suite("objects of authenticated chunks")
struct ChunkedObjectTests {
    static let formats: [ChunkFormat] = [
        .cobblestone(keyByteCount: 16, context: []),
        .cobblestone(keyByteCount: 32, context: [1, 2, 3]),
        .tinkAESGCMHKDF(associatedData: [4, 5], segmentByteCount: 4096, derivedKeyByteCount: 16),
        .tinkAESGCMHKDF(associatedData: [], segmentByteCount: 4096, derivedKeyByteCount: 32),
    ]

    static func key(_ format: ChunkFormat) throws -> SecretKey {
        guard case .cobblestone(16, _) = format else { return try SecretKey((0..<32).map { UInt8($0) }) }
        return try SecretKey((0..<16).map { UInt8($0) })
    }

    static func plaintext(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 / 251) }
    }

    static func encrypted(_ plaintext: [UInt8], _ format: ChunkFormat, pieceByteCount: Int = 1000) throws -> [UInt8] {
        let encryptor = try ObjectEncryptor(
            strategy: .chunked(format), backend: BackendRegistry.backend(named: "openssl"), key: key(format))
        var ciphertext: [UInt8] = []
        try plaintext.withUnsafeBytes { bytes in
            for start in stride(from: 0, to: bytes.count, by: pieceByteCount) {
                let piece = UnsafeRawBufferPointer(rebasing: bytes[start..<min(bytes.count, start + pieceByteCount)])
                try encryptor.append(piece) { ciphertext += $0 }
            }
        }
        try encryptor.finish { ciphertext += $0 }
        return ciphertext
    }

    static func object(_ ciphertext: [UInt8], _ format: ChunkFormat) throws -> EncryptedObject {
        try EncryptedObject(
            source: MemorySource(ciphertext), strategy: .chunked(format),
            backend: BackendRegistry.backend(named: "openssl"), key: key(format))
    }

    @Test("what is written is read again, whatever its length", arguments: formats)
    func roundTrips(format: ChunkFormat) throws {
        let full = Int(format.chunkByteCount)
        for count in [
            0, 1, 100, full - 41, full - 40, full - 24, full - 1, full, full + 1, 2 * full - 24, 3 * full + 7,
        ] {
            let plaintext = Self.plaintext(count)
            let ciphertext = try Self.encrypted(plaintext, format, pieceByteCount: max(1, count / 3))
            let object = try Self.object(ciphertext, format)
            #expect(object.plaintextByteCount == UInt64(count))
            #expect(try object.makeCursor().read(at: 0, count: count + 1) == plaintext, "\(count) bytes")
        }
    }

    @Test("two objects of the same plaintext share no byte of a chunk", arguments: formats)
    func salts(format: ChunkFormat) throws {
        let (one, two) = (
            try Self.encrypted(Self.plaintext(64), format), try Self.encrypted(Self.plaintext(64), format)
        )
        #expect(one.count == two.count && one.suffix(80) != two.suffix(80) && one.prefix(24) != two.prefix(24))
    }

    @Test("every reader delivers every range around an edge", arguments: formats)
    func readers(format: ChunkFormat) throws {
        let full = Int(format.chunkByteCount)
        let plaintext = Self.plaintext(2 * full + 500)
        let object = try Self.object(try Self.encrypted(plaintext, format), format)
        let readers: [any RandomAccessDecryptor] = [
            try object.makeCursor(), try object.makeCursor(windowByteCount: 1),
            try object.makeCursor(windowByteCount: full),
            try ChunkCacheReader(object: object, chunkByteCount: 100),
            try FreshBufferReader(object: object, windowByteCount: 1000),
        ]
        for offset in [
            0, 1, full - 25, full - 24, full - 1, full, full + 1, 2 * full - 1, 2 * full + 499, 2 * full + 500,
        ] {
            for count in [0, 1, 25, 1000, full, full + 1, 3 * full] {
                let expected = Array(plaintext[offset..<min(plaintext.count, offset + count)])
                for reader in readers {
                    #expect(try reader.read(at: UInt64(offset), count: count) == expected, "\(offset)+\(count)")
                }
            }
        }
    }

    @Test("of a read that fails, no byte of the chunk that is wrong is left in the buffer", arguments: formats)
    func nothingReleased(format: ChunkFormat) throws {
        let full = Int(format.chunkByteCount)
        // Ones throughout: whatever is not zero, nor what lay there before, would be plaintext.
        var ciphertext = try Self.encrypted([UInt8](repeating: 1, count: 2 * full + 500), format)
        ciphertext[Int(format.headerByteCount) + full + 100] ^= 1
        let object = try Self.object(ciphertext, format)
        for count in [2 * full + 500, full + 10] {
            let cursor = try object.makeCursor()
            var buffer = [UInt8](repeating: 0x77, count: 2 * full + 500)
            #expect(throws: DecryptionError.authenticationFailed(chunk: 1)) {
                try buffer.withUnsafeMutableBytes { bytes in
                    try cursor.read(at: 0, into: UnsafeMutableRawBufferPointer(rebasing: bytes[..<count]))
                }
            }
            #expect(!buffer[full..<2 * full - 40].contains(1), "\(count)")
            // The chunks around it are none the worse for it.
            #expect(try cursor.read(at: 0, count: 100) == [UInt8](repeating: 1, count: 100))
            #expect(try cursor.read(at: UInt64(2 * full), count: 100) == [UInt8](repeating: 1, count: 100))
            #expect(throws: DecryptionError.self) { try cursor.read(at: UInt64(full), count: 1) }
        }
    }

    @Test(
        "small reads in order open each chunk once, and one in the middle fetches that chunk only", arguments: formats)
    func fetches(format: ChunkFormat) throws {
        let full = Int(format.chunkByteCount)
        let plaintext = Self.plaintext(3 * full)
        let source = RecordingSource(MemorySource(try Self.encrypted(plaintext, format)), keepsRanges: true)
        let object = try EncryptedObject(
            source: source, strategy: .chunked(format), backend: BackendRegistry.backend(named: "openssl"),
            key: Self.key(format))
        #expect(source.ranges.count == 2, "a header and the last chunk to open: \(source.ranges)")
        let cursor = try object.makeCursor()
        source.reset()
        for offset in stride(from: 0, to: full - 100, by: 50) { _ = try cursor.read(at: UInt64(offset), count: 50) }
        #expect(source.ranges.count == 1)
        source.reset()
        _ = try cursor.read(at: UInt64(full + 100), count: 10)
        let extent = object.layout.extent(at: UInt64(full + 100))
        #expect(source.ranges == [extent.ciphertext])
        #expect(extent.ciphertext.count <= full + 16)
        source.reset()
        _ = try cursor.read(at: 0, count: 3 * full)
        #expect(source.ranges.count == 1, "chunks that follow one another come in one fetch: \(source.ranges)")
    }

    @Test("lengths that no plaintext has are refused before anything is fetched", arguments: formats)
    func lengths(format: ChunkFormat) throws {
        let (header, full) = (format.headerByteCount, Int(format.chunkCiphertextByteCount))
        var impossible = [0, 1, header - 1, header, header + 15]
        if case .cobblestone = format {
            impossible += [header + full, header + full + 1, header + full + 15, header + 2 * full]
        } else {
            impossible += [full + 1, full + 15, 2 * full + 15]
        }
        for count in impossible {
            let source = RecordingSource(MemorySource([UInt8](repeating: 0, count: count)), keepsRanges: true)
            do {
                _ = try EncryptedObject(
                    source: source, strategy: .chunked(format), backend: BackendRegistry.backend(named: "openssl"),
                    key: Self.key(format))
                Issue.record("\(count) bytes opened")
            } catch {
                #expect((error as? DecryptionError)?.protocolName == "truncatedCiphertext", "\(count): \(error)")
            }
            #expect(source.ranges.isEmpty)
        }
    }

    @Test("keys of another length are refused, and say what is expected")
    func keys() throws {
        let source = MemorySource([UInt8](repeating: 0, count: 200))
        let backend = try BackendRegistry.backend(named: "openssl")
        for (format, byteCount) in [
            (Self.formats[0], 15), (Self.formats[0], 17), (Self.formats[0], 32), (Self.formats[1], 16),
            (Self.formats[3], 16),
        ] {
            let key = try SecretKey(material: [UInt8](repeating: 1, count: byteCount))
            do {
                _ = try EncryptedObject(source: source, strategy: .chunked(format), backend: backend, key: key)
                Issue.record("\(format.name) with \(byteCount) bytes opened")
            } catch {
                #expect(error.protocolName == "invalidKey")
                #expect("\(error)".contains("the key has \(byteCount) bytes: expected "))
            }
        }
        #expect(throws: DecryptionError.invalidKey(byteCount: 0)) { try SecretKey(material: [UInt8]()) }
    }

    @Test("parameters that cannot be are refused")
    func parameters() {
        let impossible: [ChunkFormat] = [
            .tinkAESGCMHKDF(associatedData: [], segmentByteCount: 4096, derivedKeyByteCount: 24),
            .tinkAESGCMHKDF(associatedData: [], segmentByteCount: 40, derivedKeyByteCount: 16),
            .tinkAESGCMHKDF(associatedData: [], segmentByteCount: 1 << 40, derivedKeyByteCount: 16),
        ]
        for format in impossible { #expect(throws: DecryptionError.self) { try Strategy.chunked(format).validate() } }
    }
}
