import TestSupport
import Testing

@Suite("scripts of Benchmarks")
struct BenchmarkScriptTests {
    private func script(_ name: String, _ arguments: String...) throws -> CommandRun {
        try CommandRun.run("/usr/bin/python3", [Project.path("Benchmarks/\(name)")] + arguments)
    }

    @Test("the table has a row a goal, and one for a comparison that failed, within 100 columns")
    func table() throws {
        let folder = try TemporaryFolder()
        let met = "goal\tAES-GCM 4 KiB: in order\t1.367 (1.358 to 1.372)\t≥ 0.98\tmet\n"
        let missed = "goal\tserve, \(String(repeating: "long ", count: 20))\t0.68\t≥ 0.8\tMISSED\n"
        try folder.file("compare-with-c.txt", "built\n\(met)ended\t0\t533\n")
        try folder.file("compare-with-nginx.txt", "\(missed)goals: 0 of 1 met\nended\t1\t61\n")
        // It ends with 1 as well, but before it has looked at its goals.
        try folder.file("compare-with-fio.txt", "\(missed)no fio here\nended\t1\t0\n")
        try folder.file("growth.txt", "killed")
        let run = try script("all", folder.path, "--table")
        let lines = run.text.split(separator: "\n").map(String.init)
        #expect(run.status == 1)
        #expect(lines.allSatisfy { $0.count <= 100 }, "\(run.text)")
        #expect(lines.count { $0.hasSuffix("  met") } == 1 && lines.count { $0.hasSuffix("  MISSED") } == 2)
        let failed = lines.filter { $0.hasSuffix("  FAILED") }
        #expect(failed.map { $0.prefix { $0 != "," } } == ["compare-with-fio", "growth"])
        #expect(lines.contains("5 rows: 1 met, 2 missed, 2 failed"))
        #expect(run.text.contains("compare-with-c 8:53"))

        let good = try TemporaryFolder()
        try good.file("compare-with-c.txt", "\(met)ended\t0\t533\n")
        #expect(try script("all", good.path, "--table").status == 0)
    }

    @Test("results that were not measured are reported and merged")
    func syntheticResults() throws {
        let folder = try TemporaryFolder()
        let (cells, job, output) = ("\(folder.path)/cells.jsonl", "\(folder.path)/job", "\(folder.path)/merged")
        #expect(try script("synthetic-results", "cells", "10", cells).status == 0)
        let report = try Chunkwise.run(["report", cells, "--format", "csv"])
        let rows = report.text.split(whereSeparator: \.isNewline)
        #expect(report.status == 0 && rows.count == 11, "\(report.errorLines)")
        #expect(try script("synthetic-results", "shards", "3", job, "10").status == 0)
        let merge = try Chunkwise.run(["merge", job, "--output", output])
        #expect(merge.status == 0, "\(merge.errorLines)")
        #expect(try Chunkwise.run(["report", output]).status == 0)
    }
}
