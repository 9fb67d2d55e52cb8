import ByteSources
import RandomAccess
import Subject
import SubjectProtocol
import Support
import TestSupport
import Testing

@Suite("our readers as subjects")
struct ReaderSubjectTests {
    private static let iv = Block(bigEndianValue: 42)
    private let plaintext = Samples.bytes(1000)

    static let strategies: [Strategy] = [
        .cbcContinuous(iv: iv, padding: .pkcs7), .ctr(iv: iv),
        .cbcChunked(chunkByteCount: 112, iv: iv, ivRule: .sequence, padding: .pkcs7),
    ]

    /// A subject with the plaintext open under 1, as a file.
    private func subject(
        _ strategy: Strategy, access: AccessPolicy = .block, threadCount: Int = 1, folder: TemporaryFolder
    ) throws -> ReaderSubject {
        try openSubject(plaintext, strategy, access: access, threadCount: threadCount, folder: folder)
    }

    private static let random = Workload.random(rangeByteCount: 100, seed: 9, readCount: 30)
    static let workloads: [Workload] = [
        .sequential(windowByteCount: 64), .sequential(windowByteCount: 33), .sequential(windowByteCount: 5000), random,
        .trace([.init(offset: 990, count: 20), .init(offset: 0, count: 0), .init(offset: 5, count: 130)]), .trace([]),
    ]

    @Test(
        "the digest is that of the expected bytes, for every strategy, access, workload and number of threads",
        arguments: strategies, AccessPolicy.allCases)
    func digest(strategy: Strategy, access: AccessPolicy) throws {
        let folder = try TemporaryFolder()
        for threadCount in [1, 2, 3, 8] {
            let subject = try subject(strategy, access: access, threadCount: threadCount, folder: folder)
            for workload in Self.workloads {
                var delivered: [UInt8] = []
                var count: UInt64 = 0
                for read in try workload.reads(plaintextByteCount: 1000) {
                    delivered += plaintext[Int(read.offset)..<Int(read.offset + read.count)]
                    count += read.count
                }
                let answer = try subject.measure(id: 1, request: ["workload": workload.json, "collect": "digest"])
                #expect(
                    answer["digest"] == .string(Hexadecimal.encode(SHAFunction.sha256.hash(delivered))),
                    "\(workload), \(threadCount) threads")
                #expect(answer["deliveredByteCount"] == .integer(count), "\(workload), \(threadCount) threads")
            }
        }
    }

    @Test("a film is opened from a file by its list of samples, read and measured, by blocks only")
    func film() throws {
        let folder = try TemporaryFolder()
        let subject = try subject(.ctr(iv: Self.iv), folder: folder)
        // One sample with clear bytes before it and behind it.
        let ciphertext = try #require(folder.bytes("object"))
        let clear = [UInt8](repeating: 7, count: 10)
        let path = try folder.file("film", clear + ciphertext + clear)
        let list = #"{"scheme":"cenc","samples":[[10,1000,"\#(Hexadecimal.encode(Self.iv.bytes))"]]}"#
        let request = try FilmRequest(
            [
                "key": .string(Hexadecimal.encode(Samples.bytes(16))), "samples": .string(list),
                "source": ["path": .string(path)],
            ],
            pipe: PipeEnd(input: -1, output: -1))
        #expect(subject.lists == [.playlist, .film])
        #expect(try subject.open(id: 2, list: .film(request)) == 1020)
        #expect(Array(try subject.read(id: 2, offset: 5, count: 100)) == Array(clear[5...]) + plaintext[..<95])
        let workload = Workload.sequential(windowByteCount: 64)
        let answer = try subject.measure(
            id: 2, request: ["workload": workload.json, "collect": "digest", "extended": true])
        let digest = SHAFunction.sha256.hash(clear + plaintext + clear)
        #expect(answer["digest"] == .string(Hexadecimal.encode(digest)))
        #expect(answer["fetchedByteCount"] == 1020)
        #expect(try self.subject(.ctr(iv: Self.iv), access: .wholeChunk, folder: folder).lists == [])
    }

    @Test("counters are those of the workload alone")
    func counters() throws {
        let folder = try TemporaryFolder()
        let subject = try subject(.cbcContinuous(iv: Self.iv, padding: .pkcs7), folder: folder)
        func counts(_ reads: [Workload.Read]) throws -> [UInt64?] {
            let answer = try subject.measure(
                id: 1, request: ["workload": Workload.trace(reads).json, "collect": "digest", "extended": true])
            return [answer["fetchedByteCount"]?.integer, answer["decryptedByteCount"]?.integer]
        }
        #expect(try counts([]) == [0, 0])
        // The block, and the one before it for its chain.
        #expect(try counts([.init(offset: 35, count: 1)]) == [32, 16])
        #expect(try counts([.init(offset: 0, count: 16)]) == [16, 16])
        #expect(try counts([.init(offset: 35, count: 1), .init(offset: 35, count: 1)]) == [64, 32])
    }

    @Test("a chunk that is kept is fetched once")
    func keptChunk() throws {
        let folder = try TemporaryFolder()
        let subject = try subject(Self.strategies[2], access: .chunkCache, folder: folder)
        let reads = (0..<10).map { Workload.Read(offset: 112 + $0, count: 1) }
        let answer = try subject.measure(
            id: 1, request: ["workload": Workload.trace(reads).json, "collect": "digest", "extended": true])
        #expect((answer["decryptedByteCount"]?.integer ?? 0) <= 128)
    }

    @Test("there are as many samples as the time and the most iterations ask for, and one at least", arguments: [1, 3])
    func samples(threadCount: Int) throws {
        let folder = try TemporaryFolder()
        let subject = try subject(.ctr(iv: Self.iv), threadCount: threadCount, folder: folder)
        func samples(_ nanoseconds: UInt64, _ iterations: UInt64) throws -> [UInt64] {
            let answer = try subject.measure(
                id: 1,
                request: [
                    "workload": Self.random.json, "collect": "time", "minimumNanoseconds": .integer(nanoseconds),
                    "maximumIterations": .integer(iterations), "extended": true,
                ])
            #expect(answer["boundByteCount"]?.integer != nil)
            return answer["nanoseconds"]?.array?.compactMap(\.integer) ?? []
        }
        #expect(try samples(0, 5).count == 1)
        #expect(try samples(.max, 5).count == 5)
        #expect(try samples(1, .max).count == 1)
        let some = try samples(300_000, 1 << 53 - 1)
        #expect(some.reduce(0, +) >= 300_000 && some.dropLast().reduce(0, +) < 300_000)
    }

    @Test("what is timed again is the object that is open now", arguments: [1, 3])
    func timedAgain(threadCount: Int) throws {
        let folder = try TemporaryFolder()
        let subject = try subject(.ctr(iv: Self.iv), threadCount: threadCount, folder: folder)
        let request: JSONValue = [
            "workload": Self.random.json, "collect": "time", "minimumNanoseconds": 9_007_199_254_740_991,
            "maximumIterations": 3,
        ]
        func sampleCount() throws -> Int? {
            let answer = try subject.measure(id: 1, request: request)
            #expect(Set(answer.keys) == ["nanoseconds"])
            return answer["nanoseconds"]?.array?.count
        }
        #expect(try sampleCount() == 3)
        #expect(try sampleCount() == 3)
        // Whatever comes between.
        #expect(Array(try subject.read(id: 1, offset: 10, count: 5)) == Array(plaintext[10..<15]))
        #expect(try sampleCount() == 3)
        subject.close(id: 1)
        let closed = #expect(throws: DecryptionError.self) { try sampleCount() }
        #expect(closed?.protocolName == "invalidRequest")
        // Too short for the workload's reads.
        let members: JSONValue = [
            "strategy": "ctr", "iv": .string(Hexadecimal.encode([UInt8](repeating: 0, count: 16))),
            "key": .string(Hexadecimal.encode(Samples.bytes(16))),
            "source": ["path": .string(try folder.file("short", [1, 2, 3]))],
        ]
        let parameters = try OpenParameters(members)
        let source = try subject.source(try #require(members["source"]), parameters: parameters)
        #expect(try subject.open(id: 1, parameters: parameters, source: source) == 3)
        let short = #expect(throws: DecryptionError.self) { try sampleCount() }
        #expect(short?.protocolName == "rangeOutOfBounds")
    }

    @Test("an iteration keeps no plaintext for the next, nor does a request", arguments: AccessPolicy.allCases)
    func forgotten(access: AccessPolicy) throws {
        let folder = try TemporaryFolder()
        // One chunk, and more than one.
        for segmentByteCount in [4096, 256] as [UInt64] {
            let format = ChunkFormat.tinkAESGCMHKDF(
                associatedData: [], segmentByteCount: segmentByteCount, derivedKeyByteCount: 16)
            var counter: RecordingSource?
            let subject = try openSubject(plaintext, .chunked(format), access: access, folder: folder) { source in
                let recording = RecordingSource(source, keepsRanges: false)
                counter = recording
                return recording
            }
            func fetched(_ collect: JSONValue, _ iterations: UInt64) throws -> UInt64 {
                counter?.reset()
                _ = try subject.measure(
                    id: 1,
                    request: [
                        "workload": Workload.sequential(windowByteCount: 64).json, "collect": collect,
                        "minimumNanoseconds": 9_007_199_254_740_991, "maximumIterations": .integer(iterations),
                    ])
                return counter?.record.fetchedByteCount ?? 0
            }
            let once = try fetched("time", 1)
            #expect(once >= 1000)
            #expect(try fetched("time", 3) == 3 * once)
            #expect(try fetched("latencies", 1) == once)
            #expect(try fetched("time", 2) == 2 * once)
        }
    }

    @Test("there is a latency for each read", arguments: [1, 4])
    func latencies(threadCount: Int) throws {
        let folder = try TemporaryFolder()
        let subject = try subject(.ctr(iv: Self.iv), threadCount: threadCount, folder: folder)
        for (workload, count) in [(Self.random, 30), (.sequential(windowByteCount: 64), 16), (.trace([]), 0)] {
            let answer = try subject.measure(id: 1, request: ["workload": workload.json, "collect": "latencies"])
            #expect(answer["latencies"]?.array?.count == count)
        }
    }

    @Test(
        "a measurement that is none is an invalid request",
        arguments: [
            [:], ["workload": 1, "collect": "digest"], ["collect": "digest"], ["collect": "speed"],
            ["collect": "time"], ["collect": "time", "minimumNanoseconds": 1],
            ["collect": "time", "minimumNanoseconds": 1, "maximumIterations": 0],
        ] as [JSONValue]
    )
    func garbage(request: JSONValue) throws {
        let folder = try TemporaryFolder()
        let subject = try subject(.ctr(iv: Self.iv), folder: folder)
        var members: [String: JSONValue] = [:]
        if case .object(let own) = request { members = own }
        if request["workload"] == nil, request["collect"] != "digest" { members["workload"] = Self.random.json }
        let error = #expect(throws: DecryptionError.self) { try subject.measure(id: 1, request: .object(members)) }
        #expect(error?.protocolName == "invalidRequest")
    }

    @Test("an open loop has all its reads, none of which is done before it is due", arguments: [1, 3])
    func openLoop(threadCount: Int) throws {
        let folder = try TemporaryFolder()
        let subject = try subject(.ctr(iv: Self.iv), threadCount: threadCount, folder: folder)
        let request: JSONValue = [
            "workload": Self.random.json, "collect": "openLoop", "extended": true, "arrivals": "fixed:20000",
            "readCount": 200, "arrivalSeed": 1,
        ]
        let answer = JSONValue.object(try subject.measure(id: 1, request: request))
        let latencies = try #require(answer["latencies"]?.array?.compactMap { $0.integer })
        let services = try #require(answer["services"]?.array?.compactMap { $0.integer })
        #expect(latencies.count == 200 && services.count == 200)
        #expect(zip(latencies, services).allSatisfy { $0 >= $1 && $1 > 0 })
        // The last one is due after 200 ÷ 20,000 s.
        #expect(try #require(answer["elapsedNanoseconds"]?.integer) >= 10_000_000)
        for (member, value) in [("arrivals", "1e9"), ("readCount", 0), ("arrivalSeed", .null)] as [(String, JSONValue)]
        {
            guard case .object(var members) = request else { return }
            members[member] = value
            #expect(throws: DecryptionError.self) { try subject.measure(id: 1, request: .object(members)) }
        }
    }

    @Test("a failed measurement leaves the object usable")
    func recovery() throws {
        let folder = try TemporaryFolder()
        let subject = try subject(.ctr(iv: Self.iv), threadCount: 4, folder: folder)
        let tooLong = Workload.random(rangeByteCount: 1001, seed: 1, readCount: 1)
        let error = #expect(throws: DecryptionError.self) {
            try subject.measure(id: 1, request: ["workload": tooLong.json, "collect": "digest"])
        }
        #expect(error?.protocolName == "rangeOutOfBounds")
        #expect(Array(try subject.read(id: 1, offset: 10, count: 5)) == Array(plaintext[10..<15]))
        #expect(throws: DecryptionError.self) { try subject.read(id: 1, offset: 1001, count: 0) }
        #expect(Array(try subject.read(id: 1, offset: 990, count: 1 << 28)) == Array(plaintext[990...]))
    }
}
