import BackendRegistry
import Foundation
import Measurement
import Results
import Support
import SystemPackage
import TestSupport
import Testing

private let plan = """
    rounds: 2
    time: 1us
    object-size: 4KiB
    cells:
    - {backend: libgcrypt, window: [1KiB, 2KiB]}
    - {backend: libgcrypt, workload: "random:100", reads: 5}
    - {backend: libgcrypt, workload: "random:200", reads: 5}
    """

@Suite("jobs on many machines, from the command line")
struct FleetCommandTests {
    /// A folder with a plan, split in three.
    private func split() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try folder.file("plan.yml", plan)
        let run = try Chunkwise.run(
            ["sweep", "--plan", "plan.yml", "--split", "3", "--output", "job"], in: folder.path)
        #expect(run.status == 0, "\(run.errorLines)")
        return folder
    }

    private func shard(
        _ number: Int, _ folder: TemporaryFolder, _ command: String = "sweep", node: String = "n", _ more: [String] = []
    ) throws -> CommandRun {
        try CommandRun.run(
            Programs.chunkwise, [command, "--manifest", "job/manifest.json", "--shard", "\(number)"] + more,
            in: folder.path, environment: ["SLURMD_NODENAME": node, "SLURM_JOB_ID": "7", "SLURM_RESTART_COUNT": "2"])
    }

    private func merge(_ folder: TemporaryFolder) throws -> CommandRun {
        try Chunkwise.run(["merge", "job", "--output", "merged"], in: folder.path)
    }

    @Test("shards of two nodes are the set of cells of one run, missing ones are named, and the report has both nodes")
    func sweep() throws {
        let folder = try split()
        for number in 0..<2 {
            let run = try shard(number, folder, node: "n\(number)")
            #expect(run.status == 0 && run.text.contains("complete"), "\(run.errorLines)")
            #expect(run.errorLines.contains { $0.contains("on n\(number), pinned to CPU") }, "\(run.errorLines)")
        }
        let partial = try merge(folder)
        #expect(partial.status == 2 && partial.text.contains("MISSING shard 2"))
        #expect(partial.text.contains("chunkwise sweep --manifest job/manifest.json --shard 2"))
        #expect(partial.errorLines.last?.contains("1 of 3 shards are missing (2)") == true)
        #expect(try shard(2, folder, node: "n0").status == 0)
        // Once more, elsewhere: nothing counts twice.
        #expect(try shard(1, folder, node: "n2").status == 0)
        #expect(folder.names(in: "job/shards").count == 4)
        #expect(try merge(folder).status == 0)
        let hosts = try ResultLog.readHosts(FilePath(folder.path("merged/results.jsonl")))
        let whole = try Chunkwise.run(["sweep", "--plan", "plan.yml", "--output", "whole"], in: folder.path)
        #expect(whole.status == 0)
        let expected = try ResultLog.read(FilePath(folder.path("whole/results.jsonl"))).results.cells
        let found = hosts.flatMap(\.cells)
        #expect(Set(found.map(\.cell)) == Set(expected.map(\.cell)) && found.count == expected.count + 1)
        for cell in found {
            #expect(cell.check?.digest == expected.first { $0.cell == cell.cell }?.check?.digest)
            #expect(cell.failure == nil && cell.rounds.count.isMultiple(of: 2))
        }
        let host = hosts[0].header.host
        #expect(host.bootID != nil && host.cpuset != nil && hosts.count == 2)
        let report = try Chunkwise.run(["report", "merged"], in: folder.path)
        #expect(report.status == 0 && report.text.contains("2 hosts of 1 kind"), "\(report.errorLines)")
        Chunkwise.expectFailure(try Chunkwise.run(["recommend", "merged"], in: folder.path), 65, "2 hosts")
    }

    @Test("each vector is in one of forty shards for each backend, and their work differs by a fifth at most")
    func vectors() throws {
        let folder = try TemporaryFolder()
        #expect(try Chunkwise.run(["verify", "--split", "40", "--output", "job"], in: folder.path).status == 0)
        let manifest = try ManifestFile(FilePath(folder.path("job/manifest.json"))).manifest
        let loads = (0..<40).map { manifest.parts(of: $0).reduce(0) { $0 + $1.cost } }
        #expect((loads.max() ?? 0) <= (loads.min() ?? 0) * 1.2, "\(loads)")
        // Without those that have the cipher of no strategy.
        let names = BackendRegistry.names.filter {
            (try? BackendRegistry.backend(named: $0))?.strategyNames.isEmpty != true
        }
        for name in names {
            let parts = (0..<40).flatMap { manifest.parts(of: $0) }.filter { $0.subjects?.contains(name) ?? true }
            let members = parts.flatMap(\.members)
            #expect(Set(members).count == members.count && members.count > 5000, "\(name)")
            #expect(parts.reduce(0) { $0 + $1.count } > 900_000, "\(name)")
        }
        // One read of 100 MiB costs more than one of a hundred shards should.
        #expect(try Chunkwise.run(["verify", "--split", "100", "--output", "small"], in: folder.path).status == 0)
        let small = try ManifestFile(FilePath(folder.path("small/manifest.json"))).manifest
        #expect(small.parts.contains { $0.subjects != nil && $0.subjects != names })
    }

    @Test("a few vectors in shards come to what they come to at once")
    func verify() throws {
        let folder = try TemporaryFolder()
        let vectors = Project.path("data/vectors/sp800-38a.json")
        let chosen = ["verify", "--backend", "openssl", "--vectors", vectors]
        let whole = try Chunkwise.run(chosen + ["--format", "json"])
        #expect(try Chunkwise.run(chosen + ["--split", "3", "--output", "job"], in: folder.path).status == 0)
        for number in [0, 1, 2, 1] { #expect(try shard(number, folder, "verify").status == 0) }
        #expect(try merge(folder).status == 0)
        let record = try ResultLog.read(FilePath(folder.path("merged/results.jsonl"))).results.conformance
        #expect(record.map(\.subject) == ["openssl"])
        #expect(JSONValue.parse(whole.output)?["passed"]?.integer.map { Int($0) } == record.first?.passed)
    }

    @Test("vectors that fail fail the merge, also if a shard is missing; a file that was changed is refused")
    func failingVectors() throws {
        let folder = try TemporaryFolder()
        let text = try String(contentsOfFile: Project.path("data/vectors/sp800-38a.json"), encoding: .utf8)
        let wrong = text.replacing("\"plaintext\": \"6b", with: "\"plaintext\": \"00")
        try #require(wrong != text)
        try folder.file("vectors.json", wrong)
        let run = try Chunkwise.run(
            ["verify", "--backend", "openssl", "--vectors", "vectors.json", "--split", "2", "--output", "job"],
            in: folder.path)
        #expect(run.status == 0, "\(run.errorLines)")
        #expect(try shard(0, folder, "verify").status == 0)
        let merged = try merge(folder)
        #expect(merged.status == 1 && merged.text.contains("MISSING shard 1"), "\(merged.text)")
        try folder.file("vectors.json", text)
        Chunkwise.expectFailure(try shard(1, folder, "verify"), 65, "the same file")
    }

    @Test("cells of this machine and cells behind a server are shards of one job; a cell that fails fails the merge")
    func mixed() throws {
        let folder = try TemporaryFolder()
        try folder.file("plan.yml", plan + "\n- {backend: libgcrypt, source: http}\n")
        let split = try Chunkwise.run(
            ["sweep", "--plan", "plan.yml", "--split", "4", "--output", "job"], in: folder.path)
        #expect(split.status == 0, "\(split.errorLines)")
        for number in 0..<4 { #expect(try shard(number, folder).status == 0) }
        #expect(try merge(folder).status == 0)
        // A shard in which the first cell has failed instead.
        let name = try #require(folder.names(in: "job/shards").sorted().first)
        let lines = String(decoding: folder.bytes("job/shards/\(name)") ?? [], as: UTF8.self).split(separator: "\n")
        let check = try #require(lines.first { $0.hasPrefix(#"{"check""#) })
        guard case .check(let record) = try ResultRecord(line: Array(check.utf8)) else {
            Issue.record("\(check) is no check")
            return
        }
        let failure = try ResultRecord.failure(FailureRecord(cell: record.cell, reason: "r")).line()
        let kept = lines.dropLast().filter { $0 != check && !$0.contains(#""cellID":"\#(record.cell.id)""#) }
        let changed = kept.dropLast() + [Substring(decoding: failure.dropLast(), as: UTF8.self)] + kept.suffix(1)
        try folder.file("log", changed.map { $0 + "\n" }.joined())
        try ShardFile.publish(
            FilePath(folder.path("log")), as: FilePath(folder.path("job/shards/\(name)")))
        let merged = try merge(folder)
        #expect(merged.status == 1, "\(merged.text)")
        #expect(merged.errorLines.last?.contains("cells that have failed in their shards: 1") == true)
    }

    @Test("a search's shards draw other cases each")
    func search() throws {
        let folder = try TemporaryFolder()
        let run = try Chunkwise.run(
            [
                "verify", "search", "--time", "1ms", "--seed", "7", "--backend", "openssl", "--split", "2", "--output",
                "job",
            ],
            in: folder.path)
        #expect(run.status == 0)
        for number in 0..<2 { #expect(try shard(number, folder, "verify").status == 0) }
        let merged = try merge(folder)
        #expect(merged.status == 0 && merged.text.contains("openssl"), "\(merged.errorLines)")
    }

    @Test("SIGTERM ends a shard after a whole record, and what was finished is handed over and merged")
    func stopped() throws {
        let folder = try TemporaryFolder()
        try folder.file("plan.yml", plan.replacing("time: 1us", with: "time: 300ms"))
        #expect(
            try Chunkwise.run(
                ["sweep", "--plan", "plan.yml", "--split", "1", "--output", "job", "--replicate"], in: folder.path
            )
            .status == 0)
        let streams = try TemporaryFolder()
        let temporary = try TemporaryFolder()
        let process = try CommandRun.start(
            Programs.chunkwise, ["sweep", "--manifest", "job/manifest.json", "--shard", "0"], in: folder.path,
            environment: ["TMPDIR": temporary.path], streams: streams)
        func lineCount() -> Int {
            let run = temporary.names.first { $0.hasPrefix("chunkwise-") } ?? ""
            return (temporary.bytes("\(run)/results.jsonl") ?? []).count { $0 == 0x0A }
        }
        for _ in 0..<5000 {
            guard process.isRunning, lineCount() < 14 else { break }
            usleep(2000)
        }
        process.terminate()
        process.waitUntilExit()
        #expect(process.terminationStatus == 2)
        #expect(
            String(decoding: streams.bytes("err") ?? [], as: UTF8.self).contains("stopped before the end of shard 0"))
        #expect(temporary.names.isEmpty)
        let merged = try merge(folder)
        #expect(merged.status == 2 && merged.text.contains("only a part"))
        let results = try ResultLog.read(FilePath(folder.path("merged/results.jsonl"))).results
        #expect(!results.isComplete && results.cells.count == 4)
    }

    @Test("what cannot be is refused with what was expected")
    func badInput() throws {
        let folder = try split()
        let sweep = ["sweep", "--manifest", "job/manifest.json"]
        let cases: [([String], Int32, String)] = [
            (sweep + ["--shard", "3"], 64, "0 to 2"), (sweep + ["--shard", "-1"], 64, ""), (sweep, 64, "--shard"),
            (sweep + ["--shard", "0", "--plan", "plan.yml"], 64, "manifest alone"),
            (["sweep", "--manifest", "none/manifest.json", "--shard", "0"], 66, "none/manifest.json"),
            (["verify", "--manifest", "job/manifest.json", "--shard", "0"], 64, "chunkwise sweep"),
            (["sweep", "--plan", "plan.yml", "--output", "j", "--split", "0"], 64, "1 to"),
            (["sweep", "--plan", "plan.yml", "--output", "j", "--split", "9"], 64, "--replicate"),
            (["sweep", "--plan", "plan.yml", "--output", "j", "--engine", "local"], 64, "--split"),
            (["sweep", "--plan", "plan.yml", "--output", "j", "--split", "2", "--submit"], 64, "--engine"),
            (["verify", "--split", "2"], 64, "--output"),
            (["verify", "--manifest", "job/manifest.json", "--shard", "0", "--all"], 64, "manifest alone"),
            (["sweep", "--plan", "plan.yml", "--output", "job", "--split", "2"], 65, "another job"),
            (
                [
                    "sweep", "--plan", "plan.yml", "--output", "j", "--split", "2", "--engine", "parallel", "--hosts",
                    "none",
                ],
                66, "none"
            ),
            (["sweep", "--plan", "plan.yml", "--output", "b\\x", "--split", "2", "--engine", "slurm"], 64, "U+5c"),
            (["verify", "mutants", "--split", "2", "--output", "j"], 64, "--split"),
            (["verify", "--cpu-masks", "--split", "2", "--output", "j"], 64, "--cpu-masks"),
            (["verify", "search", "--manifest", "job/manifest.json", "--shard", "0"], 64, "--manifest"),
            (["verify", "--subject", "a", "--subject", "b", "--split", "2", "--output", "j"], 64, "2 --subject"),
            (["verify", "search", "--time", "1s", "--replicate", "--split", "2", "--output", "j"], 64, "--replicate"),
            (["verify", "--format", "json", "--split", "2", "--output", "j"], 64, "--format json"),
            (["merge", "none", "--output", "m"], 66, "none"), (["merge", ".", "--output", "m"], 66, "manifest.json"),
            (["sweep", "--plan", "plan.yml", "--output", "plan.yml/j", "--split", "2"], 74, "plan.yml"),
        ]
        for (arguments, status, word) in cases {
            Chunkwise.expectFailure(
                try Chunkwise.run(arguments, in: folder.path), status, word, "\(arguments.joined(separator: " "))")
        }
        // Another version's, and another program's.
        let text = String(decoding: folder.bytes("job/manifest.json") ?? [], as: UTF8.self)
        for (old, new) in [("manifest-1", "manifest-2"), (#""programVersion": "0"#, #""programVersion": "9"#)] {
            try folder.file("job/manifest.json", text.replacing(old, with: new))
            Chunkwise.expectFailure(try shard(0, folder), 65, "", new)
        }
        try folder.file("job/manifest.json", text)
    }

    @Test("a folder that takes no file is an error that says where the records are")
    func fullFolder() throws {
        let folder = try split()
        // A file in the folder's place: whoever runs this may be root, whom no permissions stop.
        try folder.remove("job/shards")
        try folder.file("job/shards", "")
        let run = try shard(0, folder)
        Chunkwise.expectFailure(run, 74, "job/shards")
    }

    @Test("an engine's script is printed, and without the engine nothing is submitted")
    func engines() throws {
        let folder = try split()
        let options = ["sweep", "--plan", "plan.yml", "--split", "3", "--output", "job", "--engine"]
        for (engine, words) in [
            ("slurm", ["--array=0-2", "--exclusive", "--requeue", "afterok:${job%%;*}", "merge"]),
            ("parallel", ["--sshlogin :", "--joblog", "--resume-failed", "seq 0 2"]),
            (
                "kubernetes",
                ["completionMode: Indexed", "completions: 3", "$$JOB_COMPLETION_INDEX", "values: [64, 65, 66]"]
            ),
            ("local", ["seq 0 2"]),
        ] {
            let run = try Chunkwise.run(options + [engine], in: folder.path)
            #expect(run.status == 0 && words.allSatisfy(run.text.contains), "\(run.text)")
            #expect(run.text.contains("\(folder.path)/job/manifest.json") || engine == "local", "\(run.text)")
        }
        let run = try CommandRun.run(
            Programs.chunkwise, options + ["slurm", "--submit"], in: folder.path, environment: ["PATH": folder.path])
        #expect(run.status == 66 && run.errorLines.last?.contains("no sbatch in PATH") == true, "\(run.errorLines)")
        let local = try Chunkwise.run(options + ["local", "--submit"], in: folder.path)
        #expect(local.status == 0 && local.text.contains("3 of 3 shards"), "\(local.errorLines)")
    }
}
