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
        #expect(hosts.allSatisfy { $0.header.plan == FleetJob.plan && $0.omitted == RunResults.OmittedRecords() })
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
            #expect(merge.missing.map(\.shard) == [1], "\(count) bytes")
            #expect(merge.warnings.count == 1 && !hosts[0].isComplete, "\(count) bytes")
            let rounds = hosts[0].cells.reduce(0) { $0 + $1.rounds.count }
            // Two cells of shard 0, and of shard 1 what stands in whole lines behind header and three checks.
            #expect(rounds == 4 + min(6, lines - 4), "\(count) bytes")
        }
        try Data(bytes[..<20]).write(to: URL(filePath: path.string))
        #expect(try job.merged().merge.missing.map(\.reason) == ["no file of it that can be used"])
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
        #expect(hosts[0].omitted == RunResults.OmittedRecords())
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
        let verdicts = try FleetJob(shards: 1, of: .vectors)
        try verdicts.put(verdicts.header(0, on: "a", attempt: "1"), FleetJob.outcomes())
        try verdicts.put(verdicts.header(0, on: "b", attempt: "2"), FleetJob.outcomes(failed: 1))
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

    @Test("a shard that says that it is whole, and lacks cells, is missing; so is one whose figures are lacking")
    func lacking() throws {
        let job = try FleetJob(shards: 2)
        try job.put(0, on: "n")
        let header = job.header(1, on: "n", attempt: "a")
        let records = FleetJob.records(1)
        for left in [[], Array(records[1...]), Array(records[..<3])] {
            try job.put(header, left)
            let (merge, hosts) = try job.merged()
            #expect(merge.missing.map(\.shard) == [1] && hosts.allSatisfy { !$0.isComplete })
            #expect(merge.warnings.contains { $0.contains("lacks") }, "\(merge.warnings)")
        }
        // A cell that has failed has no figures, and is no missing one.
        let cell = FleetJob.cells(1)[0]
        let failure = ResultRecord.failure(FailureRecord(cell: cell, reason: "r"))
        let others = records.filter {
            if case .time(let time) = $0 { return time.cellID != cell.id }
            return true
        }
        try job.put(header, others + [failure])
        let merge = try job.merged().merge
        #expect(merge.missing.isEmpty && merge.failedCellCount == 1)
    }

    @Test("cells of another shard, records of another kind and of no kind are not merged")
    func records() throws {
        let others: [[ResultRecord]] = [FleetJob.records(1), FleetJob.outcomes()]
        for records in others {
            let job = try FleetJob(shards: 3)
            try job.put(job.header(0, on: "n", attempt: "a"), FleetJob.records(0) + records)
            #expect(throws: FleetError.self) { try FleetMerge(job.file) }
        }
        let job = try FleetJob(shards: 1)
        let record = FleetJob.records(0)
        for (records, text) in [(record + [record[0]], "twice"), (record + [.end], "no record of a shard")] {
            try job.put(job.header(0, on: "n", attempt: "a"), records)
            let merge = try FleetMerge(job.file)
            #expect(merge.missing.count == 1 && merge.warnings.first?.contains(text) == true, "\(merge.warnings)")
        }
        // A run of its own that was put there.
        var header = job.header(0, on: "n", attempt: "a")
        header.shard = nil
        try job.put(header, record)
        #expect(try FleetMerge(job.file).warnings.contains { $0.contains("is no shard's file") })
    }

    @Test("a host with another version of a library is another host")
    func versions() throws {
        let job = try FleetJob(shards: 2)
        for shard in 0..<2 {
            var header = job.header(shard, on: "n", attempt: "a")
            header.backends = [.init(name: "openssl", version: "3.\(shard)", cpuFeatures: [])]
            try job.put(header, FleetJob.records(shard))
        }
        #expect(try job.merged().hosts.map(\.header.backends[0].version) == ["3.0", "3.1"])
    }

    @Test("a cell that fails in one attempt and not in another is refused, whichever of them would count")
    func failures() throws {
        let cell = FleetJob.cells(0)[0]
        let failure = ResultRecord.failure(FailureRecord(cell: cell, reason: "wrong plaintext"))
        let records = FleetJob.records(0)
        let ofOthers = records.filter {
            switch $0 {
            case .time(let time): time.cellID != cell.id
            case .check(let check): check.cell != cell
            default: true
            }
        }
        for (failing, isComplete) in [
            (ofOthers + [failure], true), ([failure], false), ([records[0], failure], false),
        ] {
            let job = try FleetJob(shards: 1)
            try job.put(0, on: "a", attempt: "1")
            try job.put(job.header(0, on: "b", attempt: "0"), failing, isComplete: isComplete)
            #expect(throws: FleetError.self) { try job.merged() }
        }
        // One that was lost before it came so far says nothing.
        let job = try FleetJob(shards: 1)
        try job.put(job.header(0, on: "a", attempt: "0"), [records[0]], isComplete: false)
        try job.put(job.header(0, on: "b", attempt: "1"), records + [failure])
        #expect(try job.merged().merge.failedCellCount == 1)
    }

    @Test("hosts that each measured all cells must have the same plaintexts, and so must all of the reference")
    func plaintexts() throws {
        for isReplicated in [false, true] {
            let job = try FleetJob(shards: 2, isReplicated: isReplicated)
            try job.put(job.header(0, on: "a", attempt: "1"), FleetJob.records(0))
            let other = FleetJob.records(isReplicated ? 0 : 1, digest: "ff")
            try job.put(job.header(1, on: "b", attempt: "2"), other)
            #expect(throws: FleetError.self) { try FleetMerge(job.file) }
        }
    }

    @Test("results of another run are not replaced, and those of an earlier merge are")
    func output() throws {
        let job = try FleetJob(shards: 1)
        try job.put(0, on: "n")
        try job.merged()
        try job.merged()
        let merged = try #require(job.folder.bytes("merged"))
        let other = try FleetJob(shards: 2)
        try other.put(0, on: "n")
        for text in [merged, Array("notes\n".utf8), []] {
            let path = try other.folder.file("merged", text)
            #expect(throws: FleetError.output(path)) { try other.merged() }
            #expect(other.folder.bytes("merged") == text)
        }
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
        let job = try FleetJob(shards: 2, of: .vectors)
        for (shard, attempt) in [(0, "1"), (0, "2"), (1, "1")] {
            try job.put(job.header(shard, on: "n", attempt: attempt), FleetJob.outcomes(failed: shard))
        }
        let (merge, hosts) = try job.merged()
        let record = try #require(hosts.first?.conformance.first)
        #expect(hosts.count == 1 && hosts[0].conformance.count == 1 && record.part == nil && merge.missing.isEmpty)
        #expect((record.passed, record.failed, record.unsupported) == (51, 3, 6) && record.failures.count == 3)
        #expect(record.flags == [.init(flag: "f", passed: 51, failed: 3, unsupported: 6, notRun: 0)])
    }

    @Test("a shard in which a subject was not put to all vectors is missing")
    func someVectors() throws {
        let job = try FleetJob(shards: 2, of: .vectors)
        try job.put(job.header(0, on: "n", attempt: "1"), FleetJob.outcomes("s") + FleetJob.outcomes("t"))
        for lacking in [[], FleetJob.outcomes("t", count: FleetJob.vectorCount - 3)] {
            try job.put(job.header(1, on: "n", attempt: "1"), FleetJob.outcomes("s") + lacking)
            let merge = try FleetMerge(job.file)
            #expect(merge.missing.map(\.shard) == [1] && merge.warnings.first?.contains("is t with") == true)
        }
    }

    @Test("of vectors that are put to some subjects in one shard and to others in another, each must have its own")
    func dividedVectors() throws {
        let job = try FleetJob(shards: 3, of: .vectors, subjects: [0: ["s"], 1: ["t"]])
        let all = FleetJob.outcomes("s") + FleetJob.outcomes("t")
        try job.put(job.header(2, on: "n", attempt: "1"), all)
        try job.put(job.header(0, on: "n", attempt: "1"), FleetJob.outcomes("s"))
        for (outcomes, missing) in [(FleetJob.outcomes("s"), [1]), (FleetJob.outcomes("t"), [])] {
            try job.put(job.header(1, on: "n", attempt: "1"), outcomes)
            #expect(try FleetMerge(job.file).missing.map(\.shard) == missing)
        }
        let records = try job.merged().hosts.flatMap(\.conformance)
        #expect(records.map(\.subject) == ["s", "t"] && records.map(\.count) == [60, 60])
    }

    @Test("vectors that each host had all of are told apart by host")
    func replicatedVectors() throws {
        let job = try FleetJob(shards: 2, isReplicated: true, of: .vectors)
        for (shard, node) in ["a", "b"].enumerated() {
            try job.put(job.header(shard, on: node, attempt: "1"), FleetJob.outcomes(failed: shard))
        }
        let (_, hosts) = try job.merged()
        let records = hosts.flatMap(\.conformance)
        #expect(records.map(\.subject) == ["s on a", "s on b"] && records.map(\.failed) == [0, 3])
    }

    @Test("a host that was put to all vectors twice has them once")
    func replicatedTwice() throws {
        let job = try FleetJob(shards: 2, isReplicated: true, of: .vectors)
        for shard in 0..<2 { try job.put(job.header(shard, on: "a", attempt: "1"), FleetJob.outcomes()) }
        let records = try job.merged().hosts.flatMap(\.conformance)
        #expect(records.map(\.subject) == ["s on a"] && records.map(\.count) == [FleetJob.vectorCount])
        try job.put(job.header(1, on: "a", attempt: "1"), FleetJob.outcomes(failed: 1))
        #expect(throws: FleetError.self) { try job.merged("again") }
    }

    @Test(
        "vectors of a backend that a host lacks contradict nothing, and are missing until a host that has it ran them")
    func absentBackend() throws {
        let job = try FleetJob(shards: 2, of: .vectors)
        let notRun = FleetJob.outcomes().map { record in
            guard case .conformance(var outcome) = record else { return record }
            (outcome.notRun, outcome.passed, outcome.unsupported, outcome.flags) = (outcome.count, 0, 0, [])
            return ResultRecord.conformance(outcome)
        }
        func put(_ shard: Int, _ node: String, _ records: [ResultRecord], has: Bool) throws {
            var header = job.header(shard, on: node, attempt: node)
            header.backends = has ? [.init(name: "s", version: "1", cpuFeatures: [])] : []
            try job.put(header, records)
        }
        try put(0, "with", FleetJob.outcomes(), has: true)
        try put(1, "without", notRun, has: false)
        #expect(try FleetMerge(job.file).missing.map(\.shard) == [1])
        try put(1, "with", FleetJob.outcomes(), has: true)
        let (merge, hosts) = try job.merged()
        #expect(merge.missing.isEmpty && hosts.map(\.header.host.nodeName) == ["with"])
        #expect(hosts.flatMap(\.conformance).map(\.notRun) == [0])
    }

    @Test("a node with CPUs of another kind, or another kernel, is another host; which CPUs of a kind is chance")
    func otherCPUs() throws {
        let job = try FleetJob(shards: 3)
        for (shard, cpus) in ["0-1", "64-65", "2-3"].enumerated() {
            var header = job.header(shard, on: "n", attempt: "1")
            header.host.cpuset = cpus
            header.host.cpuKind = shard == 1 ? "2 NUMA nodes" : nil
            if shard == 2 { header.host.kernel = "Linux 2" }
            try job.put(header, FleetJob.records(shard))
        }
        let names = try job.merged().hosts.map(\.header.host.nodeName)
        #expect(names == ["n (1)", "n (2)", "n (3)"])
        try FileManager.default.removeItem(at: URL(filePath: job.file.shardFolder.string + "/00002-n-1.jsonl"))
        #expect(try job.merged("two").hosts.map(\.header.host.nodeName) == ["n (1)", "n (2)"])
        var again = job.header(2, on: "n", attempt: "2")
        (again.host.cpuset, again.host.cpuKind) = ("6-7", nil)
        try job.put(again, FleetJob.records(2))
        #expect(try job.merged("three").hosts.map(\.header.host.nodeName) == ["n (1)", "n (2)"])
    }

    @Test("what is no regular file, or is damaged without a seal, is named, and its shard is missing")
    func unusable() throws {
        let job = try FleetJob(shards: 2)
        let path = try job.put(0, on: "n")
        let elsewhere = job.folder.path("elsewhere")
        try FileManager.default.moveItem(atPath: path.string, toPath: elsewhere)
        try FileManager.default.createSymbolicLink(atPath: path.string, withDestinationPath: elsewhere)
        let other = try job.put(1, on: "n")
        let text = try String(contentsOfFile: other.string, encoding: .utf8)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast(2)
        let damaged = lines.joined(separator: "\n").replacing("[1000]", with: "[1e999]") + "\n"
        try Data(damaged.utf8).write(to: URL(filePath: other.string))
        let merge = try FleetMerge(job.file)
        #expect(merge.missing.map(\.reason) == Array(repeating: "no file of it that can be used", count: 2))
        #expect(
            merge.warnings.count == 2 && merge.warnings.contains { $0.contains("no regular file") }, "\(merge.warnings)"
        )
    }

    @Test("of a search, what any attempt found counts, each case once")
    func search() throws {
        let job = try FleetJob(shards: 1, of: .search)
        let (all, node) = (FleetJob.outcomes(failed: 1), "n")
        try job.put(job.header(0, on: node, attempt: "1"), Array(all[..<1]))
        try job.put(job.header(0, on: "m", attempt: "2"), Array(all[..<2]))
        try job.put(job.header(0, on: node, attempt: "3"), Array(all[2...]), isComplete: false)
        let records = ConformanceRecord.sums(of: try job.merged().hosts.flatMap(\.conformance))
        #expect(records.map(\.failed) == [3] && records.map(\.count) == [FleetJob.vectorCount])
    }
}

private struct TestFailure: Error {
    init(_ text: String) { Issue.record("\(text)") }
}
