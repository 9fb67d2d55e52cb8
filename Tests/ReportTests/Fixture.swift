import Results

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
                "libgcrypt", window: 104_857_600, milliseconds: 2.2, growth: 101 << 20, access: "fresh-buffers",
                label: "article 004 as published"),
            random("libgcrypt", chunk: 16_000_000, access: "block", fetched: 4128, p50: 9_000),
            random(
                "libgcrypt", chunk: 16_000_000, access: "chunk-cache", fetched: 16_000_016, p50: 4_100_000,
                label: "article 000 as published"),
            failed("openssl", reason: "wrong digest at window 3 B: expected 00ff, got ff00"),
            unchecked("openssl"),
        ],
        isComplete: true
    )

    static func sequential(
        _ backend: String, window: UInt64, milliseconds: Double, growth: UInt64, access: String = "block",
        label: String? = nil
    ) -> CellResult {
        let cell = Cell(
            backend: backend, strategy: "cbc-continuous", padding: "pkcs7", windowByteCount: window, access: access,
            objectByteCount: 1 << 20, label: label)
        var result = CellResult(cell: cell)
        let delivered: UInt64 = 1 << 20
        result.check = CheckRecord(
            cell: cell, digest: "30e14955ebf1352266dc2ff8067e68104607e750abb9d3b36582b8af909fcb58",
            deliveredByteCount: delivered, fetchedByteCount: delivered + 32, decryptedByteCount: delivered + 16)
        let middle = UInt64(milliseconds * 1_000_000)
        result.rounds = [
            [middle - 9_000, middle, middle + 11_000], [middle - 12_000, middle + 1_000, middle + 8_000],
        ]
        result.memory = MemoryRecord.Memory(
            baselineByteCount: 8 << 20, peakByteCount: (8 << 20) + growth, boundByteCount: window + 4096)
        return result
    }

    static func random(
        _ backend: String, chunk: UInt64, access: String, fetched: UInt64, p50: UInt64, label: String? = nil
    ) -> CellResult {
        let cell = Cell(
            backend: backend, strategy: "cbc-chunked", ivRule: "sequence", padding: "pkcs7", chunkByteCount: chunk,
            windowByteCount: access == "block" ? 4096 : chunk, workload: "random:4KiB", access: access,
            objectByteCount: 64 << 20, label: label)
        var result = CellResult(cell: cell)
        result.check = CheckRecord(
            cell: cell, digest: "ab", deliveredByteCount: 4096 * 100, fetchedByteCount: fetched * 100,
            decryptedByteCount: fetched * 100)
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
