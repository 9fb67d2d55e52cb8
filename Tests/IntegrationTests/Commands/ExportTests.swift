import Foundation
import Support
import TestSupport
import Testing

/// Programs that read what `report --format` exports: `scripts/setup tests` installs them.
@Suite("exports, read by the programs they are for")
struct ExportImporterTests {
    private static func importer(_ name: String) -> String? {
        let own = Project.path(".build-importers/bin/\(name)")
        return FileManager.default.isExecutableFile(atPath: own) ? own : Programs.installed(name)
    }

    private static let asv = importer("asv")
    private static let critcmp = importer("critcmp")
    private static let git = Programs.installed("git")
    private static let hyperfine = Programs.installed("hyperfine")

    /// A folder with the results of an old and a new program, of which the new one takes twice as long in libgcrypt.
    private static func folder() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try folder.file("old.jsonl", try ResultFixture.file())
        try folder.file("new.jsonl", try ResultFixture.file(started: "2026-01-02T00:00:00Z", factor: 2))
        return folder
    }

    private static func run(_ program: String?, _ arguments: [String], _ folder: TemporaryFolder) throws -> String {
        let run = try CommandRun.run(try #require(program), arguments, in: folder.path)
        #expect(run.status == 0, "\(arguments.joined(separator: " ")): \(run.text) \(run.errorLines.suffix(5))")
        return run.text
    }

    @Test("asv shows, compares and publishes", .enabled(if: asv != nil && git != nil, "asv or git is not installed"))
    func airspeedVelocity() throws {
        let folder = try Self.folder()
        _ = try Self.run(Self.git, ["init", "--quiet", "--initial-branch", "main"], folder)
        try folder.file(
            "asv.conf.json",
            """
            {"version": 1, "project": "p", "project_url": "u", "repo": ".", "branches": ["main"],
             "environment_type": "existing", "results_dir": "results", "html_dir": "html", "benchmark_dir": "."}
            """)
        var commits: [String] = []
        for name in ["old", "new"] {
            let user = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
            _ = try Self.run(Self.git, user + ["commit", "--quiet", "--allow-empty", "--message", name], folder)
            let commit = try Self.run(Self.git, ["rev-parse", "HEAD"], folder).prefix { $0.isHexDigit }
            commits.append(String(commit))
            let export = ["report", "\(name).jsonl", "--format", "asv", "--commit", String(commit)]
            let run = try Chunkwise.run(export + ["--output", "results"], in: folder.path)
            #expect(run.status == 0 && run.output.isEmpty, "\(run.errorLines)")
        }
        let shown = try Self.run(Self.asv, ["show", commits[0]], folder)
        #expect(shown.contains("chunkwise.time_iteration [h/chunkwise]") && shown.contains("1.00"), "\(shown)")
        let lines = try Self.run(Self.asv, ["compare"] + commits, folder).split(separator: "\n")
        let slower = lines.filter { $0.hasPrefix("| +") }
        #expect(slower.count == 2 && slower.allSatisfy { $0.contains("libgcrypt") }, "\(lines)")
        #expect(lines.count { $0.contains("(openssl") } == 2, "\(lines)")
        _ = try Self.run(Self.asv, ["publish"], folder)
        let index = String(decoding: try #require(folder.bytes("html/index.json")), as: UTF8.self)
        #expect(index.contains("chunkwise.time_iteration"))
    }

    @Test("critcmp compares, with throughput", .enabled(if: critcmp != nil, "critcmp is not installed"))
    func criticalComparison() throws {
        let folder = try Self.folder()
        for name in ["old", "new"] {
            let export = ["report", "\(name).jsonl", "--format", "criterion", "--output", "\(name).json"]
            #expect(try Chunkwise.run(export, in: folder.path).status == 0)
        }
        let text = try Self.run(Self.critcmp, ["old.json", "new.json"], folder)
        let slower = text.split(separator: "\n").filter { $0.contains("libgcrypt") }
        #expect(slower.count == 2 && slower.allSatisfy { $0.contains("2.00") && $0.contains("MB/sec") }, "\(text)")
        // What critcmp writes after reading has the same cells.
        let export = ["old.json", "--export", "h 2026-01-01T00:00:00Z"]
        let again = try Self.run(Self.critcmp, export, folder)
        func names(_ text: [UInt8]?) -> Set<String> {
            guard case .object(let cells) = text.flatMap({ JSONValue.parse($0) })?["benchmarks"] else { return [] }
            return Set(cells.keys)
        }
        #expect(names(Array(again.utf8)).count == 4 && names(Array(again.utf8)) == names(folder.bytes("old.json")))
    }

    @Test("hyperfine's own files have the same members", .enabled(if: hyperfine != nil, "hyperfine is not installed"))
    func hyperfineMembers() throws {
        let folder = try Self.folder()
        let arguments = ["--shell", "none", "--runs", "2", "--parameter-list", "a", "1,2", "--export-json", "own.json"]
        _ = try Self.run(Self.hyperfine, arguments + ["true {a}"], folder)
        func members(_ bytes: [UInt8]?) throws -> Set<String> {
            let text = try #require(bytes)
            let result = try #require(JSONValue.parse(text)?["results"]?.array?.first)
            guard case .object(let members) = result else { return [] }
            return Set(members.keys)
        }
        let export = try Chunkwise.run(["report", "old.jsonl", "--format", "hyperfine"], in: folder.path)
        #expect(try members(export.output) == members(folder.bytes("own.json")))
    }

    @Test("an export needs results of one run, a cell in it, and for asv a commit and a folder")
    func usage() throws {
        let folder = try Self.folder()
        for (arguments, status) in [
            (["old.jsonl", "new.jsonl", "--format", "bencher"], Int32(64)), (["old.jsonl", "--format", "asv"], 64),
            (["old.jsonl", "--format", "asv", "--commit", "main", "--output", "x"], 64),
            (["old.jsonl", "--commit", String(repeating: "a", count: 40)], 64),
            (["old.jsonl", "--history", ".", "--format", "bencher"], 64),
            (["missing.jsonl", "--format", "bencher"], 66),
        ] {
            let run = try Chunkwise.run(["report"] + arguments, in: folder.path)
            #expect(run.status == status && run.output.isEmpty, "\(arguments): \(run.errorLines)")
        }
        #expect(Set(folder.names) == ["new.jsonl", "old.jsonl"])
    }
}
