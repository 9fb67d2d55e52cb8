import Foundation
import Results
import Support
import TestSupport
import Testing

@Suite("recommend from the command line")
struct RecommendCommandTests {
    /// A result file with one cell a window: the wider, the faster, and the more memory.
    private func file(_ windows: [UInt64], schema: String? = nil, failing: Bool = false) throws -> [UInt8] {
        var header = RunHeader(
            programVersion: "1", command: ["chunkwise"], startedAt: "2026-01-01T00:00:00Z",
            host: .init(name: "h", cpuModel: "CPU", cpuCount: 1, cpuFlags: [], memoryByteCount: 1, kernel: "k"),
            backends: [], plan: nil, seed: 1)
        if let schema { header.schema = schema }
        var records: [ResultRecord] = [.header(header)]
        for window in windows {
            let cell = Cell(backend: "x", strategy: "ctr", windowByteCount: window, objectByteCount: 1 << 20)
            records.append(
                .check(
                    CheckRecord(
                        cell: cell, digest: "aa", deliveredByteCount: 1 << 20, fetchedByteCount: 1 << 20,
                        decryptedByteCount: 1 << 20)))
            let latency = LatencyRecord.Latency(
                readCount: 1, p50: window, p90: window, p99: window, p999: window, max: window)
            records.append(.latency(LatencyRecord(cellID: cell.id, latency: latency, firstByte: latency)))
            let memory = MemoryRecord.Memory(
                baselineByteCount: 1 << 20, peakByteCount: (1 << 20) + window, boundByteCount: nil)
            records.append(.memory(MemoryRecord(cellID: cell.id, memory: memory)))
            for round in 0..<3 {
                let time = 10_000_000_000 / (window + 1)
                records.append(.time(TimeRecord(cellID: cell.id, round: round, nanoseconds: [time, time])))
            }
            if failing { records.append(.failure(FailureRecord(cell: cell, reason: "wrong digest"))) }
        }
        return try (records + [.end]).flatMap { try $0.line() }
    }

    private func folder() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try folder.file("a", try file([4096, 65536, 1 << 20]))
        try folder.file("small", try file([4096]))
        try folder.file("failed", try file([4096], failing: true))
        try folder.file("headless", try file([]))
        try folder.file("schema", try file([4096], schema: "chunkwise-results-99"))
        try folder.file("broken", Array(try file([4096])) + Array("{\"time\":1}\n".utf8))
        try folder.file("empty", "")
        return folder
    }

    @Test("the choice, the runner-up and the reasons are members of the JSON")
    func json() throws {
        let folder = try folder()
        let run = try Chunkwise.run(
            ["recommend", "a", "--memory", "512KiB", "--workload", "playback", "--format", "json"], in: folder.path)
        #expect(run.status == 0 && run.errorLines.isEmpty, "\(run.errorLines)")
        let json = try #require(JSONValue.parse(run.output))
        #expect(json["choice"]?["windowByteCount"] == 65536 && json["runnerUp"]?["windowByteCount"] == 4096)
        #expect(json["choice"]?["memory"]?["peakByteCount"]?.integer == (1 << 20) + 65536)
        #expect(json["costs"]?.array?.first?["bytesPerSecondWithout"]?.integer ?? 0 > 1 << 30)
        #expect((json["reasons"]?.array?.count ?? 0) >= 3)
        #expect(json["workload"]?["measured"] == "sequential")
    }

    @Test("what fits after the raise that is named is a choice")
    func raise() throws {
        let folder = try folder()
        let tight = ["recommend", "a", "--throughput", "1kB/s", "--format", "json"]
        let run = try Chunkwise.run(tight + ["--memory", "1000B", "--first-byte", "1s"], in: folder.path)
        #expect(run.status == 1 && run.errorLines.count == 1)
        #expect(run.errorLines.first?.contains("raise memory from 1000 B to 4.00 KiB") == true, "\(run.errorLines)")
        let json = try #require(JSONValue.parse(run.output))
        #expect(json["choice"] == .null && json["runnerUp"] == .null)
        let raises = try #require(json["raises"]?.array?.first?["raises"]?.array)
        let options = raises.compactMap { $0["option"]?.string }.flatMap { $0.split(separator: " ").map(String.init) }
        #expect(options == ["--memory", "4KiB"])
        #expect(try Chunkwise.run(tight + options + ["--first-byte", "1s"], in: folder.path).status == 0)
    }

    @Test("of the reference run, nothing that holds a chunk of more than the memory budget is a choice")
    func longChunks() throws {
        let package = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
        let results = package.appending(path: "reports/reference").standardized.path
        let run = try Chunkwise.run(["recommend", results, "--memory", "1MiB", "--format", "json"])
        let choice = try #require(JSONValue.parse(run.output)?["choice"])
        #expect(run.status == 0 && choice["chunkByteCount"]?.integer ?? .max <= 1 << 20)
        #expect(choice["memoryGrowthByteCount"]?.integer ?? .max <= 1 << 20)
    }

    @Test("text and Markdown name the choice, and several results are answered one by one")
    func formats() throws {
        let folder = try folder()
        let text = try Chunkwise.run(["recommend", "a", "small"], in: folder.path)
        #expect(text.status == 0 && text.text.contains("x, 1 MiB windows") && text.text.contains("x, 4 KiB windows"))
        #expect(text.text.split(separator: "\n").allSatisfy { $0.count <= 80 })
        let markdown = try Chunkwise.run(["recommend", "a", "--format", "markdown"], in: folder.path)
        #expect(markdown.status == 0 && markdown.text.hasPrefix("# Take x, 1 MiB windows"))
        let json = try Chunkwise.run(["recommend", "a", "small", "--format", "json"], in: folder.path)
        #expect(JSONValue.parse(json.output)?["recommendations"]?.array?.count == 2)
    }

    @Test("a folder stands for its results, and a last line that is cut short is left out")
    func folders() throws {
        let folder = try folder()
        try folder.file("results.jsonl", Array((folder.bytes("a") ?? []).dropLast(5)))
        let run = try Chunkwise.run(["recommend", "."], in: folder.path)
        #expect(run.status == 0 && run.errorLines.count == 1 && run.text.contains("broken off"))
    }

    @Test(
        "what cannot be answered has its error",
        arguments: [
            (["missing"], 66, "missing"), (["schema"], 65, "chunkwise-results-99"), (["broken"], 65, "line"),
            (["empty"], 65, "header"), (["failed"], 2, "no cell of 1"), (["headless"], 2, "no cell was"),
            (["a", "--workload", "random:4KiB"], 2, "sequential"), (["a", "--workload", "seek"], 2, "sequential"),
            (["a", "--backend", "y"], 2, "backend x"), (["a", "--cold"], 2, "page cache"),
            (["a", "--workload", "dance"], 64, "dance"), (["a", "--memory", "0"], 64, "--memory"),
            (["a", "--memory", "much"], 64, "much"), (["a", "--first-byte", "5"], 64, "--first-byte"),
            (["a", "--first-byte", "0ms"], 64, "0ms"), (["a", "--amplification", "0"], 64, "--amplification"),
            (["a", "--amplification", "nan"], 64, "nan"), (["a", "--throughput", "1GB"], 64, "1GB"),
            (["a", "--threads", "0"], 64, "--threads"), (["a", "--key-size", "1"], 64, "--key-size"),
            (["a", "--access", "x"], 64, "x"), (["a", "--format", "xml"], 64, "xml"), ([], 64, ""),
        ] as [([String], Int32, String)])
    func wrong(arguments: [String], status: Int32, word: String) throws {
        let folder = try folder()
        let run = try withExtendedLifetime(folder) { try Chunkwise.run(["recommend"] + arguments, in: folder.path) }
        Chunkwise.expectFailure(run, status, word, "\(arguments)")
    }
}
