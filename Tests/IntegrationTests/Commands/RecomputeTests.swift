import Foundation
import Results
import Statistics
import Support
import TestSupport
import Testing

@Suite("scripts/recompute")
struct RecomputeTests {
    private static let script = Project.folder.appending(path: "scripts/recompute").path(percentEncoded: false)

    /// The records of a run of cells that are drawn from a seed.
    private static func records(seed: UInt64) -> [ResultRecord] {
        var generator = SplitMix64(seed: seed)
        func one<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &generator)] }
        func around(_ value: Double, _ noise: Double) -> UInt64 {
            UInt64(value * Double.random(in: 1 - noise...1 + noise, using: &generator))
        }
        let header = RunHeader(
            programVersion: "1", command: ["chunkwise"], startedAt: "2026-01-01T00:00:00Z",
            host: .init(name: "h", cpuModel: "CPU", cpuCount: 1, cpuFlags: [], memoryByteCount: 1, kernel: "k"),
            backends: [], plan: nil, seed: seed)
        var records: [ResultRecord] = [.header(header)]
        for backend in ["a", "b"] {
            for window in [4096, 65_536, 1_000_000] as [UInt64] {
                for (strategy, chunk) in [("ctr", nil), ("cbc-chunked", 1 << 20)] as [(String, UInt64?)] {
                    var cell = Cell(
                        backend: backend, strategy: strategy, chunkByteCount: chunk, windowByteCount: window,
                        objectByteCount: 64 << 20)
                    cell.source = one(["file", "file", "mmap"])
                    cell.threads = one([1, 1, 1, 2])
                    if one([1, 2, 3, 4, 5]) == 1 { (cell.workload, cell.readCount) = ("random:4KiB", 16) }
                    records.append(
                        .check(
                            CheckRecord(
                                cell: cell, digest: "aa", deliveredByteCount: 64 << 20,
                                readCount: one([nil, 1024]), requestCount: 1030, fetchedByteCount: around(70e6, 0.02),
                                decryptedByteCount: around(68e6, 0.01))))
                    let (time, noise) = (Double.random(in: 5e6...6e6, using: &generator), one([0.001, 0.01, 0.1]))
                    for round in 0..<one([1, 2, 3, 4, 5, 5]) {
                        let samples = (0..<one([1, 2, 3, 8])).map { _ in around(time, noise) }
                        records.append(.time(TimeRecord(cellID: cell.id, round: round, nanoseconds: samples)))
                    }
                    for round in 0..<one([1, 3, 3]) {
                        func latency() -> LatencyRecord.Latency {
                            let time = around(50_000, 0.1)
                            return LatencyRecord.Latency(
                                readCount: one([20, 200, 3000]), p50: time, p90: time * 2, p99: around(2e5, 0.3),
                                p999: around(4e5, 0.1), max: around(9e5, 0.1))
                        }
                        records.append(
                            .latency(
                                LatencyRecord(
                                    cellID: cell.id, round: round, latency: latency(), firstByte: latency())))
                        let memory = MemoryRecord.Memory(
                            baselineByteCount: 8 << 20, peakByteCount: (8 << 20) + around(3e5, 0.9),
                            boundByteCount: 1 << 20)
                        records.append(.memory(MemoryRecord(cellID: cell.id, round: round, memory: memory)))
                    }
                    if one([1, 2, 3, 4, 5, 6, 7, 8, 9]) == 1 {
                        records.append(.failure(FailureRecord(cell: cell, reason: "wrong digest")))
                    }
                }
            }
        }
        return records + [.end]
    }

    private func write(_ records: [ResultRecord], to folder: TemporaryFolder) throws {
        try folder.file("results.jsonl", records.flatMap { try $0.line() })
    }

    private func recompute(_ folder: TemporaryFolder) throws -> CommandRun {
        try CommandRun.run("/usr/bin/python3", [Self.script, folder.path])
    }

    @Test("finds every figure of generated runs as the report has it", arguments: 1...12 as ClosedRange<UInt64>)
    func agrees(seed: UInt64) throws {
        let folder = try TemporaryFolder()
        try write(Self.records(seed: seed), to: folder)
        #expect(try Chunkwise.run(["report", folder.path]).status == 0)
        let run = try recompute(folder)
        #expect(run.status == 0, "\(String(decoding: run.output, as: UTF8.self))")
        #expect(String(decoding: run.output, as: UTF8.self).hasSuffix(" 0 differ\n"))
    }

    @Test(
        "notices one number that is another",
        arguments: ["time", "latency", "first byte", "memory", "delivered", "fetched"])
    func flipped(kind: String) throws {
        let folder = try TemporaryFolder()
        var records = Self.records(seed: 3)
        try write(records, to: folder)
        #expect(try Chunkwise.run(["report", folder.path]).status == 0)
        let index = try #require(
            records.firstIndex { record in
                switch (kind, record) {
                case ("time", .time(let time)): time.nanoseconds.count == 1
                case ("latency", .latency), ("first byte", .latency), ("memory", .memory): true
                case ("delivered", .check), ("fetched", .check): true
                default: false
                }
            })
        switch records[index] {
        case .time(var time):
            time.nanoseconds[0] ^= 1 << 16
            records[index] = .time(time)
        case .latency(var latency):
            if kind == "latency" { latency.latency.p50 += 1000 } else { latency.firstByte?.p50 += 1000 }
            records[index] = .latency(latency)
        case .memory(var memory):
            // All of the cell's processes, so that the one in the middle is another.
            let cellID = memory.cellID
            for other in records.indices {
                guard case .memory(let found) = records[other], found.cellID == cellID else { continue }
                memory = found
                memory.memory.peakByteCount += 1 << 20
                records[other] = .memory(memory)
            }
        case .check(var check):
            if kind == "delivered" { check.deliveredByteCount += 1 << 20 } else { check.fetchedByteCount += 1 << 20 }
            records[index] = .check(check)
        default: Issue.record("no record of \(kind)")
        }
        try write(records, to: folder)
        let run = try recompute(folder)
        #expect(run.status == 1, "\(String(decoding: run.output, as: UTF8.self))")
    }

    @Test("a folder without cells is no success")
    func empty() throws {
        let folder = try TemporaryFolder()
        let records = Self.records(seed: 1)
        try write([records[0], .end], to: folder)
        #expect(try Chunkwise.run(["report", folder.path]).status != 0 || recompute(folder).status == 2)
    }
}
