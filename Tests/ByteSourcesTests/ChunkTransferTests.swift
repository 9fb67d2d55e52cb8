import BackendRegistry
import ByteSources
import OpenSSLBackend
import RandomAccess
import SystemPackage
import TestSupport
import Testing

@Suite("chunks that several threads encrypt")
struct ChunkTransferTests {
    /// The strategy of each known format, with the shortest chunk that it allows.
    private static let strategies = Format.known.map { format in
        var values: [String: Value] = [:]
        for input in format.inputs {
            guard case .integer(let range, let unit, _) = input.kind, !input.isFixed, range.upperBound >= 1 << 30 else {
                if input.defaultValue == nil { values[input.name] = input.sample }
                continue
            }
            // A length of chunks.
            values[input.name] = .integer(Int128((max(range.lowerBound, 64) + unit - 1) / unit * unit))
        }
        return Strategy(format, values)
    }

    private func key(_ strategy: Strategy) throws -> SecretKey {
        let count = strategy.format.keyByteCounts?.first ?? 32
        return try SecretKey(material: (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 1) })
    }

    @Test("what any number of threads writes is read back, at every length around windows, in every format")
    func roundTrip() throws {
        var names: Set<String> = []
        for strategy in Self.strategies {
            let backends = BackendRegistry.availableNames(having: strategy.cipher)
            guard let name = backends.first, let chunk = strategy.geometry.flatMap({ Int(exactly: $0.chunkByteCount) }),
                chunk <= 1 << 20
            else { continue }
            let (backend, key) = (try BackendRegistry.backend(named: name), try key(strategy))
            for byteCount in [1, 16, chunk - 1, chunk, chunk + 1, 3 * chunk - 1, 7 * chunk, 7 * chunk + 5] {
                let plaintext = (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 31) }
                for threadCount in [1, 3] {
                    guard let encryptor = try? ObjectEncryptor(strategy: strategy, backend: backend, key: key),
                        let transfer = ChunkTransfer(
                            encryptor, of: MemorySource(plaintext), windowByteCount: 2 * chunk + 1)
                    else { continue }
                    let length = encryptor.geometry.ciphertextByteCount(ofPlaintext: UInt64(byteCount))
                    let sink = MemorySink(isSeekable: threadCount == 3, byteCount: Int(length))
                    try transfer.run(to: sink, threadCount: threadCount)
                    #expect(UInt64(sink.bytes.count) == length, "\(strategy.name), \(byteCount)")
                    let object = try EncryptedObject(
                        source: MemorySource(sink.bytes), strategy: strategy, backend: backend, key: key)
                    let read = try object.makeCursor().read(at: 0, count: byteCount + 1)
                    #expect(read == plaintext, "\(strategy.name), \(byteCount)")
                    names.insert(strategy.format.name)
                }
            }
        }
        #expect(names.count >= 12, "\(names.sorted())")
    }

    /// Frames with a length in the last one, and a trailer whose own fields tell its length.
    private static let framed = """
        framed:
          inputs: {key: 32}
          cipher: aes-gcm
          chunk: 32
          layout: [{iv: 12}, {length: {bytes: "last ? 4 : 0", is: "last ? u32be(n) : ''"}}, data, {tag: 16}]
          lastChunk: beInt(length)
          trailer: [{signatureLength: {bytes: 2, usually: u16be(9)}}, {signature: beInt(signatureLength)}]
          key: key
          nonce: iv
          aad: u64be(i) ++ u8(last)
          emptyLast: allowed
        """

    @Test("a trailer of any length stands behind the last chunk", arguments: [false, true])
    func trailer(isSeekable: Bool) throws {
        let strategy = Strategy(try #require(try Format.read(Array(Self.framed.utf8)).first), [:])
        let (backend, key) = (try OpenSSL(), try key(strategy))
        for byteCount in [1, 31, 32, 33, 300] {
            let plaintext = (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            let encryptor = try ObjectEncryptor(strategy: strategy, backend: backend, key: key)
            let transfer = try #require(
                ChunkTransfer(encryptor, of: MemorySource(plaintext), windowByteCount: 64))
            let chunkCount = (byteCount + 31) / 32
            let sink = MemorySink(isSeekable: isSeekable, byteCount: byteCount + 28 * chunkCount + 4 + 11)
            try transfer.run(to: sink, threadCount: 3)
            #expect(sink.bytes.count == byteCount + 28 * chunkCount + 4 + 11)
            let object = try EncryptedObject(
                source: MemorySource(sink.bytes), strategy: strategy, backend: backend, key: key)
            #expect(try object.makeCursor().read(at: 0, count: byteCount + 1) == plaintext, "\(byteCount)")
        }
    }

    /// A source with other contents than its length says, or of another version at its end.
    private struct Changing: ByteSource {
        let base: MemorySource
        let byteCount: UInt64

        func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
            try base.read(at: offset, into: buffers)
        }
    }

    @Test("a plaintext that is shorter or longer than it was is an error, and a pipe gets no end of it")
    func changed() throws {
        let strategy = try Strategy("chunk-nonce-ct-tag", ["chunkByteCount": .integer(64)])
        let base = MemorySource([UInt8](repeating: 1, count: 1000))
        for byteCount in [999, 1001] as [UInt64] {
            let encryptor = try ObjectEncryptor(strategy: strategy, backend: OpenSSL(), key: key(strategy))
            let transfer = try #require(
                ChunkTransfer(encryptor, of: Changing(base: base, byteCount: byteCount), windowByteCount: 128))
            let sink = MemorySink(isSeekable: false)
            let error = #expect(throws: DecryptionError.self) { try transfer.run(to: sink, threadCount: 2) }
            #expect(error.map { if case .sourceChanged = $0 { true } else { false } } == true, "\(byteCount)")
            #expect(UInt64(sink.bytes.count) < encryptor.geometry.ciphertextByteCount(ofPlaintext: byteCount))
        }
    }

    @Test("blocks that depend on one another have no separate chunks, and so has an empty plaintext")
    func none() throws {
        let backend = try OpenSSL()
        for text in ["cbc-continuous", "ctr"] {
            let strategy = try Strategy(text, ["iv": .bytes([UInt8](repeating: 0, count: 16))])
            let encryptor = try ObjectEncryptor(strategy: strategy, backend: backend, key: key(strategy))
            #expect(ChunkTransfer(encryptor, of: MemorySource([1, 2, 3])) == nil, "\(text)")
        }
        let strategy = try Strategy("chunk-nonce-ct-tag", [:])
        let encryptor = try ObjectEncryptor(strategy: strategy, backend: backend, key: key(strategy))
        #expect(ChunkTransfer(encryptor, of: MemorySource([])) == nil)
    }

    @Test("a sink or source that fails ends all threads with its error", arguments: [1, 3])
    func failures(threadCount: Int) throws {
        let strategy = try Strategy("chunk-nonce-ct-tag", ["chunkByteCount": .integer(64)])
        let plaintext = [UInt8](repeating: 1, count: 10_000)
        func transfer(_ source: any ByteSource) throws -> ChunkTransfer? {
            ChunkTransfer(
                try ObjectEncryptor(strategy: strategy, backend: OpenSSL(), key: key(strategy)), of: source,
                windowByteCount: 128)
        }
        let full = MemorySink(isSeekable: false, failsAt: 5000)
        #expect(throws: DecryptionError.io(operation: "write", code: 28, reason: "injected")) {
            try transfer(MemorySource(plaintext))?.run(to: full, threadCount: threadCount)
        }
        #expect(full.bytes.count < 5000)
    }
}
