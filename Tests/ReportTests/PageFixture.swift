import Results

/// Small results that make every picture, matrix, table and note of a page, chosen so that figures can be checked by hand.
enum PageFixture {
    static let results: RunResults = {
        var header = Fixture.header
        header.host.transparentHugePages = "always"
        header.host.frequencyGovernor = "powersave"
        header.host.isTurboOn = true
        header.backends.append(RunHeader.Backend(name: "slow", version: "1", cpuFeatures: []))
        return RunResults(
            header: header, conformance: conformance, mutants: mutants, cells: cells, isComplete: true)
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
                "libgcrypt", window: 104_857_600, milliseconds: 2.2, growth: 101 << 20, access: "fresh-buffers",
                label: "article 004 as published"))
        for chunk in [65536, 16_000_000] as [UInt64] {
            let times = (block: UInt64(9_000), whole: chunk / 5)
            cells.append(
                range("libgcrypt", "random:4KiB", chunk: chunk, access: "block", fetched: 4128, p50: times.block))
            cells.append(
                range("libgcrypt", "random:4KiB", chunk: chunk, access: "chunk-cache", fetched: chunk, p50: times.whole)
            )
        }
        cells.append(range("openssl", "random:4KiB", chunk: 65536, access: "block", fetched: 4128, p50: 11_000))
        cells.append(range("libgcrypt", "trace:film", chunk: 65536, access: "block", fetched: 4500, p50: 8_000))
        cells.append(range("libgcrypt", "trace:film", chunk: 65536, access: "whole-chunk", fetched: 65536, p50: 70_000))
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
        result.unsteadyRoundCount = window == 4 << 10 ? 2 : 0
        return result
    }

    private static func range(
        _ backend: String, _ workload: String, chunk: UInt64, access: String, fetched: UInt64, p50: UInt64
    ) -> CellResult {
        var result = Fixture.random(backend, chunk: chunk, access: access, fetched: fetched, p50: p50)
        result.cell.workload = workload
        result.cell.readCount = 100
        if var check = result.check {
            check.cell = result.cell
            result.check = check
        }
        let time = access == "block" ? 5_000 : p50
        result.firstByte = LatencyRecord.Latency(
            readCount: 32, p50: time, p90: time * 12 / 10, p99: time * 2, p999: time * 2, max: time * 2)
        return result
    }
}
