import ByteSources
import Foundation
import Measurement
import Results
import SystemPackage
import TestSupport
import Testing

@Suite("merging shards")
struct FleetMergeTests {
    @Test(
        "eight shards of two hosts are the cells of one run, each once, and the reference on both hosts in all its rounds"
    )
    func whole() throws {
        let job = try FleetJob(shards: 8)
        for shard in 0..<8 { try job.put(shard, on: "n\(shard % 2)") }
        let (merge, hosts) = try job.merged()
        #expect(merge.missing.isEmpty && merge.warnings.isEmpty && hosts.allSatisfy(\.isComplete))
        #expect(hosts.map(\.header.host.nodeName) == ["n0", "n1"])
        #expect(hosts.map(\.header.merge?.shards) == [[0, 2, 4, 6], [1, 3, 5, 7]])
        #expect(hosts.allSatisfy { $0.header.plan == FleetJob.plan && $0.leftOut == RunResults.LeftOut() })
        let reference = FleetJob.cells(0)[0]
        let all = hosts.flatMap(\.cells)
        #expect(Set(all.map(\.cell)) == Set((0..<8).flatMap(FleetJob.cells)) && all.count == 17)
        for cell in all { #expect(cell.rounds.count == (cell.cell == reference ? 8 : 2), "\(cell.cell.id)") }
    }

    @Test("a file that is cut at any byte of its last records keeps the whole ones, and nothing counts twice")
    func cut() throws {
        let job = try FleetJob(shards: 2)
        try job.put(0, on: "n")
        let path = try job.put(1, on: "n")
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: path.string)))
        let ends = bytes.indices.filter { bytes[$0] == 0x0A }.map { $0 + 1 }
        // The seal, the end record, and the last two rounds.
        for count in ends[ends.count - 5]..<bytes.count {
            try Data(bytes[..<count]).write(to: URL(filePath: path.string))
            let (merge, hosts) = try job.merged()
            let lines = ends.count { $0 <= count }
            let isWhole = lines >= ends.count - 1
            #expect(merge.missing.map(\.shard) == (isWhole ? [] : [1]), "\(count) bytes")
            #expect(merge.warnings.count == 1 && hosts[0].isComplete == isWhole, "\(count) bytes")
            let rounds = hosts[0].cells.reduce(0) { $0 + $1.rounds.count }
            // Two cells of shard 0, and of shard 1 what stands in whole lines behind header and three checks.
            #expect(rounds == 4 + min(6, lines - 4), "\(count) bytes")
        }
        try Data(bytes[..<20]).write(to: URL(filePath: path.string))
        #expect(try job.merged().merge.missing.map(\.reason) == ["no file of it"])
    }

    @Test("a file with another byte than was sealed is named, and its shard is missing")
    func damaged() throws {
        let job = try FleetJob(shards: 1)
        let path = try job.put(0, on: "n")
        var bytes = [UInt8](try Data(contentsOf: URL(filePath: path.string)))
        let samples = try #require(bytes.lastIndex(of: UInt8(ascii: "[")))
        bytes[samples + 1] ^= 1
        try Data(bytes).write(to: URL(filePath: path.string))
        let merge = try FleetMerge(job.file)
        #expect(merge.missing.count == 1 && merge.hosts.isEmpty)
        #expect(merge.warnings.first?.contains("damaged") == true)
    }

    @Test("a shard that is run twice counts once, on one host, whichever of its files is read first")
    func twice() throws {
        let job = try FleetJob(shards: 1)
        try job.put(0, on: "a", attempt: "1")
        try job.put(job.header(0, on: "b", attempt: "0"), FleetJob.records(0, nanoseconds: 2000))
        try job.put(
            job.header(0, on: "a", attempt: "3"), Array(FleetJob.records(0, nanoseconds: 3000).prefix(3)),
            isComplete: false)
        // The same file under another name.
        let first = job.file.shardFolder.appending("00000-a-1.jsonl").string
        try FileManager.default.copyItem(atPath: first, toPath: first + ".copy.jsonl")
        let (merge, hosts) = try job.merged()
        #expect(merge.missing.isEmpty && hosts.count == 1 && hosts[0].header.host.nodeName == "b")
        #expect(hosts[0].cells.map(\.rounds) == [[[2000], [2001]], [[2000], [2001]]])
        #expect(merge.warnings.first?.contains(": 3 files") == true, "\(merge.warnings)")
    }

    @Test("parts of a shard from one host are put together, the shard is missing, and nothing of them is lost")
    func parts() throws {
        let job = try FleetJob(shards: 1)
        let records = FleetJob.records(0)
        try job.put(job.header(0, on: "a", attempt: "1"), Array(records[..<4]), isComplete: false)
        try job.put(job.header(0, on: "a", attempt: "2"), Array(records[..<2] + records[5...]), isComplete: false)
        try job.put(job.header(0, on: "b", attempt: "3"), Array(records[..<1]), isComplete: false)
        let (merge, hosts) = try job.merged()
        #expect(merge.missing.map(\.shard) == [0] && hosts.count == 1 && !hosts[0].isComplete)
        #expect(hosts[0].cells.map(\.rounds.count) == [2, 1])
        #expect(hosts[0].leftOut == RunResults.LeftOut())
    }

    @Test(
        "what belongs to another plan, program or manifest is refused, with its file",
        arguments: ["plan", "program", "manifest", "number"])
    func foreign(what: String) throws {
        let job = try FleetJob(shards: 1)
        var header = job.header(0, on: "n", attempt: "a")
        switch what {
        case "plan": header.plan = "another"
        case "program": header.programDigest = "e"
        case "manifest": header.shard?.manifest = "m"
        default: header.shard?.number = 7
        }
        let path = try job.put(header, [])
        let error = #expect(throws: FleetError.self) { try FleetMerge(job.file) }
        guard case .externalShard(let file, let difference)? = error else {
            throw TestFailure("\(error, default: "none")")
        }
        #expect(file == path.string && difference.contains(what), "\(difference)")
    }

    @Test("attempts that contradict each other in a plaintext or a verdict are refused, with both files")
    func contradictions() throws {
        let plaintexts = try FleetJob(shards: 1)
        let one = try plaintexts.put(0, on: "a", attempt: "1")
        let other = try plaintexts.put(plaintexts.header(0, on: "b", attempt: "2"), FleetJob.records(0, digest: "ff"))
        func outcome(_ failed: Int) -> [ResultRecord] {
            var record = ConformanceRecord(
                subject: "s", passed: 3 - failed, failed: failed, unsupported: 0, notRun: 0, failures: [])
            record.part = 0
            return [.conformance(record)]
        }
        let verdicts = try FleetJob(shards: 1)
        try verdicts.put(verdicts.header(0, on: "a", attempt: "1"), outcome(0))
        try verdicts.put(verdicts.header(0, on: "b", attempt: "2"), outcome(1))
        // One attempt cannot have two figures for one process.
        let figures = try FleetJob(shards: 1)
        let path = try figures.put(figures.header(0, on: "a", attempt: "1"), FleetJob.records(0, nanoseconds: 5))
        try FileManager.default.moveItem(atPath: path.string, toPath: path.string + ".jsonl")
        try figures.put(0, on: "a", attempt: "1")
        for job in [plaintexts, verdicts, figures] {
            let error = #expect(throws: FleetError.self) { try job.merged() }
            guard case .contradiction(let first, let second, _)? = error else {
                throw TestFailure("\(error, default: "none")")
            }
            #expect(first != second)
            if job.file.path == plaintexts.file.path { #expect(Set([first, second]) == [one.string, other.string]) }
            #expect(job.folder.bytes("merged") == nil)
        }
    }

    @Test("clocks that are hours off change nothing but the time that is noted")
    func clocks() throws {
        let job = try FleetJob(shards: 3)
        func bytes(_ startedAt: (Int) -> String) throws -> String {
            for shard in 0..<3 {
                for attempt in ["1", "2"] {
                    let header = job.header(
                        shard, on: "n\(shard)", attempt: attempt,
                        startedAt: startedAt(attempt == "1" ? shard : 9 - shard))
                    try job.put(header, FleetJob.records(shard, nanoseconds: attempt == "1" ? 1000 : 2000))
                }
            }
            _ = try job.merged()
            let text = String(decoding: job.folder.bytes("merged") ?? [], as: UTF8.self)
            return text.replacing(/"startedAt":"[^"]*"/, with: "")
        }
        #expect(try bytes { "2026-01-01T0\($0):00:00Z" } == bytes { "2026-01-01T0\(9 - $0):00:00Z" })
    }

    @Test("two merges into one output at once are both right")
    func together() throws {
        let job = try FleetJob(shards: 8)
        for shard in 0..<8 { try job.put(shard, on: "n\(shard % 3)") }
        _ = try job.merged("alone")
        let merge = try FleetMerge(job.file)
        let path = FilePath(job.folder.path("merged"))
        DispatchQueue.concurrentPerform(iterations: 16) { _ in _ = try? merge.write(to: path) }
        #expect(job.folder.bytes("merged") == job.folder.bytes("alone"))
        #expect(!job.folder.names.contains { $0.hasPrefix(".chunkwise") })
    }

    @Test("shards that each have everything stand by themselves, and two of one host go on counting rounds")
    func replicated() throws {
        let job = try FleetJob(shards: 3, isReplicated: true)
        for (shard, node) in ["a", "b", "a"].enumerated() {
            try job.put(job.header(shard, on: node, attempt: "a"), FleetJob.records(0))
        }
        let (merge, hosts) = try job.merged()
        #expect(merge.missing.isEmpty && hosts.map { $0.cells.map(\.rounds.count) } == [[4, 4], [2, 2]])
    }

    @Test("outcomes of vectors are added up over parts and shards, and those of a shard that was run twice count once")
    func vectors() throws {
        let job = try FleetJob(shards: 2, isOfVectors: true)
        for (shard, attempt) in [(0, "1"), (0, "2"), (1, "1")] {
            let records = (0..<3).map { part in
                var record = ConformanceRecord(
                    subject: "s", passed: 10, failed: shard, unsupported: 1, notRun: 0,
                    failures: shard == 0 ? [] : [.init(id: "v\(part)", flags: ["f"], reason: "r")],
                    flags: [.init(flag: "f", passed: 10, failed: shard, unsupported: 1, notRun: 0)])
                record.part = part
                return ResultRecord.conformance(record)
            }
            try job.put(job.header(shard, on: "n", attempt: attempt), records)
        }
        let (_, hosts) = try job.merged()
        let record = try #require(hosts.first?.conformance.first)
        #expect(hosts.count == 1 && hosts[0].conformance.count == 1 && record.part == nil)
        #expect((record.passed, record.failed, record.unsupported) == (60, 3, 6) && record.failures.count == 3)
        #expect(record.flags == [.init(flag: "f", passed: 60, failed: 3, unsupported: 6, notRun: 0)])
    }
}

private struct TestFailure: Error {
    init(_ text: String) { Issue.record("\(text)") }
}
