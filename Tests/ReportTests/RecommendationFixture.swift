import Results

/// Results whose best configuration is known for any budget, because its figures follow from simple formulas.
///
/// The wider the window, the faster, the more memory, and the later the first byte. Backend `a` is a tenth faster than
/// `b`. Reading whole chunks is half as fast again, and fetches four times what it delivers.
enum RecommendationFixture {
    /// Windows are 4 KiB × 2ᵏ for k from 0 to 15: 4 KiB to 128 MiB.
    static let sizes = 0...15

    static let results = RunResults(
        header: Fixture.header, conformance: [],
        cells: ["b", "a"].flatMap { backend in
            sizes.reversed().flatMap { size in
                [cell(backend, size, isWhole: false), cell(backend, size, isWhole: true)]
            }
        }, isComplete: true)

    static func window(_ size: Int) -> UInt64 { 4096 << UInt64(size) }

    /// A window and a quarter, and never below what the kernel tells apart.
    static func memory(_ size: Int) -> UInt64 { window(size) * 5 / 4 + 262_144 }

    /// A nanosecond for two bytes.
    static func firstByte(_ size: Int) -> UInt64 { window(size) / 2 }

    static func amplification(isWhole: Bool) -> Double { isWhole ? 4 : 1 }

    /// Nanoseconds for the object of 256 MiB.
    static func nanoseconds(_ backend: String, _ size: Int, isWhole: Bool) -> UInt64 {
        UInt64(900_000_000 - size * 40_000_000) * (backend == "a" ? 10 : 11) / (isWhole ? 15 : 10)
    }

    static func bytesPerSecond(_ backend: String, _ size: Int, isWhole: Bool) -> Double {
        Double(256 << 20) / Double(nanoseconds(backend, size, isWhole: isWhole)) * 1e9
    }

    static func cell(_ backend: String, _ size: Int, isWhole: Bool) -> CellResult {
        let cell = Cell(
            backend: backend, strategy: "cbc-continuous", padding: "pkcs7", windowByteCount: window(size),
            access: isWhole ? "whole-chunk" : "block", objectByteCount: 256 << 20)
        var result = CellResult(cell: cell)
        let delivered: UInt64 = 256 << 20
        let fetched = delivered * UInt64(amplification(isWhole: isWhole))
        result.check = CheckRecord(
            cell: cell, digest: "aa", deliveredByteCount: delivered, fetchedByteCount: fetched,
            decryptedByteCount: fetched)
        let time = nanoseconds(backend, size, isWhole: isWhole)
        result.rounds = [[time, time], [time]]
        result.memory = MemoryRecord.Memory(
            baselineByteCount: 7 << 20, peakByteCount: (7 << 20) + memory(size), boundByteCount: nil)
        result.latency = latency(firstByte(size) / 2)
        result.firstByte = latency(firstByte(size))
        return result
    }

    static func latency(_ time: UInt64) -> LatencyRecord.Latency {
        LatencyRecord.Latency(readCount: 32, p50: time, p90: time * 2, p99: time * 2, p999: time * 2, max: time * 2)
    }
}
