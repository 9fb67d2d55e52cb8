import Results
import Support
import TestSupport
import Testing

@Suite("report of keys from the command line")
struct ReportKeysTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.file("key-waits.json", KeySamples.waits.json.text)
        try folder.file("key-load.json", KeySamples.load.json.text)
    }

    private func report(_ options: [String] = []) throws -> CommandRun {
        try Chunkwise.run(["report", "."] + options, in: folder.path)
    }

    @Test("files beside a run's results are a section of its report")
    func beside() throws {
        try folder.file("results.jsonl", try ResultFixture.file())
        let run = try report(["--output", "out"])
        #expect(run.status == 0 && run.errorLines.isEmpty, "\(run.errorLines)")
        #expect(folder.names(in: "out").contains("key-load.svg") && folder.names(in: "out").contains("throughput.svg"))
        let json = try #require(JSONValue.parse(folder.bytes("out/results.json") ?? []))
        #expect(json["keyLoad"]?["clients"] == 10_000_000 && json["keyLoadLoopback"] == .null)
        let file = try Chunkwise.run(["report", "results.jsonl", "--format", "json"], in: folder.path)
        #expect(file.output == folder.bytes("out/results.json"))
    }

    @Test("files alone have a page of their own, again and again")
    func alone() throws {
        for _ in 1...2 {
            let run = try report()
            #expect(run.status == 0 && run.errorLines.isEmpty, "\(run.errorLines)")
            #expect(run.text.contains("167,973") && run.text.contains("report: ./index.html"), "\(run.text)")
        }
        #expect(
            folder.names == [
                "index.html", "key-load.json", "key-load.svg", "key-waits.json", "key-waits.svg", "report.md",
                "results.json",
            ])
        let printed = try report(["--format", "full-markdown"])
        #expect(printed.output == folder.bytes("report.md"))
        for format in ["csv", "junit", "markdown"] {
            Chunkwise.expectFailure(
                try report(["--format", format]), 64, "expected html, full-markdown or json", format)
        }
        Chunkwise.expectFailure(try report(["--history", "."]), 66, "results.jsonl")
    }

    @Test("a damaged file, or one of another schema, ends the report with its name", arguments: [false, true])
    func damage(withRun: Bool) throws {
        if withRun { try folder.file("results.jsonl", try ResultFixture.file()) }
        let good = KeySamples.waits.json.text
        for (text, words) in [
            (String(good.prefix(good.count / 2)), "chunkwise-key-waits-1"), ("", "chunkwise-key-waits-1"),
            (good.replacing("chunkwise-key-waits-1", with: "other"), "\"other\": expected chunkwise-key-waits-1"),
            (good.replacing("\"rounds\"", with: "\"round\""), "no .rounds"),
        ] {
            try folder.file("key-waits.json", text)
            let run = try report(["--output", "out"])
            Chunkwise.expectFailure(run, 65, words, words)
            #expect(run.errorLines.first?.contains("key-waits.json") == true, "\(run.errorLines)")
            #expect(!folder.names.contains("out"))
        }
    }

    @Test("files without figures are no report")
    func empty() throws {
        var waits = KeySamples.waits
        waits.cells = []
        try folder.file("key-waits.json", waits.json.text)
        try folder.remove("key-load.json")
        Chunkwise.expectFailure(try report(), 65, "holds no cells")
        try folder.remove("key-waits.json")
        Chunkwise.expectFailure(try report(), 66, "results.jsonl")
    }
}
