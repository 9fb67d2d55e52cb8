import Results
import Support
import TestSupport
import Testing

@Suite("report compare from the command line")
struct CompareCommandTests {
    /// A result file with cells of these windows, whose iterations take these many nanoseconds.
    private func file(
        _ cells: [(window: UInt64, nanoseconds: UInt64)], cpu: String = "CPU", schema: String? = nil
    ) throws -> [UInt8] {
        var header = RunHeader(
            programVersion: "1", command: ["chunkwise"], startedAt: "2026-01-01T00:00:00Z",
            host: .init(name: "h", cpuModel: cpu, cpuCount: 1, cpuFlags: [], memoryByteCount: 1, kernel: "k"),
            backends: [], plan: nil, seed: 1)
        if let schema { header.schema = schema }
        var records: [ResultRecord] = [.header(header)]
        for (window, nanoseconds) in cells {
            let cell = Cell(backend: "x", strategy: "ctr", windowByteCount: window, objectByteCount: 1 << 20)
            records.append(
                .check(
                    CheckRecord(
                        cell: cell, digest: "aa", deliveredByteCount: 1 << 20, fetchedByteCount: 1 << 20,
                        decryptedByteCount: 1 << 20)))
            for round in 0..<4 {
                let times = (0..<10).map { nanoseconds + nanoseconds * UInt64($0 + round) / 5000 }
                records.append(.time(TimeRecord(cellID: cell.id, round: round, nanoseconds: times)))
            }
        }
        return try (records + [.end]).flatMap { try $0.line() }
    }

    private func folder() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try folder.file("a", try file([(4096, 1_000_000), (65536, 800_000), (1, 5_000_000)]))
        try folder.file("b", try file([(4096, 1_000_000), (65536, 1_600_000), (2, 5_000_000)]))
        try folder.file("elsewhere", try file([(4096, 2_000_000)], cpu: "Other"))
        try folder.file("strange", try file([(2, 5_000_000)]))
        try folder.file("schema", try file([(4096, 1_000_000)], schema: "chunkwise-results-99"))
        try folder.file("broken", Array(try file([(4096, 1_000_000)])) + Array("{\"time\":1}\n".utf8))
        try folder.file("empty", "")
        return folder
    }

    @Test("a slower run is shown, and is no failure")
    func slower() throws {
        let folder = try folder()
        let run = try Chunkwise.run(["report", "compare", "a", "b", "--format", "json"], in: folder.path)
        #expect(run.status == 0 && run.errorLines.isEmpty, "\(run.errorLines)")
        let json = try #require(JSONValue.parse(run.output))
        #expect(json["common"] == 2 && json["within5Percent"] == 1 && json["slower"] == 1)
        #expect(json["cells"]?.array?[1]["relation"] == "slower")
        #expect(json["onlyInA"]?.array?.count == 1 && json["onlyInB"]?.array?.count == 1)
        for format in ["text", "markdown"] {
            let run = try Chunkwise.run(["report", "compare", "a", "b", "--format", format], in: folder.path)
            #expect(run.status == 0 && run.text.contains("within 5 % of each other: 1 of 2 cells"))
        }
    }

    @Test("another host is said, and not judged")
    func otherHost() throws {
        let folder = try folder()
        let run = try Chunkwise.run(["report", "compare", "a", "elsewhere", "--format", "text"], in: folder.path)
        #expect(run.status == 0 && run.text.contains("different hosts") && !run.text.contains("slower"))
        let files = try Chunkwise.run(["report", "compare", "a", "elsewhere"], in: folder.path)
        #expect(files.status == 0 && files.text.contains("different hosts"))
    }

    @Test("a folder stands for the results in it, and a last line that is cut short is left out")
    func folders() throws {
        let folder = try folder()
        #expect(try Chunkwise.run(["report", "compare", "a", "."], in: folder.path).status == 66)
        try folder.file("results.jsonl", (folder.bytes("b") ?? []).dropLast(5))
        let run = try Chunkwise.run(["report", "compare", "a", ".", "--format", "text"], in: folder.path)
        #expect(run.status == 0 && run.errorLines.count == 1 && run.text.contains("broken off"))
    }

    @Test("runs without a common cell are no answer, and what there is is listed")
    func nothingInCommon() throws {
        let folder = try folder()
        let run = try withExtendedLifetime(folder) {
            try Chunkwise.run(["report", "compare", "a", "strange", "--format", "text"], in: folder.path)
        }
        #expect(run.status == 2 && run.errorLines.count == 1 && run.text.contains("only in A"))
    }

    @Test(
        "what is no result file has its error",
        arguments: [
            (["a", "schema"], 65, "chunkwise-results-99"), (["schema", "a"], 65, "schema"),
            (["a", "broken"], 65, "line"),
            (["a", "empty"], 65, "header"), (["a", "missing"], 66, "missing"), (["missing", "a"], 66, "missing"),
            (["a"], 64, ""), (["a", "b", "--format", "xml"], 64, "xml"),
        ] as [([String], Int32, String)])
    func wrong(arguments: [String], status: Int32, word: String) throws {
        let folder = try folder()
        let run = try withExtendedLifetime(folder) {
            try Chunkwise.run(["report", "compare"] + arguments, in: folder.path)
        }
        Chunkwise.expectFailure(run, status, word, "\(arguments)")
    }
}
