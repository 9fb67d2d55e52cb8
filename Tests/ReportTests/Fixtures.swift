import Report
import Results
import Statistics
import Support

extension RunResults {
    /// The results with the facts of their cells' strategies.
    var withFacts: RunResults {
        var results = self
        let texts = Set(cells.map(\.cell.strategy))
        let facts = texts.compactMap { text in Fixture.facts(of: text).map { (text, $0) } }
        results.header.strategies = Dictionary(uniqueKeysWithValues: facts)
        return results
    }
}

/// Small results in which every kind of record occurs, chosen so that figures can be checked by hand.
enum Fixture {
    static let header: RunHeader = {
        var header = headerWithoutLimits
        header.limits = limits
        return header
    }()

    /// AES at 10 GB/s a thread, copies at 20 GB/s, page-cache reads at 5 GB/s.
    private static let limits: MachineLimits = {
        func rate(_ bytesPerSecond: UInt64) -> Rate {
            Rate(byteCount: bytesPerSecond / 100, nanoseconds: [10_000_000])
        }
        func buffers(_ bytesPerSecond: UInt64) -> BufferRate {
            BufferRate(bufferByteCount: 1 << 20, rate: rate(bytesPerSecond))
        }
        let one = ThreadLimits(
            threads: 1, aesDecrypt: [KeyRate(keyByteCount: 16, rate: rate(10_000_000_000))],
            cacheCopy: buffers(40_000_000_000), memoryCopy: buffers(20_000_000_000),
            memoryRead: [buffers(20_000_000_000)], pageCacheRead: [buffers(5_000_000_000)])
        var all = one
        all.threads = 8
        return MachineLimits(aesUnit: "vaes-avx2", oneThread: one, allThreads: all)
    }()

    private static let headerWithoutLimits = RunHeader(
        programVersion: "0.1.0",
        command: ["chunkwise", "run", "Benchmarks/plans/quick.yaml", "--label", "it's quick"],
        startedAt: "2026-11-20T12:00:00Z",
        host: RunHeader.Host(
            name: "bench-1", cpuModel: "Example CPU @ 3.00GHz", cpuCount: 8, cpuFlags: ["aes", "avx2", "vaes"],
            memoryByteCount: 16 << 30, kernel: "Linux 6.12.1", cacheByteCounts: [48 << 10, 2 << 20, 32 << 20],
            transparentHugePages: "madvise", frequencyGovernor: nil
        ),
        backends: [
            RunHeader.Backend(name: "openssl", version: "3.0.15", cpuFeatures: ["aes-ni"]),
            RunHeader.Backend(name: "libgcrypt", version: "1.10.1", cpuFeatures: ["vaes-avx2"]),
        ],
        plan: "name: quick\nwindows: [64KiB, 1MiB]\n", seed: 7
    )

    /// The facts of a strategy, by the name of its format; `nil` for an unknown one.
    static func facts(of strategy: String) -> StrategyFacts? {
        var facts = StrategyFacts(
            cipher: "aes-cbc", source: "its specification", isWhole: true,
            isPadded: !strategy.contains("padding=none"), hasOwnNonces: !strategy.contains("iv-rule=fixed"),
            isFresh: true)
        switch strategy.prefix(while: { $0 != ":" }) {
        case "cbc-continuous": break
        case "cbc-chunked": facts.isWhole = false
        case "ctr": (facts.cipher, facts.isPadded) = ("aes-ctr", false)
        case "hls-aes128": (facts.isWhole, facts.isFresh, facts.hasPlaylist) = (false, false, true)
        case "cobblestone-128", "cobblestone-256", "tink-aes-gcm-hkdf":
            (facts.cipher, facts.isWhole, facts.isPadded) = ("aes-gcm", false, false)
            (facts.isTagged, facts.isIndexBound, facts.isObjectBound, facts.isEndBound) = (true, true, true, true)
        default: return nil
        }
        return facts
    }

    static let conformance = [
        ConformanceRecord(subject: "openssl", passed: 1200, failed: 0, unsupported: 4, notRun: 0, failures: []),
        ConformanceRecord(subject: "libgcrypt", passed: 1204, failed: 0, unsupported: 0, notRun: 0, failures: []),
    ]

    /// 1 MiB delivered in about 1 ms is about 1000 MiB/s.
    static let small = RunResults(
        header: header, conformance: conformance,
        cells: [
            sequential("openssl", window: 64 << 10, milliseconds: 2.0, growth: 72 << 10),
            sequential("openssl", window: 1 << 20, milliseconds: 2.5, growth: 1 << 20),
            sequential("libgcrypt", window: 64 << 10, milliseconds: 1.0, growth: 72 << 10),
            sequential("libgcrypt", window: 1 << 20, milliseconds: 0.99, growth: 1 << 20),
            sequential(
                "libgcrypt", window: 104_857_600, milliseconds: 2.2, growth: 101 << 20, access: .freshBuffers,
                label: "100 MiB as published"),
            random("libgcrypt", chunk: 16_000_000, access: .block, fetched: 4128, p50: 9_000),
            random(
                "libgcrypt", chunk: 16_000_000, access: .chunkCache, fetched: 16_000_016, p50: 4_100_000,
                label: "16 MB as published"),
            failed("openssl", reason: "wrong digest at window 3 B: expected 00ff, got ff00"),
            unchecked("openssl"),
        ],
        isComplete: true
    ).withFacts

    static func sequential(
        _ backend: String, window: UInt64, milliseconds: Double, growth: UInt64, access: AccessPolicy = .block,
        label: String? = nil
    ) -> CellResult {
        let cell = Cell(
            backend: backend, strategy: "cbc-continuous", windowByteCount: window, access: access,
            objectByteCount: 1 << 20, label: label)
        var result = CellResult(cell: cell)
        let delivered: UInt64 = 1 << 20
        result.check = CheckRecord(
            cell: cell, digest: "30e14955ebf1352266dc2ff8067e68104607e750abb9d3b36582b8af909fcb58",
            deliveredByteCount: delivered, fetchedByteCount: delivered + 32, decryptedByteCount: delivered + 16)
        let middle = UInt64(milliseconds * 1_000_000)
        result.rounds = [
            [middle - 9_000, middle, middle + 11_000], [middle - 12_000, middle + 1_000, middle + 8_000],
            [middle - 3_000, middle - 1_000, middle + 2_000],
        ]
        result.memory = MemoryRecord.Memory(
            baselineByteCount: 8 << 20, peakByteCount: (8 << 20) + growth, boundByteCount: window + 4096)
        return result
    }

    static func random(
        _ backend: String, chunk: UInt64, access: AccessPolicy, fetched: UInt64, p50: UInt64, label: String? = nil
    ) -> CellResult {
        let cell = Cell(
            backend: backend, strategy: "cbc-chunked:chunk=\(ByteSize(chunk))", chunkByteCount: chunk,
            windowByteCount: access == .block ? 4096 : chunk, workload: "random:4KiB", access: access,
            objectByteCount: 64 << 20, label: label)
        var result = CellResult(cell: cell)
        result.check = CheckRecord(
            cell: cell, digest: "ab", deliveredByteCount: 4096 * 100, readCount: 100, requestCount: 103,
            fetchedByteCount: fetched * 100, decryptedByteCount: fetched * 100)
        result.rounds = [[p50 * 100, p50 * 101]]
        result.latency = LatencyRecord.Latency(
            readCount: 100, p50: p50, p90: p50 * 12 / 10, p99: p50 * 2, p999: p50 * 5, max: p50 * 5)
        return result
    }

    static func failed(_ backend: String, reason: String) -> CellResult {
        var result = sequential(backend, window: 3, milliseconds: 1, growth: 0)
        result.failure = reason
        return result
    }

    static func unchecked(_ backend: String) -> CellResult {
        var result = sequential(backend, window: 5, milliseconds: 1, growth: 0)
        result.check = nil
        return result
    }
}

/// Small results that make every picture, matrix, table and note of a page, chosen so that figures can be checked by
/// hand.
enum PageFixture {
    static let results: RunResults = {
        var header = Fixture.header
        header.host.transparentHugePages = "always"
        header.host.frequencyGovernor = "powersave"
        header.host.isTurboOn = true
        header.backends.append(RunHeader.Backend(name: "slow", version: "1", cpuFeatures: []))
        return RunResults(
            header: header, conformance: conformance, mutants: mutants, cells: cells, isComplete: true
        ).withFacts
    }()

    /// Names that try to be markup, one cell, one round, nothing but times.
    static let odd: RunResults = {
        let name = "</script><script>alert(1)</script><b>&\"' |=cmd"
        var header = Fixture.header
        header.limits = nil
        header.host.name = name
        header.host.cpuModel = String(repeating: "unbroken", count: 30)
        header.plan = name + "\n" + String(repeating: "x", count: 400)
        header.backends = [RunHeader.Backend(name: name, version: name, cpuFeatures: [name])]
        var cell = Fixture.sequential(name, window: 100_003, milliseconds: 1, growth: 0)
        cell.rounds = [[1_000_000]]
        cell.memory = nil
        let failed = Fixture.failed(name, reason: name + String(repeating: " and on", count: 40))
        return RunResults(
            header: header,
            conformance: [
                ConformanceRecord(
                    subject: name, passed: 3, failed: 0, unsupported: 0, notRun: 0, failures: [],
                    flags: [.init(flag: name, passed: 3, failed: 0, unsupported: 0, notRun: 0)])
            ],
            mutants: MutantsRecord(
                backend: name, outcomes: [.init(name: name, flag: name, killedBy: [])],
                controls: [.init(name: name, passed: 0, failed: 1)]), cells: [cell, failed], isComplete: false)
    }()

    private static let conformance = [
        ConformanceRecord(
            subject: "openssl", passed: 1200, failed: 0, unsupported: 4, notRun: 0, failures: [],
            flags: [
                .init(flag: "ChunkEdge", passed: 1000, failed: 0, unsupported: 0, notRun: 0),
                .init(flag: "Segments", passed: 0, failed: 0, unsupported: 4, notRun: 0),
                .init(flag: "LastBytes", passed: 200, failed: 0, unsupported: 0, notRun: 0),
            ]),
        ConformanceRecord(
            subject: "libgcrypt", passed: 1200, failed: 0, unsupported: 0, notRun: 4, failures: [],
            flags: [
                .init(flag: "ChunkEdge", passed: 1000, failed: 0, unsupported: 0, notRun: 3),
                .init(flag: "LastBytes", passed: 200, failed: 0, unsupported: 0, notRun: 1),
            ]),
        ConformanceRecord(
            subject: "slow", passed: 3, failed: 1, unsupported: 0, notRun: 0,
            failures: [.init(id: "v1 offset=1", flags: ["ChunkEdge"], reason: "byte 0 is 00: expected ff")],
            flags: [.init(flag: "ChunkEdge", passed: 3, failed: 1, unsupported: 0, notRun: 0)]),
    ]

    private static let mutants = MutantsRecord(
        backend: "openssl",
        outcomes: [
            .init(name: "iv-zero", flag: "ChunkEdge", killedBy: ["ChunkEdge", "LastBytes"]),
            .init(name: "tail-lost", flag: "LastBytes", killedBy: ["LastBytes"]),
            .init(name: "tail-doubled", flag: "LastBytes", killedBy: ["ChunkEdge"]),
        ], controls: [.init(name: "textbook", passed: 40, failed: 0)])

    private static let cells: [CellResult] = {
        var cells: [CellResult] = []
        for (backend, factor) in [("openssl", 1.0), ("libgcrypt", 0.5)] {
            for (window, milliseconds) in [(UInt64(4 << 10), 2.0), (64 << 10, 1.6), (16_000_000, 2.4)] {
                cells.append(read(backend, window: window, milliseconds: milliseconds * factor))
            }
        }
        cells.append(
            Fixture.sequential(
                "libgcrypt", window: 104_857_600, milliseconds: 2.2, growth: 101 << 20, access: .freshBuffers,
                label: "100 MiB as published"))
        for chunk in [65536, 16_000_000] as [UInt64] {
            let times = (block: UInt64(9_000), whole: chunk / 5)
            cells.append(
                range("libgcrypt", "random:4KiB", chunk: chunk, access: .block, fetched: 4128, p50: times.block))
            cells.append(
                range("libgcrypt", "random:4KiB", chunk: chunk, access: .chunkCache, fetched: chunk, p50: times.whole)
            )
        }
        cells.append(range("openssl", "random:4KiB", chunk: 65536, access: .block, fetched: 4128, p50: 11_000))
        cells.append(range("libgcrypt", "trace:film", chunk: 65536, access: .block, fetched: 4500, p50: 8_000))
        cells.append(range("libgcrypt", "trace:film", chunk: 65536, access: .wholeChunk, fetched: 65536, p50: 70_000))
        var cold = read("libgcrypt", window: 64 << 10, milliseconds: 9)
        cold.cell.isCold = true
        cold.residentByteCount = 3 << 20
        cells.append(cold)
        cells.append(Fixture.failed("openssl", reason: "wrong digest at window 3 B: expected 00ff, got ff00"))
        return cells
    }()

    private static func read(_ backend: String, window: UInt64, milliseconds: Double) -> CellResult {
        var result = Fixture.sequential(
            backend, window: window, milliseconds: milliseconds, growth: window)
        let time = UInt64(milliseconds * 1_000_000) * window / (1 << 20) + 1_000
        result.latency = LatencyRecord.Latency(
            readCount: window < 65536 ? 1024 : window < 1 << 20 ? 128 : 5, p50: time, p90: time * 11 / 10,
            p99: time * 14 / 10, p999: time * 2, max: time * 4)
        result.firstByte = LatencyRecord.Latency(
            readCount: 32, p50: 5_000, p90: 6_000, p99: 9_000, p999: 9_000, max: 9_000)
        result.usage = ProcessUsage(
            userNanoseconds: 9_000_000, systemNanoseconds: 1_000_000, minorFaults: 1_234, majorFaults: 0,
            voluntarySwitches: 2, involuntarySwitches: 5, instructions: 12_000_000, cycles: 6_291_456)
        return result
    }

    private static func range(
        _ backend: String, _ workload: String, chunk: UInt64, access: AccessPolicy, fetched: UInt64, p50: UInt64
    ) -> CellResult {
        var result = Fixture.random(backend, chunk: chunk, access: access, fetched: fetched, p50: p50)
        result.cell.workload = workload
        result.cell.readCount = 100
        if var check = result.check {
            check.cell = result.cell
            result.check = check
        }
        let time = access == .block ? 5_000 : p50
        result.firstByte = LatencyRecord.Latency(
            readCount: 32, p50: time, p90: time * 12 / 10, p99: time * 2, p999: time * 2, max: time * 2)
        return result
    }
}

/// Results shaped like those of a real sweep, with noise drawn from a fixed seed: what pictures are judged by.
enum RealisticFixture {
    static let results: RunResults = {
        var generator = SplitMix64(seed: 42)
        var cells: [CellResult] = []
        for (name, curve) in curves {
            for window in windows {
                cells.append(sequential(name, window: window, rate: curve(window), using: &generator))
            }
            cells.append(
                sequential(
                    name, window: 104_857_600, rate: curve(104_857_600) * 0.72, access: .freshBuffers,
                    label: "100 MiB as published", using: &generator))
            for chunk in [16_384, 262_144, 1_048_576, 16_000_000] as [UInt64] {
                cells.append(random(name, chunk: chunk, access: .block, rate: curve(4096), using: &generator))
                let label = chunk == 16_000_000 ? "16 MB as published" : nil
                cells.append(
                    random(
                        name, chunk: chunk, access: .chunkCache, rate: curve(chunk), label: label, using: &generator))
            }
        }
        var header = Fixture.header
        header.backends = [
            RunHeader.Backend(name: "openssl", version: "3.0.15", cpuFeatures: ["aes-ni"]),
            RunHeader.Backend(name: "libgcrypt", version: "1.10.1", cpuFeatures: ["vaes-avx2", "aes-ni"]),
            RunHeader.Backend(name: "boringssl", version: "swift-crypto 4.5.2", cpuFeatures: ["aes-ni"]),
            RunHeader.Backend(name: "swift-reference", version: "0.1.0", cpuFeatures: []),
        ]
        header.host.cpuFlags = ["aes", "avx2", "avx512f", "pclmulqdq", "vaes"]
        let conformance = header.backends.map {
            ConformanceRecord(subject: $0.name, passed: 2_419, failed: 0, unsupported: 0, notRun: 0, failures: [])
        }
        return RunResults(header: header, conformance: conformance, cells: cells, isComplete: true).withFacts
    }()

    static let windows: [UInt64] = [
        4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16_000_000, 16 << 20, 64 << 20, 104_857_600,
    ]

    /// Plaintext bytes a nanosecond by window: fast while a window fits the second-level cache, then memory-bound.
    private static let curves: [(String, @Sendable (UInt64) -> Double)] = [
        ("openssl", { $0 <= 8192 ? 5.6 : $0 <= 1 << 20 ? 7.1 : $0 <= 4 << 20 ? 4.6 : 3.1 }),
        ("libgcrypt", { $0 <= 8192 ? 9.8 : $0 <= 32768 ? 13.9 : $0 <= 1 << 20 ? 15.2 : $0 <= 4 << 20 ? 8.4 : 5.1 }),
        ("boringssl", { $0 <= 8192 ? 4.4 : $0 <= 1 << 20 ? 6.2 : $0 <= 4 << 20 ? 4.3 : 3.0 }),
        ("swift-reference", { _ in 0.031 }),
    ]

    private static func noise(_ spread: Double, using generator: inout SplitMix64) -> Double {
        1 + Double.random(in: -spread...spread, using: &generator)
    }

    private static func sequential(
        _ backend: String, window: UInt64, rate: Double, access: AccessPolicy = .block, label: String? = nil,
        using generator: inout SplitMix64
    ) -> CellResult {
        let object: UInt64 = 256 << 20
        let cell = Cell(
            backend: backend, strategy: "cbc-continuous", windowByteCount: window, access: access,
            objectByteCount: object, label: label)
        var result = CellResult(cell: cell)
        let touched = (object + window - 1) / window
        result.check = CheckRecord(
            cell: cell, digest: String(repeating: "5a", count: 32), deliveredByteCount: object,
            fetchedByteCount: object + 16 * touched, decryptedByteCount: object + 16)
        result.rounds = (0..<5).map { _ in
            let round = noise(0.02, using: &generator)
            return (0..<8).map { _ in
                UInt64(Double(object) / rate * round * noise(0.015, using: &generator))
            }
        }
        let buffers = access == .freshBuffers ? 2 * window : window
        result.memory = MemoryRecord.Memory(
            baselineByteCount: 9 << 20,
            peakByteCount: (9 << 20) + buffers + UInt64(8192 * (1 + noise(0.5, using: &generator))),
            boundByteCount: buffers + 32_768)
        return result
    }

    private static func random(
        _ backend: String, chunk: UInt64, access: AccessPolicy, rate: Double, label: String? = nil,
        using generator: inout SplitMix64
    ) -> CellResult {
        let cell = Cell(
            backend: backend, strategy: "cbc-chunked:chunk=\(ByteSize(chunk))", chunkByteCount: chunk,
            windowByteCount: access == .block ? 4096 : chunk, workload: "random:4KiB", access: access,
            objectByteCount: 256 << 20, label: label)
        var result = CellResult(cell: cell)
        let fetched = access == .block ? 4128 : chunk + 16
        result.check = CheckRecord(
            cell: cell, digest: String(repeating: "c3", count: 32), deliveredByteCount: 4096 * 1000, readCount: 1000,
            requestCount: 1000, fetchedByteCount: fetched * 1000, decryptedByteCount: fetched * 1000)
        let median = 900 + Double(fetched) / rate + Double(fetched) / 6
        result.rounds = (0..<5).map { _ in
            (0..<4).map { _ in UInt64(median * 1000 * noise(0.03, using: &generator)) }
        }
        result.latency = LatencyRecord.Latency(
            readCount: 1000, p50: UInt64(median), p90: UInt64(median * 1.15), p99: UInt64(median * 2.2),
            p999: UInt64(median * 4), max: UInt64(median * 7))
        result.memory = MemoryRecord.Memory(
            baselineByteCount: 9 << 20, peakByteCount: (9 << 20) + fetched + 12_288, boundByteCount: fetched + 16_384)
        return result
    }
}

/// All files of the report of a run.
func renderReport(_ results: RunResults) -> [ReportFile] { RunReport(results).files }

/// Figures of one process.
extension CellResult {
    var memory: MemoryRecord.Memory? {
        get { memories.first?.memory }
        set { memories = newValue.map { [MemoryRecord(cellID: cell.id, memory: $0)] } ?? [] }
    }

    var latency: LatencyRecord.Latency? {
        get { latencies.first?.latency }
        set { latencies = newValue.map { [LatencyRecord(cellID: cell.id, latency: $0)] } ?? [] }
    }

    /// Only where there is a latency.
    var firstByte: LatencyRecord.Latency? {
        get { latencies.first?.firstByte }
        set { for index in latencies.indices { latencies[index].firstByte = newValue } }
    }

    /// Only where there is a latency.
    var playback: LatencyRecord.Playback? {
        get { latencies.first?.playback }
        set { for index in latencies.indices { latencies[index].playback = newValue } }
    }
}
