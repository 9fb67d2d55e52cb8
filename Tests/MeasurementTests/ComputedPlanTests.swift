import BackendRegistry
import ByteSources
import OpenSSLBackend
import RandomAccess
import Results
import Subject
import SubjectProtocol
import Support
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
                    try #require(strategy.geometry).ciphertextByteCount(ofPlaintext: UInt64(count)) == UInt64(expected),
                    "\(strategy.name) \(count)")
            }
        }
    }

    private static let noTime = DecryptionRates(points: [:], callNanoseconds: 0, copiedBytesPerSecond: .max)

    @Test(
        "readers ask of what is not there as they ask of what is, and take as long behind a link, by each client",
        arguments: AccessPolicy.allCases, RemoteClient.allCases)
    func agreement(access: AccessPolicy, client: RemoteClient) throws {
        let count = 400_000
        let link = try #require(RemoteLink(latencyNanoseconds: 3_000_000, bytesPerSecond: 7_000_000))
        for strategy in try Self.strategies() {
            for window in [1000, 4096, 1 << 20] {
                let (clock, tally) = (StillClock(), RequestTally())
                let source = client.open(
                    MemorySource(try Self.ciphertext(strategy, count)), strategy: strategy, link: link, clock: clock,
                    tally: tally)
                let object = try EncryptedObject(
                    source: source, strategy: strategy, backend: OpenSSL(), key: SecretKey([UInt8](1...16)))
                let costs = try ReadCosts(
                    strategy: strategy, plaintextByteCount: UInt64(count), keyByteCount: 16,
                    in: ReadCosts.Environment(link: link, client: client, rates: Self.noTime))
                let opened = tally.take()
                #expect(costs.opening.requestCount == opened.requests && costs.opening.fetchedByteCount == opened.bytes)
                #expect(costs.opening.nanoseconds == clock.nanoseconds, "\(strategy.name)")
                let random = try Workload.random(rangeByteCount: 3333, seed: 9, readCount: 40)
                    .reads(plaintextByteCount: UInt64(count))
                let inOrder = ReadList.windows(byteCount: 30_000, plaintextByteCount: UInt64(count))
                let configuration = ReaderConfiguration(access: access, windowByteCount: window, threadCount: 1)
                let reader = try configuration.makeReader(of: object)
                let computed = try costs.reader(configuration)
                for reads in [Array(random), Array(inOrder)] {
                    for (read, cost) in zip(reads, try computed.costs(of: reads)) {
                        let start = clock.nanoseconds
                        _ = try reader.read(at: read.offset, count: Int(read.count))
                        let (requests, bytes) = tally.take()
                        #expect(
                            cost.requestCount == requests && cost.fetchedByteCount == bytes,
                            "\(strategy.name) \(access) \(window) \(read)")
                        // What is kept is copied.
                        #expect(cost.nanoseconds == max(1, clock.nanoseconds - start), "\(strategy.name) \(read)")
                    }
                }
            }
        }
    }

    private static let rates = DecryptionRates(
        points: Dictionary(
            uniqueKeysWithValues: Cipher.allCases.flatMap { cipher in
                cipher.keyByteCounts.flatMap { key in
                    ([nil] + HashFunction.allCases).map { hmac in
                        (
                            DecryptionRates.KeyedCipher(cipher, keyByteCount: key, hmac: hmac),
                            [
                                DecryptionRates.Point(byteCount: 4096, nanoseconds: 2000),
                                DecryptionRates.Point(byteCount: 1 << 20, nanoseconds: 300_000),
                            ]
                        )
                    }
                }
            }), callNanoseconds: 500, copiedBytesPerSecond: 1 << 33)

    private static let names = [
        "cbc-continuous", "cbc-chunked", "ctr", "cobblestone-128", "cobblestone-256", "tink-aes-gcm-hkdf",
    ]

    private static func inputs(
        memory: UInt64? = nil, object: UInt64 = 1 << 40, latency: UInt64 = 20_000_000,
        bandwidth: UInt64? = 100_000_000, client: RemoteClient = .chunkwise, wantsIntegrity: Bool = false
    ) throws -> PlanInputs {
        PlanInputs(
            objectByteCount: object,
            link: latency == 0 && bandwidth == nil
                ? nil : RemoteLink(latencyNanoseconds: latency, bytesPerSecond: bandwidth),
            client: client, strategies: try names.map { try .init(Format.named($0)) },
            chunkByteCounts: [65_536, 1 << 20, 16_000_000],
            accesses: [.block, .chunkCache], windowByteCounts: [65_536, 1 << 20], rangeByteCounts: [65_536, 1000],
            libraries: [PlanInputs.Library(name: "x", copyCount: 0, rates: rates)], memoryBudget: memory,
            wantsIntegrity: wantsIntegrity, seed: 1)
    }

    @Test("the choice is near the soonest, within the memory, and nothing that is near takes less")
    func choice() throws {
        for memory in [nil, 64 << 20, 32 << 20, 1 << 20] as [UInt64?] {
            let plan = try ComputedPlan(try Self.inputs(memory: memory))
            #expect(plan.candidates.count == 2 * (1 + 3 * 2 + 1 + 2 + 3))
            guard let choice = plan.choice else {
                #expect(memory == 1 << 20 && plan.eligible.isEmpty)
                continue
            }
            let soonest = try #require(plan.eligible.map(\.decidingNanoseconds).min())
            #expect(Double(choice.decidingNanoseconds) <= Double(soonest) * 1.05)
            #expect(memory.map { choice.memoryByteCount <= $0 } ?? true)
            for other in plan.eligible where Double(other.decidingNanoseconds) <= Double(soonest) * 1.05 {
                #expect(other.memoryByteCount >= choice.memoryByteCount)
            }
            let seek = try #require(choice.seeks.first)
            #expect(seek.medianNanoseconds >= 20_000_000 && seek.amplification >= 1 && seek.requestCount >= 1)
        }
    }

    @Test("with integrity, only what notices changes is chosen, and what doing without would give is known")
    func integrity() throws {
        let plan = try ComputedPlan(try Self.inputs(wantsIntegrity: true))
        let (choice, other) = (try #require(plan.choice), try #require(plan.unguardedChoice))
        #expect(choice.noticesChanges && !other.noticesChanges)
        #expect(plan.candidates.filter(\.noticesChanges).allSatisfy { $0.configuration.strategy.contains("-") })
        #expect(
            Set(plan.candidates.filter { !$0.noticesChanges }.map(\.configuration.strategy)) == [
                "cbc-continuous", "cbc-chunked", "ctr",
            ])
        #expect(try ComputedPlan(try Self.inputs()).unguardedChoice == nil)
    }

    /// Lengths at which something changes: nothing, blocks, the ends that are fetched, chunks, windows.
    private static let objects: [UInt64] = [
        0, 1, 15, 16, 17, 1000, 65_535, 65_536, 65_537, 131_072, 200_000, 1_000_000, 1 << 20, 15_999_999, 20_000_000,
        105_000_000, 4_000_000_000,
    ]

    @Test("figures are possible ones, for objects of any length", arguments: objects, RemoteClient.allCases)
    func figures(object: UInt64, client: RemoteClient) throws {
        for (latency, bandwidth) in [(0, nil), (5_000_000, nil), (0, 1_000_000), (80_000_000, 20_000_000)]
            as [(UInt64, UInt64?)]
        {
            let plan = try ComputedPlan(
                try Self.inputs(object: object, latency: latency, bandwidth: bandwidth, client: client))
            #expect(plan.choice != nil)
            let chunks = Set(
                plan.candidates.filter { $0.configuration.strategy == "cbc-chunked" }
                    .compactMap(\.configuration.chunkByteCount))
            #expect(chunks.allSatisfy { $0 <= object } || chunks == [65_536], "\(chunks)")
            #expect(object >= 16_000_000 || !plan.notes.isEmpty)
            for candidate in plan.candidates {
                let name: Comment = "\(object) \(candidate)"
                #expect(candidate.seeks.isEmpty == (object == 0), name)
                if object > 0 {
                    #expect(candidate.firstByteNanoseconds > latency && candidate.downloadBytesPerSecond > 0, name)
                }
                // Both ends of an object are there once it is open.
                let isAway = client == .serial || object >= 4_000_000
                for seek in candidate.seeks {
                    #expect(seek.medianNanoseconds > 0 && seek.medianNanoseconds <= seek.slowNanoseconds, name)
                    // One that crosses a chunk's edge takes two chunks.
                    #expect(seek.slowNanoseconds <= 2 * seek.coldNanoseconds, name)
                    #expect(seek.rangeByteCount <= object && seek.amplification >= 0, name)
                    if isAway { #expect(seek.coldNanoseconds >= latency, name) }
                    if isAway, candidate.configuration.access == .block, !candidate.noticesChanges {
                        #expect(seek.medianNanoseconds >= latency && seek.requestCount >= 0.9, name)
                        #expect(seek.amplification >= 0.9 && seek.amplification < 40, name)
                    }
                }
                #expect(candidate.memoryByteCount >= min(65_536, object), name)
            }
        }
    }

    @Test("a longer latency makes nothing quicker, a larger bandwidth nothing slower", arguments: RemoteClient.allCases)
    func monotony(client: RemoteClient) throws {
        func candidates(_ latency: UInt64, _ bandwidth: UInt64?) throws -> [ComputedPlan.Candidate] {
            try ComputedPlan(
                try Self.inputs(object: 50_000_000, latency: latency, bandwidth: bandwidth, client: client)
            ).candidates
        }
        let slow = try candidates(40_000_000, 10_000_000)
        for quick in [try candidates(20_000_000, 10_000_000), try candidates(40_000_000, 30_000_000)] {
            for (slow, quick) in zip(slow, quick) {
                let name: Comment = "\(slow) \(quick)"
                #expect(slow.configuration == quick.configuration)
                #expect(slow.firstByteNanoseconds >= quick.firstByteNanoseconds, name)
                #expect(slow.downloadBytesPerSecond <= quick.downloadBytesPerSecond, name)
                for (slow, quick) in zip(slow.seeks, quick.seeks) {
                    #expect(slow.medianNanoseconds >= quick.medianNanoseconds, name)
                    #expect(slow.coldNanoseconds >= quick.coldNanoseconds, name)
                }
            }
        }
        for candidate in slow where candidate.seeks.count == 2 {
            #expect(candidate.seeks[0].coldNanoseconds >= candidate.seeks[1].coldNanoseconds, "\(candidate)")
        }
    }

    @Test("the reader of URLs downloads quicker than one request after the other, and does not gain by long windows")
    func clients() throws {
        func download(_ client: RemoteClient, _ window: UInt64) throws -> UInt64 {
            let plan = try ComputedPlan(
                try Self.inputs(object: 64_000_000, latency: 30_000_000, bandwidth: 50_000_000, client: client))
            return try #require(
                plan.candidates.first {
                    $0.configuration.strategy == "ctr" && $0.configuration.windowByteCount == window
                }
            ).downloadBytesPerSecond
        }
        #expect(try download(.chunkwise, 65_536) > 10 * download(.serial, 65_536))
        #expect(try download(.serial, 1 << 20) > 5 * download(.serial, 65_536))
        // Padding between chunks is no step out of order.
        let plan = try ComputedPlan(
            try Self.inputs(object: 64_000_000, latency: 30_000_000, bandwidth: 50_000_000))
        for candidate in plan.candidates where candidate.configuration.access == .block {
            #expect(candidate.downloadBytesPerSecond > 30_000_000, "\(candidate)")
        }
        let (short, long) = (try download(.chunkwise, 65_536), try download(.chunkwise, 1 << 20))
        #expect(long < short + short / 10, "\(short) \(long)")
    }

    @Test(
        "reads of every known format are computed, by each client",
        // Chunks of a cipher block take millions of steps.
        arguments: Format.known.filter { Strategy(sampling: $0).chunkByteCount != 16 }, RemoteClient.allCases)
    func formats(format: Format, client: RemoteClient) throws {
        var inputs = try Self.inputs(object: 3_000_017, client: client)
        inputs.strategies = [try PlanInputs.Chosen(format)]
        (inputs.chunkByteCounts, inputs.windowByteCounts) = ([65_536], [65_536])
        let plan = try ComputedPlan(inputs)
        #expect(plan.choice != nil)
        for candidate in plan.candidates {
            #expect(candidate.layout.storedByteCount >= 3_000_017 && candidate.seeks.count == 2, "\(candidate)")
            #expect(Cipher.allCases.contains { $0.keyByteCounts.contains(candidate.configuration.keyByteCount) })
        }
    }

    @Test("what cannot be computed is counted, unless it is all that was asked for")
    func leftOut() throws {
        var inputs = try Self.inputs(object: 1 << 30)
        inputs.strategies = [inputs.strategies[0]]
        let whole = try PlanInputs.Chosen(Format.named("iv-prefix-cbc-mac"))
        inputs.strategies.append(whole)
        guard case .notComputed(let reasons)? = try ComputedPlan(inputs).notes.last else {
            Issue.record("no note")
            return
        }
        #expect(reasons.count == 1 && reasons[0].hasPrefix("iv-prefix-cbc-mac (") && reasons[0].contains("256 MiB"))
        inputs.strategies = [whole]
        #expect(throws: DecryptionError.self) { try ComputedPlan(inputs) }
    }

    @Test("a step changes one thing, and goes to the nearest")
    func neighbours() throws {
        let plan = try ComputedPlan(try Self.inputs())
        let start = try #require(
            plan.candidates.first {
                $0.configuration.strategy == "cbc-chunked" && $0.configuration.chunkByteCount == 1 << 20
                    && $0.configuration.access == .block && $0.configuration.windowByteCount == 65_536
            })
        let changes = plan.neighbours(of: start).map(\.change)
        #expect(
            Set(changes) == [
                .chunk(65_536), .chunk(16_000_000), .window(1 << 20), .access(.chunkCache),
                .strategy("cbc-continuous"),
                .strategy("ctr"), .strategy("cobblestone-128"), .strategy("cobblestone-256"),
                .strategy("tink-aes-gcm-hkdf"),
            ])
        for neighbour in plan.neighbours(of: start) {
            guard case .strategy("tink-aes-gcm-hkdf") = neighbour.change else { continue }
            #expect(neighbour.candidate.configuration.chunkByteCount == 1 << 20)
        }
    }

    @Test(
        "a library's rates are of bytes that are right, of each of its ciphers",
        arguments: [Cipher.aesCBC, .aesCTR, .aesGCM, .chaCha20Poly1305, .aesXTS])
    func rates(cipher: Cipher) throws {
        let cipher = DecryptionRates.KeyedCipher(cipher, keyByteCount: 32)
        let rates = try DecryptionRates.measured(OpenSSL(), [cipher])
        let points = try #require(rates.points[cipher])
        #expect(points.count == 8 && points.allSatisfy { $0.nanoseconds > 0 })
        #expect(rates.callNanoseconds > 0 && rates.copiedBytesPerSecond > 0)
    }

    @Test("between two lengths that were timed, time is on a straight line; beyond the last, in proportion")
    func interpolation() {
        let cipher = DecryptionRates.KeyedCipher(.aesGCM, keyByteCount: 16)
        let expected: [(UInt64, Double)] = [
            (0, 0), (1, 2000), (4096, 2000), ((4096 + (1 << 20)) / 2, 151_000), (1 << 20, 300_000),
            (1 << 22, 1_200_000),
        ]
        for (count, nanoseconds) in expected {
            #expect(Self.rates.nanoseconds(cipher, byteCount: count) == nanoseconds, "\(count)")
        }
    }
}
