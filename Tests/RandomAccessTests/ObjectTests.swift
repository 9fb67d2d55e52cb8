import BackendRegistry
import ByteSources
import RandomAccess
import Synchronization
import TestSupport
import Testing

/// A source whose length changes when it is told to.
private final class ChangingSource: ByteSource {
    private let base: MemorySource
    private let growth = Mutex<UInt64>(0)

    init(_ base: MemorySource) { self.base = base }

    var byteCount: UInt64 { base.byteCount }

    func grow() { growth.withLock { $0 += 1 } }

    func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        try base.read(at: offset, into: buffers)
    }

    func checkVersion() throws(DecryptionError) {
        let growth = growth.withLock { $0 }
        if growth > 0 { throw .sourceChanged(byteCount: byteCount + growth, expected: byteCount) }
    }
}

@Suite("readers")
struct ReaderTests {
    private func object(_ source: any ByteSource) throws -> EncryptedObject {
        try EncryptedObject(
            source: source, strategy: .ctr(iv: Block(bigEndianValue: 0)),
            backend: BackendRegistry.backend(named: "swift-reference"),
            key: SecretKey([UInt8](repeating: 1, count: 16)))
    }

    @Test("a window or chunk of no bytes is refused", arguments: [0, -1, .min])
    func impossibleWindows(_ byteCount: Int) throws {
        let object = try object(MemorySource([1, 2, 3]))
        #expect(throws: DecryptionError.self) { try object.makeCursor(windowByteCount: byteCount) }
        #expect(throws: DecryptionError.self) { try ChunkCacheReader(object: object, chunkByteCount: byteCount) }
        #expect(throws: DecryptionError.self) { try FreshBufferReader(object: object, windowByteCount: byteCount) }
    }

    @Test("a source that changed is an error in every reader, also for bytes that were kept")
    func changedSource() throws {
        let source = ChangingSource(MemorySource([UInt8](repeating: 0, count: 40)))
        let object = try object(source)
        let readers: [any RandomAccessDecryptor] = [
            try object.makeCursor(), try ChunkCacheReader(object: object, chunkByteCount: 64),
            try FreshBufferReader(object: object, windowByteCount: 16),
        ]
        for reader in readers { #expect(try reader.read(at: 0, count: 8).count == 8) }
        source.grow()
        for reader in readers {
            #expect(throws: DecryptionError.sourceChanged(byteCount: 41, expected: 40)) {
                try reader.read(at: 0, count: 8)
            }
        }
    }

    @Test("an array is read up to the end, and not past it")
    func arrays() throws {
        let cursor = try object(MemorySource([UInt8](repeating: 0, count: 40))).makeCursor()
        #expect(try cursor.read(at: 30, count: .max).count == 10)
        #expect(try cursor.read(at: 40, count: 1).isEmpty)
        #expect(throws: DecryptionError.rangeOutOfBounds(offset: 41, plaintextByteCount: 40)) {
            try cursor.read(at: 41, count: 0)
        }
    }

    @Test("cursors of one object read at once on several threads")
    func sharing() async throws {
        let object = try object(MemorySource((0..<4096).map { UInt8(truncatingIfNeeded: $0) }))
        let whole = try object.makeCursor().read(at: 0, count: 4096)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for step in 1...8 {
                group.addTask {
                    let cursor = try object.makeCursor(windowByteCount: 16 * step)
                    return try (0..<100).allSatisfy { index in
                        let offset = (index * 37 * step) % 4000
                        return try cursor.read(at: UInt64(offset), count: 96) == Array(whole[offset..<offset + 96])
                    }
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }
}

/// A source that asks for requests of few bytes.
private struct NarrowSource: WrappingSource {
    let base: any ByteSource
    let requestByteCount: Int

    func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        try base.read(at: offset, into: buffers)
    }
}

@Suite("requests of a read")
struct RequestTests {
    private static let plaintext = (0..<6000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 / 251) }

    /// Reads ranges, and hands on what was fetched for each.
    private func read(
        _ strategy: Strategy, requestByteCount: Int?, windows: [Int],
        _ check: (Range<Int>, [Range<UInt64>]) throws -> Void
    ) throws {
        let backend = try BackendRegistry.backend(named: "openssl")
        let key = try SecretKey([UInt8](0..<32))
        var ciphertext: [UInt8] = []
        let encryptor = try ObjectEncryptor(strategy: strategy, backend: backend, key: key, windowByteCount: 1 << 18)
        let plaintext = Array(Self.plaintext[..<(6000 / 16 * 16)])
        try plaintext.withUnsafeBytes { try encryptor.append($0) { ciphertext += $0 } }
        try encryptor.finish { ciphertext += $0 }
        var source: any ByteSource = MemorySource(ciphertext)
        if let requestByteCount { source = NarrowSource(base: source, requestByteCount: requestByteCount) }
        let recorder = RecordingSource(source, keepsRanges: true)
        let object = try EncryptedObject(source: recorder, strategy: strategy, backend: backend, key: key)
        for window in windows {
            let cursor = try object.makeCursor(
                windowByteCount: window, requestByteCount: requestByteCount ?? DistantSource.requestByteCount)
            for start in [0, 1, 15, 16, 17, 47, 48, 95, 96, 700, 701, 5900] {
                for count in [1, 15, 16, 17, 32, 33, 95, 97, 1000, 1024, 5000] {
                    let range = start..<min(start + count, plaintext.count)
                    recorder.reset()
                    let bytes = try cursor.read(at: UInt64(start), count: count)
                    #expect(bytes == Array(plaintext[range]), "\(range)")
                    try check(range, recorder.ranges)
                }
            }
        }
    }

    @Test("what a read needs is one request, whatever the window and the chunks", arguments: ReadPlanTests.strategies)
    func one(strategy: Strategy) throws {
        try read(strategy, requestByteCount: nil, windows: [16, 48, 1000, .max]) { range, fetched in
            #expect(fetched.count == 1, "\(range): \(fetched)")
        }
    }

    @Test("a long read is as few requests as the source asks for", arguments: ReadPlanTests.strategies)
    func few(strategy: Strategy) throws {
        for requestByteCount in [16, 100, 512] {
            try read(strategy, requestByteCount: requestByteCount, windows: [16, 80]) { range, fetched in
                let least = max(16, requestByteCount / 16 * 16 - 15)
                #expect(fetched.count <= (range.count + least - 1) / least + 1, "\(range): \(fetched)")
                for (one, next) in zip(fetched, fetched.dropFirst()) {
                    #expect(next.lowerBound <= one.upperBound + 16 && next.lowerBound + 16 >= one.upperBound)
                    #expect(next.upperBound > one.upperBound)
                }
            }
        }
    }
}

@Suite("writing objects")
struct ObjectEncryptorTests {
    private static let key = [UInt8](0..<32)

    private static func plaintext(_ byteCount: Int) -> [UInt8] {
        (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 / 251) }
    }

    private func encrypt(
        _ plaintext: [UInt8], strategy: Strategy, backend: String, window: Int = 1 << 18, pieces: [Int]
    ) throws -> [UInt8] {
        let encryptor = try ObjectEncryptor(
            strategy: strategy, backend: BackendRegistry.backend(named: backend), key: SecretKey(Self.key),
            windowByteCount: window)
        var ciphertext: [UInt8] = []
        var (position, index) = (0, 0)
        while position < plaintext.count {
            let count = min(pieces[index % pieces.count], plaintext.count - position)
            try plaintext[position..<position + count].withUnsafeBytes { bytes in
                try encryptor.append(bytes) { ciphertext += $0 }
            }
            position += count
            index += 1
        }
        try encryptor.finish { ciphertext += $0 }
        return ciphertext
    }

    @Test(
        "what was written is read, whatever the pieces", arguments: BackendRegistry.availableNames(having: .aesCBC),
        ReadPlanTests.strategies)
    func roundTrips(backend: String, strategy: Strategy) throws {
        for length in [0, 1, 15, 16, 17, 31, 32, 33, 64, 95, 96, 97, 500] {
            let length = strategy.padding == Padding.none ? length / 16 * 16 : length
            let plaintext = Self.plaintext(length)
            let whole = try encrypt(plaintext, strategy: strategy, backend: backend, pieces: [max(1, length)])
            for (window, pieces) in [(1, [1]), (16, [3, 40]), (48, [17, 1, 64]), (1 << 18, [7])] {
                let ciphertext = try encrypt(
                    plaintext, strategy: strategy, backend: backend, window: window, pieces: pieces)
                #expect(ciphertext == whole, "\(length) bytes, window \(window), pieces \(pieces)")
            }
            let object = try EncryptedObject(
                source: MemorySource(whole), strategy: strategy,
                backend: BackendRegistry.backend(named: backend), key: SecretKey(Self.key))
            #expect(try object.makeCursor(windowByteCount: 32).read(at: 0, count: .max) == plaintext)
        }
    }

    @Test("without padding, only whole blocks can be written", arguments: [1, 15, 17, 33])
    func unaligned(byteCount: Int) {
        #expect(throws: DecryptionError.unalignedPlaintext(byteCount: UInt64(byteCount))) {
            try encrypt(
                Self.plaintext(byteCount), strategy: .cbcContinuous(iv: Block(bigEndianValue: 0), padding: .none),
                backend: "swift-reference", pieces: [5])
        }
    }

    @Test(
        "the openssl command writes the same",
        .enabled(if: OpenSSLCommand.isInstalled, "the openssl command is not installed"),
        arguments: [0, 1, 16, 33, 5000], Padding.allCases)
    func command(byteCount: Int, padding: Padding) throws {
        let iv = Block(bigEndianValue: .max - 2)
        let plaintext = Self.plaintext(padding == .none ? byteCount / 16 * 16 : byteCount)
        let cbc = try OpenSSLCommand.enc(
            "aes-256-cbc", key: Self.key, iv: iv.bytes, padding: padding == .pkcs7, plaintext)
        let ctr = try OpenSSLCommand.enc("aes-256-ctr", key: Self.key, iv: iv.bytes, padding: false, plaintext)
        for backend in BackendRegistry.availableNames(having: .aesCBC) {
            #expect(
                try encrypt(
                    plaintext, strategy: .cbcContinuous(iv: iv, padding: padding), backend: backend, pieces: [999])
                    == cbc)
            #expect(try encrypt(plaintext, strategy: .ctr(iv: iv), backend: backend, pieces: [999]) == ctr)
        }
    }
}
