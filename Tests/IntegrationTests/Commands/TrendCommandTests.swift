import Foundation
import Support
import TestSupport
import Testing

@Suite("report history from the command line")
struct TrendCommandTests {
    /// A folder of 12 runs, of which the last 5 have a slower libgcrypt.
    private func folder() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        for day in 1...12 {
            let name = "runs/\(day < 10 ? "0" : "")\(day)"
            try FileManager.default.createDirectory(atPath: folder.path(name), withIntermediateDirectories: true)
            try folder.file(
                "\(name)/results.jsonl",
                try ResultFixture.file(
                    started: "2026-01-\(day < 10 ? "0" : "")\(day)T00:00:00Z", factor: day > 7 ? 1.2 : 1))
        }
        return folder
    }

    @Test("a slowdown is marked at its run, in every form")
    func change() throws {
        let folder = try folder()
        let run = try Chunkwise.run(["report", "history", "runs", "--format", "json"], in: folder.path)
        #expect(run.status == 0 && run.errorLines.isEmpty, "\(run.errorLines)")
        let json = try #require(JSONValue.parse(run.output))
        let cells = json["hosts"]?.array?.first?["cells"]?.array ?? []
        let changed = cells.filter { $0["changes"]?.array?.isEmpty == false }
        #expect(changed.count == 2 && changed.allSatisfy { $0["name"]?.string?.hasPrefix("libgcrypt") == true })
        #expect(changed.allSatisfy { $0["changes"]?.array?.first?["path"] == "08/results.jsonl" })
        let text = try Chunkwise.run(["report", "history", "runs"], in: folder.path).text
        #expect(text.contains("−17 %") && text.contains("08/results.jsonl") && text.contains("|"))
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 120 })
    }

    @Test("a page links to the runs from where it is, and to their own page where there is one")
    func links() throws {
        let folder = try folder()
        try folder.file("runs/08/index.html", "")
        try FileManager.default.createDirectory(atPath: folder.path("pages"), withIntermediateDirectories: false)
        let run = try Chunkwise.run(
            ["report", "history", "runs", "--format", "html", "--output", "pages/trend.html"], in: folder.path)
        #expect(run.status == 0 && run.text.isEmpty, "\(run.errorLines)")
        let page = String(decoding: folder.bytes("pages/trend.html") ?? [], as: UTF8.self)
        #expect(page.contains("href=\"../runs/08/index.html\"") && page.contains("href=\"../runs/09/results.jsonl\""))
    }

    @Test("what is damaged, cut off, or something else is named and skipped")
    func damage() throws {
        let folder = try folder()
        try folder.file("runs/loose.jsonl", try ResultFixture.file(started: "2026-02-01T00:00:00Z", factor: 1.2))
        try folder.file("runs/cut.jsonl", Array(try ResultFixture.file(started: "2026-02-02T00:00:00Z").dropLast(700)))
        try folder.file("runs/broken.jsonl", try ResultFixture.file() + Array("{\n".utf8))
        try folder.file("runs/schema.jsonl", try ResultFixture.file(schema: "chunkwise-results-99"))
        try folder.file("runs/other.json", "{\"a\":1}")
        try folder.file("runs/notes.txt", "no results")
        try folder.file("runs/01/results.json", "the same again, and not read")
        let run = try Chunkwise.run(["report", "history", "runs", "--format", "json"], in: folder.path)
        let json = try #require(JSONValue.parse(run.output))
        #expect(
            json["skipped"]?.array?.compactMap { $0["path"]?.string } == ["broken.jsonl", "other.json", "schema.jsonl"])
        #expect(json["hosts"]?.array?.first?["runs"]?.array?.count == 14)
        #expect(run.status == 0 && run.errorLines.count == 3, "\(run.errorLines)")
        #expect(run.errorLines.contains { $0.contains("schema.jsonl") && $0.contains("chunkwise-results-99") })
    }

    @Test("other files of the program are counted by kind, in one line")
    func otherKinds() throws {
        let folder = try folder()
        try folder.file("runs/waits.json", "{\n\"schema\":\"chunkwise-key-waits-1\"}\n")
        try folder.file("runs/rates.jsonl", "{\"header\":{\"schema\":\"chunkwise-gate-self-test-1\"}}\n")
        try folder.file("runs/rates.json", "{\"schema\":\"chunkwise-gate-self-test-1\"}")
        let run = try Chunkwise.run(["report", "history", "runs", "--format", "json"], in: folder.path)
        #expect(JSONValue.parse(run.output)?["skipped"]?.array?.isEmpty == true)
        #expect(
            run.status == 0
                && run.errorLines == [
                    "chunkwise: skipped 3 files that are not results of runs: 2 of chunkwise-gate-self-test-1, "
                        + "1 of chunkwise-key-waits-1"
                ], "\(run.errorLines)")
    }

    @Test("a history alone is text, a page in a folder, or one form in a file")
    func output() throws {
        let folder = try folder()
        let text = try Chunkwise.run(["report", "history", "runs"], in: folder.path)
        #expect(text.status == 0 && text.text.contains("Over time"))
        let page = try Chunkwise.run(["report", "history", "runs", "--output", "a/b"], in: folder.path)
        #expect(page.status == 0 && page.text.contains("report: a/b/index.html"), "\(page.errorLines)")
        #expect(folder.names(in: "a/b") == ["index.html"])
        let html = String(decoding: folder.bytes("a/b/index.html") ?? [], as: UTF8.self)
        #expect(html.contains("href=\"../../runs/09/results.jsonl\""))
        let file = try Chunkwise.run(
            ["report", "history", "runs", "--format", "json", "--output", "history.json"], in: folder.path)
        #expect(file.status == 0 && folder.bytes("history.json").flatMap { JSONValue.parse($0) } != nil)
    }

    @Test("an empty folder, a missing one and a backend that no run has are errors")
    func nothing() throws {
        let folder = try folder()
        try FileManager.default.createDirectory(atPath: folder.path("empty"), withIntermediateDirectories: false)
        Chunkwise.expectFailure(try Chunkwise.run(["report", "history", "empty"], in: folder.path), 2, "empty")
        Chunkwise.expectFailure(try Chunkwise.run(["report", "history", "missing"], in: folder.path), 66, "missing")
        Chunkwise.expectFailure(
            try Chunkwise.run(["report", "history", "runs/01/results.jsonl"], in: folder.path), 66, "folder")
        Chunkwise.expectFailure(
            try Chunkwise.run(["report", "history", "runs", "--reference", "none"], in: folder.path), 64, "libgcrypt")
        Chunkwise.expectFailure(
            try Chunkwise.run(
                ["report", "history", "runs", "--format", "html", "--output", "missing/x.html"], in: folder.path), 74,
            "missing")
    }

    @Test("the report of a run includes the history of its machine")
    func inReport() throws {
        let folder = try folder()
        let run = try Chunkwise.run(
            ["report", "runs/12", "--history", "runs", "--format", "html"], in: folder.path)
        #expect(run.status == 0 && run.text.contains("History: h") && run.text.contains("−17 %"), "\(run.errorLines)")
    }
}
