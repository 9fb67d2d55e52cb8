import Results
import Statistics

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
                    name, window: 104_857_600, rate: curve(104_857_600) * 0.72, access: "fresh-buffers",
                    label: "article 004 as published", using: &generator))
            for chunk in [16_384, 262_144, 1_048_576, 16_000_000] as [UInt64] {
                cells.append(random(name, chunk: chunk, access: "block", rate: curve(4096), using: &generator))
                let label = chunk == 16_000_000 ? "article 000 as published" : nil
                cells.append(
                    random(
                        name, chunk: chunk, access: "chunk-cache", rate: curve(chunk), label: label, using: &generator))
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
        return RunResults(header: header, conformance: conformance, cells: cells, isComplete: true)
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
        _ backend: String, window: UInt64, rate: Double, access: String = "block", label: String? = nil,
        using generator: inout SplitMix64
    ) -> CellResult {
        let object: UInt64 = 256 << 20
        let cell = Cell(
            backend: backend, strategy: "cbc-continuous", padding: "pkcs7", windowByteCount: window, access: access,
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
        let buffers = access == "fresh-buffers" ? 2 * window : window
        result.memory = MemoryRecord.Memory(
            baselineByteCount: 9 << 20,
            peakByteCount: (9 << 20) + buffers + UInt64(8192 * (1 + noise(0.5, using: &generator))),
            boundByteCount: buffers + 32_768)
        return result
    }

    private static func random(
        _ backend: String, chunk: UInt64, access: String, rate: Double, label: String? = nil,
        using generator: inout SplitMix64
    ) -> CellResult {
        let cell = Cell(
            backend: backend, strategy: "cbc-chunked", ivRule: "sequence", padding: "pkcs7", chunkByteCount: chunk,
            windowByteCount: access == "block" ? 4096 : chunk, workload: "random:4KiB", access: access,
            objectByteCount: 256 << 20, label: label)
        var result = CellResult(cell: cell)
        let fetched = access == "block" ? 4128 : chunk + 16
        result.check = CheckRecord(
            cell: cell, digest: String(repeating: "c3", count: 32), deliveredByteCount: 4096 * 1000,
            fetchedByteCount: fetched * 1000, decryptedByteCount: fetched * 1000)
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
