package import ByteSources
package import RandomAccess
package import Subject
package import SubjectProtocol
import Synchronization

/// What reads of an object cost: the requests, the bytes and the blocks of each, as the readers themselves ask for them.
///
/// The readers are the real ones. The ciphertext is not there, and the cipher does nothing, so that an object may have any
/// length and all of it takes microseconds.
package struct ReadCosts: Sendable {
    /// What one read asks for.
    package struct Cost: Hashable, Sendable {
        /// The requests, one after the other.
        package var requestCount: UInt64 = 0
        /// The ciphertext bytes that they fetch.
        package var fetchedByteCount: UInt64 = 0
        /// The bytes that are decrypted.
        package var decryptedByteCount: UInt64 = 0

        /// Creates a cost.
        package init(requestCount: UInt64 = 0, fetchedByteCount: UInt64 = 0, decryptedByteCount: UInt64 = 0) {
            self.requestCount = requestCount
            self.fetchedByteCount = fetchedByteCount
            self.decryptedByteCount = decryptedByteCount
        }

        /// How long it takes, in nanoseconds.
        ///
        /// - Parameters:
        ///   - link: How far away the ciphertext is.
        ///   - cipherBytesPerSecond: How fast it is decrypted.
        /// - Returns: The sum of waiting, transfer and decryption: a reader does one after the other.
        package func nanoseconds(_ link: RemoteLink, cipherBytesPerSecond: UInt64) -> UInt64 {
            requestCount * link.latencyNanoseconds + link.transferNanoseconds(byteCount: fetchedByteCount)
                + UInt64(Double(decryptedByteCount) * 1e9 / Double(max(1, cipherBytesPerSecond)))
        }
    }

    /// Opening the object.
    package let opening: Cost

    private let object: EncryptedObject
    private let counter: Counter

    /// Opens an object that is not there.
    ///
    /// - Parameters:
    ///   - strategy: How it is laid out.
    ///   - plaintextByteCount: Its length in bytes.
    /// - Throws: `DecryptionError` for a strategy or a length that cannot be.
    package init(strategy: Strategy, plaintextByteCount: UInt64) throws(DecryptionError) {
        counter = Counter()
        let cipher = IdleCipher(counter: counter, paddingByteCount: UInt8(16 - plaintextByteCount % 16))
        let key = try SecretKey([UInt8](repeating: 0, count: strategy.chunkFormat?.cipherKeyByteCount ?? 16))
        let header = try Self.header(strategy, cipher, key)
        let source = AbsentCiphertext(
            byteCount: Self.ciphertextByteCount(strategy, plaintextByteCount), header: header, counter: counter)
        counter.reset()
        object = try EncryptedObject(source: source, strategy: strategy, backend: cipher, key: key)
        opening = counter.cost
        guard object.plaintextByteCount == plaintextByteCount else {
            throw .invalidParameter(
                name: "object length", value: "\(plaintextByteCount)", expected: "one that \(strategy.name) can have")
        }
    }

    /// What a reader's reads cost, in their order.
    ///
    /// - Parameters:
    ///   - reads: The reads.
    ///   - configuration: How they are read; by one thread.
    /// - Returns: A cost for each.
    /// - Throws: `DecryptionError`, for buffers that cannot be had among others.
    package func costs(
        of reads: some Collection<Workload.Read>, _ configuration: ReaderConfiguration
    ) throws(DecryptionError) -> [Cost] {
        let reader = try configuration.makeReader(of: object)
        let buffer = try UnsafeMutableRawBufferPointer.tryAllocate(byteCount: Int(reads.map(\.count).max() ?? 0))
        defer { buffer.deallocate() }
        var costs: [Cost] = []
        costs.reserveCapacity(reads.count)
        for read in reads {
            counter.reset()
            _ = try reader.read(
                at: read.offset, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(read.count)]))
            costs.append(counter.cost)
        }
        return costs
    }

    /// What an object of authenticated chunks begins with: derived from the key, and compared when it is opened.
    private static func header(
        _ strategy: Strategy, _ cipher: IdleCipher, _ key: SecretKey
    ) throws(DecryptionError) -> [UInt8] {
        guard let format = strategy.chunkFormat else { return [] }
        var bytes: [UInt8] = []
        do {
            let encryptor = try ObjectEncryptor(strategy: strategy, backend: cipher, key: key)
            try encryptor.finish { bytes += $0 }
        } catch let error as DecryptionError {
            throw error
        } catch {
            throw .invalidParameter(name: "strategy", value: strategy.name, expected: "one that can be written")
        }
        return Array(bytes.prefix(format.headerByteCount))
    }

    /// The length of the ciphertext of a plaintext.
    ///
    /// - Source: PROTOCOL.md, "open"; c2sp.org/chunked-encryption; Tink's documentation, "Streaming AEAD: AES-GCM-HKDF".
    static func ciphertextByteCount(_ strategy: Strategy, _ plaintextByteCount: UInt64) -> UInt64 {
        func padded(_ count: UInt64) -> UInt64 { strategy.padding == .pkcs7 ? (count / 16 + 1) * 16 : count }
        guard let chunk = strategy.chunkByteCount else { return padded(plaintextByteCount) }
        guard let format = strategy.chunkFormat else {
            let whole = plaintextByteCount / chunk
            let rest = plaintextByteCount % chunk
            return whole * padded(chunk) + (rest > 0 || whole == 0 ? padded(rest) : 0)
        }
        let tag = UInt64(ChunkFormat.tagByteCount)
        let header = UInt64(format.headerByteCount)
        guard case .tinkAESGCMHKDF = format else {
            // The last chunk is shorter than the others, if need be empty.
            return header + plaintextByteCount + (plaintextByteCount / chunk + 1) * tag
        }
        // The header is part of the first segment.
        let all = plaintextByteCount + header
        return all + max(1, (all + chunk - 1) / chunk) * tag
    }
}

/// What was asked for since the last reset.
private final class Counter: Sendable {
    private let value = Mutex(ReadCosts.Cost())

    var cost: ReadCosts.Cost { value.withLock { $0 } }

    func reset() { value.withLock { $0 = ReadCosts.Cost() } }

    func note(fetched count: Int) {
        value.withLock {
            $0.requestCount += 1
            $0.fetchedByteCount += UInt64(count)
        }
    }

    func note(decrypted count: Int) { value.withLock { $0.decryptedByteCount += UInt64(count) } }
}

/// A ciphertext of which only the header is there: what is fetched is counted, and buffers keep what they have.
private struct AbsentCiphertext: ByteSource {
    let byteCount: UInt64
    let header: [UInt8]
    let counter: Counter

    var requestByteCount: Int { DistantSource.requestByteCount }

    func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        let count = Int(min(UInt64(buffers.byteCount), byteCount - min(offset, byteCount)))
        counter.note(fetched: count)
        let start = Int(min(offset, UInt64(header.count)))
        header[start...].withUnsafeBytes { bytes in
            buffers.prefix(min(count, bytes.count)).forEach { index, buffer in
                buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[index..<index + buffer.count]))
            }
        }
        return count
    }
}

/// A cipher that counts and does nothing, but for the padding that opening an object looks for.
private struct IdleCipher: CipherBackend {
    let counter: Counter
    let paddingByteCount: UInt8

    let name = "idle"
    let version = ""
    let keyByteCounts = [16, 24, 32]
    let modes = CipherMode.allCases
    let cpuFeatures: [String] = []

    func makeContext(
        mode: CipherMode, direction: CipherDirection, key: SecretKey
    ) throws(DecryptionError) -> any CipherContext {
        Context(counter: counter, paddingByteCount: paddingByteCount)
    }

    func makeChunkContext(direction: CipherDirection, key: SecretKey) throws(DecryptionError) -> any ChunkContext {
        Context(counter: counter, paddingByteCount: paddingByteCount)
    }

    private final class Context: CipherContext, ChunkContext {
        private let counter: Counter
        private let paddingByteCount: UInt8

        init(counter: Counter, paddingByteCount: UInt8) {
            self.counter = counter
            self.paddingByteCount = paddingByteCount
        }

        func process(
            _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, iv: Block
        ) throws(DecryptionError) {
            counter.note(decrypted: input.count)
            guard input.count == 16 else { return }
            output.initializeMemory(as: UInt8.self, repeating: paddingByteCount, count: 16)
        }

        func process(
            _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, start: Block
        ) throws(DecryptionError) -> Bool {
            counter.note(decrypted: input.count)
            return true
        }
    }
}
