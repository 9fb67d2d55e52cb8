import BackendRegistry
import ByteSources
import OpenSSLBackend
import RandomAccess
import Results
import Subject
import SubjectProtocol
import Synchronization
import TestSupport
import Testing

@testable import Measurement

@Suite("costs of reads, computed")
struct ComputedPlanTests {
    /// A clock that is only ever moved on by those who wait.
    private final class StillClock: RemoteClock {
        private let now = Mutex<UInt64>(0)
        var nanoseconds: UInt64 { now.withLock { $0 } }
        func sleep(until nanoseconds: UInt64) { now.withLock { $0 = max($0, nanoseconds) } }
    }

    /// Counts what is asked of a source.
    private final class Counting: WrappingSource {
        let base: any ByteSource
        private let counts = Mutex((requests: 0 as UInt64, bytes: 0 as UInt64))

        init(_ base: any ByteSource) { self.base = base }

        func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
            let count = try base.read(at: offset, into: buffers)
            counts.withLock { $0 = ($0.requests + 1, $0.bytes + UInt64(count)) }
            return count
        }

        func taken() -> (requests: UInt64, bytes: UInt64) {
            counts.withLock { counts in
                defer { counts = (0, 0) }
                return counts
            }
        }
    }

    private static func strategies() throws -> [Strategy] {
        let iv = Block(bigEndianValue: 5)
        return [
            .cbcContinuous(iv: iv, padding: .pkcs7), .cbcContinuous(iv: iv, padding: .none), .ctr(iv: iv),
            .cbcChunked(chunkByteCount: 4096, iv: iv, ivRule: .sequence, padding: .pkcs7),
            .cbcChunked(chunkByteCount: 4096, iv: iv, ivRule: .fixed, padding: .none),
            .chunked(.cobblestone(keyByteCount: 16, context: [1, 2])),
            .chunked(.tinkAESGCMHKDF(associatedData: [3], segmentByteCount: 4096, derivedKeyByteCount: 16)),
        ]
    }

    private static func ciphertext(_ strategy: Strategy, _ count: Int) throws -> [UInt8] {
        let key = try SecretKey([UInt8](1...16))
        let encryptor = try ObjectEncryptor(strategy: strategy, backend: OpenSSL(), key: key)
        var ciphertext: [UInt8] = []
        try Samples.bytes(count).withUnsafeBytes { try encryptor.append($0) { ciphertext += $0 } }
        try encryptor.finish { ciphertext += $0 }
        return ciphertext
    }

    @Test("ciphertexts are as long as those that are written, at every edge")
    func lengths() throws {
        for strategy in try Self.strategies() {
            let chunk = Int(strategy.chunkByteCount ?? 64)
            for count in [0, 1, 15, 16, 17] + (1...3).flatMap({ k in (-49...17).map { k * chunk + $0 } })
            where count >= 0 {
                guard strategy.padding != Padding.none || count % 16 == 0 else { continue }
                let expected = try Self.ciphertext(strategy, count).count
                #expect(
                    ReadCosts.ciphertextByteCount(strategy, UInt64(count)) == UInt64(expected),
                    "\(strategy.name) \(count)")
            }
        }
    }

    @Test(
        "readers ask of what is not there as they ask of what is, and take as long behind a link",
        arguments: AccessPolicy.allCases)
    func agreement(access: AccessPolicy) throws {
        let count = 50_000 / 16 * 16
        let link = try #require(RemoteLink(latencyNanoseconds: 3_000_000, bytesPerSecond: 7_000_000))
        for strategy in try Self.strategies() {
            for window in [1000, 4096, 1 << 20] {
                let clock = StillClock()
                let counting = Counting(
                    RemoteSource(MemorySource(try Self.ciphertext(strategy, count)), link: link, clock: clock))
                let object = try EncryptedObject(
                    source: counting, strategy: strategy, backend: OpenSSL(), key: SecretKey([UInt8](1...16)))
                let costs = try ReadCosts(strategy: strategy, plaintextByteCount: UInt64(count))
                let opened = counting.taken()
                #expect(costs.opening.requestCount == opened.requests && costs.opening.fetchedByteCount == opened.bytes)
                let reads = try Workload.random(rangeByteCount: 3333, seed: 9, readCount: 60)
                    .reads(plaintextByteCount: UInt64(count))
                let configuration = ReaderConfiguration(access: access, windowByteCount: window, threadCount: 1)
                let reader = try configuration.makeReader(of: object)
                for (read, cost) in zip(reads, try costs.costs(of: reads, configuration)) {
                    let start = clock.nanoseconds
                    _ = try reader.read(at: read.offset, count: Int(read.count))
                    let (requests, bytes) = counting.taken()
                    #expect(
                        cost.requestCount == requests && cost.fetchedByteCount == bytes,
                        "\(strategy.name) \(access) \(window) \(read)")
                    // Each request's transfer is rounded up to a nanosecond.
                    let expected = clock.nanoseconds - start
                    let time = cost.nanoseconds(link, cipherBytesPerSecond: .max)
                    #expect(time <= expected + 1 && time + requests >= expected, "\(time) \(expected)")
                }
            }
        }
    }

    private static func inputs(memory: UInt64? = nil) throws -> PlanInputs {
        PlanInputs(
            objectByteCount: 1 << 40,
            link: try #require(RemoteLink(latencyNanoseconds: 20_000_000, bytesPerSecond: 100_000_000)),
            strategies: Strategy.names, chunkByteCounts: [65_536, 1 << 20, 16_000_000],
            accesses: [.block, .chunkCache],
            windowByteCounts: [65_536, 1 << 20], rangeByteCounts: [65_536, 1000], backend: "x",
            cipherBytesPerSecond: [.cbc: 1 << 33, .ctr: 1 << 33, .gcm: 1 << 32], copiesInLibrary: 0,
            memoryBudget: memory, seed: 1)
    }

    @Test("the choice is near the soonest, within the memory, and nothing that is near takes less")
    func choice() throws {
        for memory in [nil, 4 << 20, 1 << 20] as [UInt64?] {
            let plan = try ComputedPlan(try Self.inputs(memory: memory))
            #expect(plan.candidates.count == 2 * (1 + 3 * 2 + 1 + 2 + 3))
            guard let choice = plan.choice else {
                #expect(memory == 1 << 20 && plan.affordable.isEmpty)
                continue
            }
            let soonest = try #require(plan.affordable.compactMap(\.slowNanoseconds).min())
            #expect(Double(try #require(choice.slowNanoseconds)) <= Double(soonest) * 1.05)
            #expect(memory.map { choice.memoryByteCount <= $0 } ?? true)
            for other in plan.affordable where Double(other.slowNanoseconds ?? 0) <= Double(soonest) * 1.05 {
                #expect(other.memoryByteCount >= choice.memoryByteCount)
            }
            let seek = try #require(choice.seeks.first)
            #expect(seek.medianNanoseconds >= 20_000_000 && seek.amplification >= 1 && seek.requestCount >= 1)
        }
    }

    @Test("a step changes one thing, and goes to the nearest")
    func neighbours() throws {
        let plan = try ComputedPlan(try Self.inputs())
        let start = try #require(
            plan.candidates.first {
                $0.configuration.strategy == "cbc-chunked" && $0.configuration.chunkByteCount == 1 << 20
                    && $0.configuration.access == "block" && $0.configuration.windowByteCount == 65_536
            })
        let changes = plan.neighbours(of: start).map(\.change)
        #expect(
            Set(changes) == [
                .chunk(65_536), .chunk(16_000_000), .window(1 << 20), .access("chunk-cache"),
                .strategy("cbc-continuous"),
                .strategy("ctr"), .strategy("cobblestone-128"), .strategy("cobblestone-256"),
                .strategy("tink-aes-gcm-hkdf"),
            ])
        for neighbour in plan.neighbours(of: start) {
            guard case .strategy("tink-aes-gcm-hkdf") = neighbour.change else { continue }
            #expect(neighbour.candidate.configuration.chunkByteCount == (1 << 20) - 16)
        }
    }

    @Test("a library's rate is of bytes that are right, in each of its modes", arguments: CipherMode.allCases)
    func rates(mode: CipherMode) throws {
        #expect(try CipherRate.bytesPerSecond(of: OpenSSL(), mode) > 0)
    }
}
