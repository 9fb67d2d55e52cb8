package import ByteSources
package import RandomAccess
package import Subject
package import SubjectProtocol
import Synchronization

/// The costs of reads of an object: the requests, the bytes, the blocks and the time of each.
///
/// The readers and the client are the real ones. The ciphertext is absent, the cipher does nothing, and the clock is a
/// number that advances with each wait and each piece of work. So an object may have any length, and a read takes
/// microseconds.
package struct ReadCosts: Sendable {
    /// The cost of one read.
    package struct Cost: Hashable, Sendable {
        /// The number of requests, including those for later reads.
        package var requestCount: UInt64 = 0
        /// The ciphertext bytes that they fetch. Negative if bytes for an earlier read were cancelled.
        package var fetchedByteCount: Int64 = 0
        /// The duration in nanoseconds.
        package var nanoseconds: UInt64 = 0
    }

    /// The link to the ciphertext, and the rates of the machine.
    package struct Environment: Sendable {
        /// The link to the ciphertext; `nil` for a file in the page cache.
        package var link: RemoteLink?
        /// The client, for a ciphertext with a link.
        package var client: RemoteClient
        /// The rates of decryption.
        package var rates: DecryptionRates
    }

    /// The cost of opening the object.
    package let opening: Cost
    /// The ciphertext's length in bytes.
    package let ciphertextByteCount: UInt64

    private let object: EncryptedObject
    private let meter: Meter

    /// Opens an absent object.
    ///
    /// - Parameters:
    ///   - strategy: The strategy; ``RandomAccess/Strategy/representative`` for one whose objects differ.
    ///   - plaintextByteCount: The plaintext's length in bytes.
    ///   - keyByteCount: The length of the key in bytes.
    ///   - environment: The link and the rates.
    /// - Throws: `DecryptionError` for an impossible strategy or length.
    package init(
        strategy: Strategy, plaintextByteCount: UInt64, keyByteCount: Int, in environment: Environment
    ) throws(DecryptionError) {
        meter = Meter(
            environment,
            DecryptionRates.KeyedCipher(strategy.cipher, keyByteCount: keyByteCount, hmac: strategy.hmac))
        let cipher = IdleCipher(meter: meter, paddingByteCount: UInt8(16 - plaintextByteCount % 16))
        let key = try SecretKey(material: [UInt8](repeating: 0, count: keyByteCount))
        let (header, geometry) = try Self.beginning(strategy, cipher, key)
        // The data of all chunks may stand behind a table of their other parts.
        let dataStart = try strategy.dataStart(chunkCount: max(1, geometry.chunkCount(ofPlaintext: plaintextByteCount)))
        ciphertextByteCount =
            dataStart > 0
            ? dataStart + plaintextByteCount : geometry.ciphertextByteCount(ofPlaintext: plaintextByteCount)
        let strategy = strategy.withoutComparisons
        let absent = AbsentCiphertext(
            byteCount: ciphertextByteCount, header: header, cleared: strategy.hmac == nil ? nil : geometry,
            meter: meter)
        _ = meter.take()
        let source: any ByteSource =
            if let link = environment.link {
                environment.client.open(
                    absent, strategy: strategy, link: link, clock: meter.clock, tally: meter.tally)
            } else {
                RemoteClient.serial.open(
                    absent, strategy: strategy, link: .none, clock: meter.clock, tally: meter.tally)
            }
        object = try EncryptedObject(
            source: environment.link == nil ? NearSource(base: source) : source, strategy: strategy, backend: cipher,
            key: key)
        opening = meter.take()
        guard object.plaintextByteCount == plaintextByteCount else {
            throw .invalidParameter(
                name: "object length", value: "\(plaintextByteCount)", expected: "one that \(strategy.name) can have")
        }
    }

    /// Returns the cipher of a strategy's chunks, and the length of the key that they are decrypted with.
    ///
    /// - Throws: `DecryptionError` for an impossible strategy.
    package static func cipher(
        of strategy: Strategy, keyByteCount: Int
    ) throws(DecryptionError) -> DecryptionRates.KeyedCipher {
        let rates = DecryptionRates(points: [:], callNanoseconds: 0, copiedBytesPerSecond: 1)
        let costs = try ReadCosts(
            strategy: strategy, plaintextByteCount: max(1, strategy.geometry?.plaintextUnitByteCount ?? 1),
            keyByteCount: keyByteCount, in: Environment(link: nil, client: .serial, rates: rates))
        // Keys of their own are made for chunks that are read.
        let reader = try costs.reader(ReaderConfiguration(access: .block, windowByteCount: 1, threadCount: 1))
        _ = try reader.costs(of: [Workload.Read(offset: 0, count: 1)])
        return costs.meter.cipher
    }

    /// Makes a reader. It keeps plaintext between reads as a reader of its configuration does.
    ///
    /// - Throws: `DecryptionError`, for example for buffers that cannot be allocated.
    package func reader(_ configuration: ReaderConfiguration) throws(DecryptionError) -> Reader {
        Reader(reader: try configuration.makeReader(of: object), meter: meter)
    }

    /// A reader with the costs of its reads. It belongs to one thread.
    package final class Reader {
        private let reader: any RandomAccessDecryptor
        private let meter: Meter

        fileprivate init(reader: any RandomAccessDecryptor, meter: Meter) {
            (self.reader, self.meter) = (reader, meter)
        }

        /// Drops the kept plaintext.
        package func forget() { (reader as? any CachingReader)?.invalidate() }

        /// Returns the costs of reads, in their order.
        ///
        /// - Parameters:
        ///   - reads: The reads.
        ///   - isCold: True if the reader drops the kept plaintext before each read.
        /// - Returns: One cost for each read.
        /// - Throws: `DecryptionError`.
        package func costs(
            of reads: some Collection<Workload.Read>, isCold: Bool = false
        ) throws(DecryptionError) -> [Cost] {
            let buffer = try UnsafeMutableRawBufferPointer.tryAllocate(byteCount: Int(reads.map(\.count).max() ?? 0))
            defer { buffer.deallocate() }
            var costs: [Cost] = []
            costs.reserveCapacity(reads.count)
            if isCold { forget() }
            for read in reads {
                _ = meter.take()
                _ = try reader.read(
                    at: read.offset, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(read.count)]))
                var cost = meter.take()
                // A read from kept plaintext costs at least a copy.
                if cost.nanoseconds == 0 { cost.nanoseconds = meter.rates.copyNanoseconds(byteCount: read.count) }
                costs.append(cost)
                if isCold { forget() }
            }
            return costs
        }
    }

    /// The first bytes of an object, which a reader needs to open it, and the geometry, which may depend on the key's
    /// length. The bytes are the header, or the part of the first chunk that takes its place.
    private static func beginning(
        _ strategy: Strategy, _ cipher: IdleCipher, _ key: SecretKey
    ) throws(DecryptionError) -> (header: [UInt8], geometry: Geometry) {
        guard var geometry = strategy.geometry else {
            throw .unsupported("a plan for \(strategy.name), whose geometry only an object tells")
        }
        guard !strategy.format.header.isEmpty || geometry.headerByteCount > 0 else { return ([], geometry) }
        var bytes: [UInt8] = []
        do {
            let whole = strategy.changing { $0.dataStart = nil }
            let encryptor = try ObjectEncryptor(strategy: whole, backend: cipher, key: key)
            geometry = encryptor.geometry
            // An empty object may have no header.
            let plaintext = [UInt8](repeating: 0, count: Int(clamping: geometry.plaintextUnitByteCount))
            try plaintext.withUnsafeBytes { try encryptor.append($0) { bytes += $0 } }
            try encryptor.finish { bytes += $0 }
        } catch let error as DecryptionError {
            throw error
        } catch {
            throw .invalidParameter(name: "strategy", value: strategy.name, expected: "one that can be written")
        }
        let fieldByteCount = try strategy.facts().header.reduce(0) { $0 + ($1.byteCount ?? 0) }
        return (Array(bytes.prefix(max(Int(clamping: geometry.headerByteCount), fieldByteCount))), geometry)
    }
}

extension Strategy {
    /// The strategy of an object that stands for those of other headers: no check refuses it.
    package var representative: Strategy { changing { $0.checks.removeAll { $0.error != .invalidRequest } } }

    /// The strategy without checks, whose chunks may have any bytes. It compares no parts, and has no holes.
    fileprivate var withoutComparisons: Strategy {
        changing { rules in
            rules.layout = rules.layout.map { part in
                guard case .field(var field) = part else { return part }
                // A code over absent data cannot be checked.
                field.content.removeAll { !$0.expression.usesData }
                return .field(field)
            }
            // Without comparisons, a reader cannot search for the last chunk.
            (rules.hole, rules.rejectedNonce, rules.lastChunk) = (nil, nil, nil)
            // The trailer is fetched, but not compared.
            for index in rules.trailerFields.indices {
                (rules.trailerFields[index].content, rules.trailerFields[index].sealed) = ([], nil)
            }
        }
    }
}

extension RemoteLink {
    /// A link without latency and with any bandwidth.
    fileprivate static let none = RemoteLink()
}

/// A meter of simulated time and requests.
private final class Meter: Sendable {
    let clock = ComputedClock()
    let tally = RequestTally()
    let rates: DecryptionRates
    private let known: Mutex<DecryptionRates.KeyedCipher>
    private let since = Mutex(0 as UInt64)

    init(_ environment: ReadCosts.Environment, _ cipher: DecryptionRates.KeyedCipher) {
        rates = environment.rates
        known = Mutex(cipher)
    }

    /// The cipher of the latest decryption, with the length of its key.
    var cipher: DecryptionRates.KeyedCipher { known.withLock { $0 } }

    /// Notes the cipher and the key of what is decrypted next.
    func note(_ cipher: Cipher, keyByteCount: Int) {
        known.withLock { ($0.cipher, $0.keyByteCount) = (cipher, keyByteCount) }
    }

    /// Notes a system call.
    func noteCall() { clock.advance(by: Double(rates.callNanoseconds)) }

    /// Notes bytes that were decrypted in one call.
    func note(decrypted count: Int) {
        clock.advance(by: rates.nanoseconds(cipher, byteCount: UInt64(count)))
    }

    /// Returns the cost since the last call.
    func take() -> ReadCosts.Cost {
        let (requests, bytes) = tally.take()
        let now = clock.nanoseconds
        return since.withLock { since in
            defer { since = now }
            return ReadCosts.Cost(requestCount: requests, fetchedByteCount: bytes, nanoseconds: now - since)
        }
    }
}

/// A clock that advances only when it is told to.
private final class ComputedClock: RemoteClock {
    private let now = Mutex(0.0)

    var nanoseconds: UInt64 { now.withLock { UInt64($0) } }

    func sleep(until nanoseconds: UInt64) { now.withLock { $0 = max($0, Double(nanoseconds)) } }

    func advance(by nanoseconds: Double) { now.withLock { $0 += nanoseconds } }
}

/// A ciphertext without bytes except for its header. A read leaves the rest of the buffer as it is.
private struct AbsentCiphertext: ByteSource {
    let byteCount: UInt64
    let header: [UInt8]
    /// The geometry of chunks whose parts must be zeros, because the idle cipher's codes are zeros; `nil` for others.
    let cleared: Geometry?
    let meter: Meter

    func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        meter.noteCall()
        let count = Int(min(UInt64(buffers.byteCount), byteCount - min(offset, byteCount)))
        let start = Int(min(offset, UInt64(header.count)))
        if let cleared {
            buffers.prefix(count).forEach { place, buffer in
                clearParts(of: cleared, in: buffer, from: offset + UInt64(place))
            }
        }
        header[start...].withUnsafeBytes { bytes in
            buffers.prefix(min(count, bytes.count)).forEach { index, buffer in
                buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[index..<index + buffer.count]))
            }
        }
        return count
    }

    /// Fills the parts before and after the data of chunks with zeros.
    private func clearParts(
        of geometry: Geometry, in buffer: UnsafeMutableRawBufferPointer, from offset: UInt64
    ) {
        let range = offset..<offset + UInt64(buffer.count)
        let inChunks = offset - min(offset, geometry.headerByteCount) + geometry.missingByteCount
        var index = inChunks / geometry.storedChunkByteCount
        while geometry.ciphertextStart(ofChunk: index) < min(range.upperBound, byteCount) {
            let start = geometry.ciphertextStart(ofChunk: index)
            let end = min(geometry.ciphertextStart(ofChunk: index + 1), byteCount)
            for part in [start..<start + geometry.frontByteCount, end - min(end, geometry.behindByteCount)..<end] {
                let part = part.clamped(to: range)
                UnsafeMutableRawBufferPointer(
                    rebasing: buffer[Int(part.lowerBound - offset)..<Int(part.upperBound - offset)]
                ).initializeMemory(as: UInt8.self, repeating: 0)
            }
            index += 1
        }
    }
}

/// A source with the request length of a file.
private struct NearSource: WrappingSource {
    let base: any ByteSource

    var requestByteCount: Int { DistantSource.nearRequestByteCount }

    func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        try base.read(at: offset, into: buffers)
    }
}

/// A cipher that only counts. It also writes the padding that opening an object needs, and copies short messages, so
/// that encrypted fields of headers hold what was put into them.
private struct IdleCipher: CipherBackend {
    let meter: Meter
    let paddingByteCount: UInt8

    let name = "idle"
    let version = ""
    let ciphers = Cipher.allCases.map { CipherSupport($0, nonceByteCounts: 1...Int.max) }
    let cpuFeatures: [String] = []

    func makeContext(
        _ cipher: Cipher, _ direction: CipherDirection, key: SecretKey
    ) throws(DecryptionError) -> any CipherContext {
        if direction == .decrypt { meter.note(cipher, keyByteCount: key.byteCount) }
        return Context(
            meter: meter, paddingByteCount: cipher == .aesCBC ? paddingByteCount : nil,
            tagByteCount: direction == .decrypt ? cipher.tagByteCount : 0)
    }

    let hmacFunctions = HashFunction.allCases

    func makeMAC(_ function: HashFunction, key: SecretKey) throws(DecryptionError) -> any MACContext { Code() }

    /// A MAC whose code is zeros, as in absent ciphertext.
    private final class Code: MACContext {
        func makeCode(
            of before: UnsafeRawBufferPointer, _ data: UnsafeRawBufferPointer, _ behind: UnsafeRawBufferPointer,
            into code: UnsafeMutableRawBufferPointer
        ) throws(DecryptionError) {
            code.initializeMemory(as: UInt8.self, repeating: 0)
        }
    }

    private final class Context: CipherContext {
        private let meter: Meter
        private let paddingByteCount: UInt8?
        private let tagByteCount: Int

        private static let maxCopyByteCount = 1024

        init(meter: Meter, paddingByteCount: UInt8?, tagByteCount: Int) {
            (self.meter, self.paddingByteCount, self.tagByteCount) = (meter, paddingByteCount, tagByteCount)
        }

        func process(
            _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, nonce: UnsafeRawBufferPointer,
            associatedData: UnsafeRawBufferPointer
        ) throws(DecryptionError) -> Bool {
            meter.note(decrypted: input.count)
            if input.count == 16, let paddingByteCount {
                output.initializeMemory(as: UInt8.self, repeating: paddingByteCount, count: 16)
            } else if input.count <= Self.maxCopyByteCount, let base = input.baseAddress {
                output.copyMemory(from: base, byteCount: max(0, input.count - tagByteCount))
            }
            return true
        }
    }
}
