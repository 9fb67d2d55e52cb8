package import Results

/// Results on keys that tests start from.
package enum KeySamples {
    /// Waits with two servers.
    package static var waits: KeyWaitsRecord {
        KeyWaitsRecord(
            command: ["chunkwise", "keys", "measure", "--rounds", "6"],
            host: .init(
                name: "bench-1", cpuModel: "Example CPU", cpuCount: 2, cpuFlags: ["aes"], memoryByteCount: 1 << 30,
                kernel: "Linux 6.1"),
            seed: 1, rounds: 6, keyCount: 8, segmentByteCount: 1 << 20, backend: "openssl",
            cells: [5, 300].flatMap { delay in
                [
                    cell(.local, delay, requests: 0, microseconds: 1000),
                    cell(.preloaded, delay, requests: 0, microseconds: 1020),
                    cell(.batched, delay, requests: 1, microseconds: 2000 + delay * 1000),
                    cell(.onDemand, delay, requests: 8, microseconds: 2000 + delay * 8000),
                ]
            })
    }

    private static func cell(
        _ source: KeyWaitsRecord.KeySource, _ delay: UInt64, requests: UInt64, microseconds: UInt64
    ) -> KeyWaitsRecord.Cell {
        let ratio = Double(microseconds) / 1000
        return KeyWaitsRecord.Cell(
            source: source, delayMilliseconds: delay, requestCount: requests,
            samplesNanoseconds: (0..<7).map { microseconds * 1000 - 30_000 + $0 * 10_000 },
            medianNanoseconds: Double(microseconds) * 1000,
            ratioToLocal: .init(low: ratio * 0.99, estimate: ratio, high: ratio * 1.01))
    }

    /// Ten million clients, simulated.
    package static var load: KeyLoadRecord {
        var onDemand = figures(peak: 1_668_000, requests: 10_000_000, late: 50_000_000)
        (onDemand.lateCount, onDemand.gaveUpCount, onDemand.p999Nanoseconds) = (9_999_000, 1000, nil)
        return KeyLoadRecord(
            command: ["chunkwise-keys", "load", "--clients", "10000000"], clientCount: 10_000_000, windowSeconds: 60,
            announcedSeconds: 90, refreshSeconds: 6, capacityPerSecond: 200_000, roundTripMilliseconds: 50, seed: 1,
            speed: nil,
            cells: [
                .init(mode: .onDemand, simulated: onDemand),
                .init(mode: .preloaded, simulated: figures(peak: 1_668_000, requests: 10_000_000, late: 0)),
                .init(mode: .dispersed, simulated: figures(peak: 167_973, requests: 10_000_000, late: 0)),
            ])
    }

    /// Two thousand clients, simulated and run; one mode differs.
    package static var loopback: KeyLoadRecord {
        KeyLoadRecord(
            command: ["chunkwise-keys", "load", "--loopback"], clientCount: 2000, windowSeconds: 60,
            announcedSeconds: 90, refreshSeconds: 6, capacityPerSecond: 200, roundTripMilliseconds: 50, seed: 1,
            speed: 4,
            cells: [
                .init(
                    mode: .onDemand, simulated: figures(peak: 370, requests: 2000, late: 7_000_000_000),
                    run: figures(peak: 500, requests: 2100, late: 9_000_000_000), agrees: false,
                    lagNanoseconds: 12_000_000),
                .init(
                    mode: .dispersed, simulated: figures(peak: 41, requests: 2000, late: 0),
                    run: figures(peak: 42, requests: 2000, late: 0), agrees: true, lagNanoseconds: 12_000_000),
            ])
    }

    /// Figures with requests in the first seconds.
    package static func figures(peak: UInt64, requests: UInt64, late: UInt64) -> KeyLoadRecord.Figures {
        KeyLoadRecord.Figures(
            peakPerSecond: peak, requestCount: requests, retryCount: 0, answeredCount: requests,
            lateCount: late > 0 ? requests : 0, gaveUpCount: 0, p50Nanoseconds: late, p99Nanoseconds: late,
            p999Nanoseconds: late, perSecond: [0, peak / 2, peak, peak / 3, 0])
    }
}
