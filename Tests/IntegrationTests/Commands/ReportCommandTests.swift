import Foundation
import Results
import Support
import TestSupport
import Testing

/// Result files that the tests of `report` and `trend` read.
enum ResultFixture {
    /// A result file with cells of two backends and these windows.
    static func file(
        started: String = "2026-01-01T00:00:00Z", host: String = "h", cpu: String = "CPU", schema: String? = nil,
        factor: Double = 1, windows: [UInt64] = [4096, 65536]
    ) throws -> [UInt8] {
        var header = RunHeader(
            programVersion: "1", command: ["chunkwise", "sweep"], startedAt: started,
            host: .init(name: host, cpuModel: cpu, cpuCount: 1, cpuFlags: [], memoryByteCount: 1, kernel: "k"),
            backends: [], plan: nil, seed: 1)
        if let schema { header.schema = schema }
        var records: [ResultRecord] = [
            .header(header),
            .conformance(.init(subject: "openssl", passed: 9, failed: 0, unsupported: 0, notRun: 0, failures: [])),
        ]
        for backend in ["openssl", "libgcrypt"] {
            for window in windows {
                let cell = Cell(backend: backend, strategy: "ctr", windowByteCount: window, objectByteCount: 1 << 20)
                records.append(
                    .check(
                        CheckRecord(
                            cell: cell, digest: "aa", deliveredByteCount: 1 << 20, fetchedByteCount: 1 << 20,
                            decryptedByteCount: 1 << 20)))
                for round in 0..<3 {
                    let slow = backend == "libgcrypt" ? factor : 1
                    let times = (0..<5).map { UInt64(1_000_000 * slow) + UInt64($0 + round) * 300 }
                    records.append(.time(TimeRecord(cellID: cell.id, round: round, nanoseconds: times)))
                }
            }
        }
        return try (records + [.end]).flatMap { try $0.line() }
    }
}

@Suite("report from the command line")
struct ReportCommandTests {
    private static let names = [
        "index.html", "report.md", "report.xml", "results.csv", "results.json", "results.jsonl", "summary.md",
        "throughput.svg",
    ]

    @Test("a report goes through a link, into a pipe and to standard output, and replaces none of them")
    func outputs() throws {
        let folder = try TemporaryFolder()
        try folder.file("results.jsonl", try ResultFixture.file())
        try folder.file("real", "old")
        try FileManager.default.createSymbolicLink(atPath: folder.path("link"), withDestinationPath: "real")
        try #require(mkfifo(folder.path("pipe"), 0o600) == 0)
        func report(_ output: String) -> String { "report . --format csv --output \(output)" }
        let plain = try Chunkwise.run(["report", ".", "--format", "csv"], in: folder.path)
        let names = folder.names
        let linked = try Chunkwise.run(report("link").split(separator: " ").map(String.init), in: folder.path)
        #expect(linked.status == 0 && folder.bytes("real") == plain.output)
        let program = "'\(Programs.chunkwise)'"
        let line = "cat pipe & \(program) \(report("pipe")) && wait && \(program) \(report("-"))"
        let piped = try CommandRun.run("/usr/bin/env", ["sh", "-c", line], in: folder.path)
        #expect(piped.status == 0 && piped.output == plain.output + plain.output, "\(piped.errorLines)")
        #expect(folder.names == names)
        var status = stat()
        #expect(lstat(folder.path("link"), &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
        #expect(lstat(folder.path("pipe"), &status) == 0 && status.st_mode & S_IFMT == S_IFIFO)
    }

    @Test("a report has all its files, and a single form goes to standard output without leaving any")
    func files() throws {
        let folder = try TemporaryFolder()
        try folder.file("results.jsonl", try ResultFixture.file())
        for (format, name) in [
            ("html", "index.html"), ("markdown", "summary.md"), ("full-markdown", "report.md"),
            ("json", "results.json"),
            ("csv", "results.csv"), ("junit", "report.xml"),
        ] {
            let run = try Chunkwise.run(["report", ".", "--format", format], in: folder.path)
            #expect(run.status == 0 && run.errorLines.isEmpty && folder.names == ["results.jsonl"], "\(format)")
            let whole = try Chunkwise.run(["report", "results.jsonl", "--output", "all"], in: folder.path)
            #expect(whole.status == 0 && folder.bytes("all/\(name)") == run.output, "\(format)")
            try FileManager.default.removeItem(atPath: folder.path("all"))
        }
        #expect(try Chunkwise.run(["report", "."], in: folder.path).status == 0)
        #expect(Set(Self.names).isSubset(of: Set(folder.names)))
    }

    @Test("a file that is cut at any place is reported as far as it is whole, and the cut is said")
    func cuts() throws {
        let folder = try TemporaryFolder()
        let bytes = try ResultFixture.file()
        for length in stride(from: 1, to: bytes.count, by: bytes.count / 40) {
            try folder.file("results.jsonl", Array(bytes[..<length]))
            let run = try Chunkwise.run(["report", ".", "--output", "out"], in: folder.path)
            // A record that lacks nothing but the end of its line is whole.
            let isWithinLine = bytes[length - 1] != 0x0A && bytes[length] != 0x0A
            let lines = bytes[..<length].count { $0 == 0x0A }
            guard lines > 1 else {
                // A header alone, or less: there is nothing to report.
                #expect(run.status == 65, "\(length): \(run.errorLines)")
                continue
            }
            #expect(run.status == 0 && run.errorLines.count == 1, "\(length): \(run.errorLines)")
            let words = isWithinLine ? "are left out" : "no end record"
            #expect(run.errorLines.first?.contains("warning") == true, "\(length)")
            #expect(run.errorLines.first?.contains(words) == true, "\(length): \(run.errorLines)")
            for name in ["index.html", "report.md", "summary.md"] {
                let text = String(decoding: folder.bytes("out/\(name)") ?? [], as: UTF8.self)
                #expect(text.contains(isWithinLine ? "left out" : "end"), "\(length), \(name)")
            }
        }
    }

    /// A change that spoils a file, the exit code for it, and a word of the message.
    static let bad: [(@Sendable ([UInt8]) throws -> [UInt8], Int32, String)] = [
        ({ _ in [] }, 65, "header"), ({ _ in Array("{}\n".utf8) }, 65, "header"),
        ({ _ in try ResultFixture.file(schema: "chunkwise-results-99") }, 65, "chunkwise-results-99"),
        ({ bytes in bytes.prefix { $0 != 0x0A } + [0x0A] }, 65, "no cells"),
        ({ bytes in bytes.prefix { $0 != 0x0A } + Array("\n{\"end\":{}}\n".utf8) }, 65, "no cells"),
        ({ bytes in try bytes + ResultFixture.file(host: "g") }, 65, "second header"),
        (
            { bytes in bytes + Array("{\"time\":{\"cellID\":\"x\",\"round\":-1,\"nanoseconds\":[1]}}\n".utf8) }, 65,
            "line"
        ),
        (
            { bytes in bytes + Array("{\"time\":{\"cellID\":\"x\",\"round\":0,\"nanoseconds\":[NaN]}}\n".utf8) }, 65,
            "line"
        ),
        ({ bytes in bytes + [UInt8](repeating: 0x41, count: 10 << 20) + [0x0A] }, 65, "line"),
    ]

    @Test("a file that is not what it should be is an error, and the old report stays", arguments: bad.indices)
    func badFiles(index: Int) throws {
        let (change, status, word) = Self.bad[index]
        let folder = try TemporaryFolder()
        try folder.file("results.jsonl", try change(ResultFixture.file()))
        for name in Self.names where name != "results.jsonl" { try folder.file(name, "old") }
        for arguments in [["report", "."], ["report", ".", "--format", "csv"]] {
            Chunkwise.expectFailure(try Chunkwise.run(arguments, in: folder.path), status, word, "\(index)")
        }
        for name in Self.names where name != "results.jsonl" {
            #expect(folder.bytes(name) == Array("old".utf8), "\(name)")
        }
        #expect(folder.names == Self.names)
    }

    @Test("where the last file cannot be written, no file of the old report is replaced")
    func unwritable() throws {
        let folder = try TemporaryFolder()
        try folder.file("results.jsonl", try ResultFixture.file())
        for name in Self.names where name != "results.jsonl" && name != "throughput.svg" {
            try folder.file(name, "old")
        }
        // A directory cannot be replaced by a file.
        try FileManager.default.createDirectory(
            atPath: folder.path("throughput.svg"), withIntermediateDirectories: false)
        Chunkwise.expectFailure(try Chunkwise.run(["report", "."], in: folder.path), 74, "throughput.svg")
        for name in Self.names where name != "results.jsonl" && name != "throughput.svg" {
            #expect(folder.bytes(name) == Array("old".utf8), "\(name)")
        }
        #expect(folder.names == Self.names)
        for output in ["results.jsonl", "results.jsonl/x", "/proc/self/x", "/dev/null"] {
            Chunkwise.expectFailure(
                try Chunkwise.run(["report", ".", "--output", output], in: folder.path), 74, "", output)
        }
    }

    @Test("a disk that is full, here a limit on the size of files, leaves the old report as it was")
    func fullDisk() throws {
        let folder = try TemporaryFolder()
        try folder.file("results.jsonl", try ResultFixture.file())
        for name in Self.names where name != "results.jsonl" { try folder.file(name, "old") }
        let script = "ulimit -f 4; exec \"$0\" report ."
        let run = try CommandRun.run("/bin/bash", ["-c", script, Programs.chunkwise], in: folder.path)
        Chunkwise.expectFailure(run, 74, "write to")
        for name in Self.names where name != "results.jsonl" {
            #expect(folder.bytes(name) == Array("old".utf8), "\(name)")
        }
        #expect(folder.names == Self.names)
        let full = try CommandRun.run(
            "/bin/bash", ["-c", "\"$0\" report . --format html > /dev/full", Programs.chunkwise], in: folder.path)
        Chunkwise.expectFailure(full, 74, "standard output")
    }

    @Test("several results stand side by side; one that is bad ends it before anything is written")
    func sideBySide() throws {
        let folder = try TemporaryFolder()
        try folder.file("a.jsonl", try ResultFixture.file())
        try folder.file("b.jsonl", try ResultFixture.file(host: "g", cpu: "Other", factor: 2))
        try folder.file("bad.jsonl", "{")
        let run = try Chunkwise.run(["report", "a.jsonl", "b.jsonl", "--output", "out"], in: folder.path)
        #expect(run.status == 0 && run.text.contains("neither averaged"), "\(run.errorLines)")
        let json = try #require(JSONValue.parse(folder.bytes("out/results.json") ?? []))
        #expect(json["hostCount"] == 2 && json["runs"]?.array?.count == 2)
        Chunkwise.expectFailure(
            try Chunkwise.run(["report", "a.jsonl", "bad.jsonl", "--output", "new"], in: folder.path), 65, "bad.jsonl")
        #expect(!folder.names.contains("new"))
    }

    @Test("a comparison has a page, Markdown and JSON; another host is not judged")
    func comparison() throws {
        let folder = try TemporaryFolder()
        try folder.file("a.jsonl", try ResultFixture.file())
        try folder.file("b.jsonl", try ResultFixture.file(started: "2026-01-02T00:00:00Z", factor: 2))
        try folder.file("c.jsonl", try ResultFixture.file(host: "g", factor: 2))
        try folder.file("none.jsonl", try ResultFixture.file(windows: [1]))
        let run = try Chunkwise.run(["report", "compare", "a.jsonl", "b.jsonl", "--output", "out"], in: folder.path)
        #expect(run.status == 0 && run.text.contains("slower in 2"), "\(run.text)")
        let json = try #require(JSONValue.parse(folder.bytes("out/comparison.json") ?? []))
        #expect(json["slower"] == 2 && json["undecided"] == 2)
        let page = String(decoding: folder.bytes("out/index.html") ?? [], as: UTF8.self)
        #expect(page.contains("<svg") && page.contains("95 % interval"))
        #expect(folder.bytes("out/report.md") != nil)
        let other = try Chunkwise.run(
            ["report", "compare", "a.jsonl", "c.jsonl", "--format", "json"], in: folder.path)
        #expect(JSONValue.parse(other.output)?["slower"] == 0 && other.status == 0)
        let none = try Chunkwise.run(
            ["report", "compare", "a.jsonl", "none.jsonl", "--output", "o"], in: folder.path)
        #expect(none.status == 2)
    }

    @Test(
        "options that do not go together are usage errors",
        arguments: [
            ["report"], ["report", "compare", "a.jsonl"], ["report", "compare", "a.jsonl", "a.jsonl", "a.jsonl"],
            ["report", "a.jsonl", "--reference", "x"], ["report", "a.jsonl", "a.jsonl", "--history", "."],
            ["report", "a.jsonl", "--format", "pdf"], ["report", "compare", "a.jsonl", "a.jsonl", "--format", "csv"],
        ])
    func usage(arguments: [String]) throws {
        let folder = try TemporaryFolder()
        try folder.file("a.jsonl", try ResultFixture.file())
        Chunkwise.expectFailure(try Chunkwise.run(arguments, in: folder.path), 64, "", "\(arguments)")
    }
}
