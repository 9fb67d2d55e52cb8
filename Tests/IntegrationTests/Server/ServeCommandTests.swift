import Foundation
import TestSupport
import Testing

@Suite("chunkwise serve")
struct ServeCommandTests {
    private static let plaintext = Samples.bytes(1000)

    private static func folder() throws -> TemporaryFolder {
        let folder = try ServerProcess.makeFolder()
        for name in ["a", "films/a", "films/b"] {
            try FileManager.default.createDirectory(
                atPath: folder.path("films"), withIntermediateDirectories: true)
            try ServerProcess.encrypt(plaintext, to: name, in: folder)
        }
        try folder.file("other", [UInt8](repeating: 9, count: 16), isSecret: true)
        return folder
    }

    @Test(
        "what cannot be served ends with one line and an exit code",
        arguments: [
            (["a"], 64, "expected --key-file"), (["--key-file", "key"], 64, "expected"),
            (["--key-file", "key", "--iv", "00", "a"], 64, "expected"),
            (["--key-file", "key", "--iv", "IV", "nothing"], 66, "nothing"),
            (["--key-file", "nothing", "--iv", "IV", "a"], 66, "nothing"),
            (["--key-file", "other", "--iv", "IV", "a"], 65, "a: the padding"),
            (["--key-file", "key", "a"], 74, "a.iv"),
            (["--key-file", "key", "--iv", "IV", "a", "films"], 64, "folder films"),
            (["--key-file", "key", "--iv", "IV", "a", "films/a"], 64, "expected a name other than"),
            (["--key-file", "key", "--iv", "IV", "--port", "65536", "a"], 64, "0 to 65535"),
            (["--key-file", "key", "--iv", "IV", "--window", "1GiB", "a"], 64, "at most 16MiB"),
            (["--key-file", "key", "--iv", "IV", "--max-connections", "0", "a"], 64, "1 to 10000"),
            (["--key-file", "key", "--iv", "IV", "--idle-seconds", "0", "a"], 64, "0.1 to 86400"),
            (["--key-file", "key", "--iv", "IV", "--strategy", "x", "a"], 64, "expected one of"),
            (["--key-file", "key", "--iv", "IV", "--chunk-size", "16MB", "a"], 64, "expected none"),
            (["--key-file", "key", "--iv", "IV", "--backend", "x", "a"], 64, "expected one of"),
            (
                ["--key-file", "key", "--iv", "IV", "--bind", "203.0.113.1", "--port", "0", "a"], 74,
                "203.0.113.1"
            ),
            (
                ["--key-file", "key", "--iv", "IV", "--record", "nothing/t.json", "a"], 74, "nothing/t.json"
            ),
        ] as [([String], Int32, String)])
    func failures(arguments: [String], status: Int32, text: String) throws {
        let iv = ServerProcess.hexadecimal(ServerProcess.iv)
        let folder = try Self.folder()
        let run = try CommandRun.run(
            Programs.chunkwise, ["serve"] + arguments.map { $0 == "IV" ? iv : $0 }, in: folder.path)
        #expect(run.status == status && run.output.isEmpty, "\(run.errorLines)")
        #expect(
            run.errorLines.count == 1 && run.errorLines.first?.contains(text) == true, "\(run.errorLines)"
        )
    }

    @Test("a port that is taken is said")
    func takenPort() throws {
        let folder = try Self.folder()
        let server = try ServerProcess(folder, ["--no-token", "a"])
        let options = ["--key-file", "key", "--iv", ServerProcess.hexadecimal(ServerProcess.iv)]
        let run = try CommandRun.run(
            Programs.chunkwise, ["serve"] + options + ["--port", "\(server.port)", "a"],
            in: folder.path)
        #expect(run.status == 74 && run.errorLines.count == 1)
        #expect(run.errorLines.first?.contains(":\(server.port)") == true)
    }

    @Test("what is asked of a server is recorded as a trace that measure replays")
    func recorded() throws {
        let folder = try Self.folder()
        let server = try ServerProcess(folder, ["--no-token", "--record", "t.json", "a"])
        for range in ["0-9", "990-", "-1"] { _ = try server.get("/a", ["Range: bytes=\(range)"]) }
        #expect(server.end() == 0)
        let run = try CommandRun.run(
            Programs.chunkwise,
            [
                "measure", "--workload", "trace:\(folder.path("t.json"))", "--object-size", "1000B",
                "--rounds", "1",
                "--milliseconds", "1", "--format", "json",
            ])
        #expect(
            run.status == 0 && run.text.contains("\"workload\": \"trace:t\"") && run.text.contains("\"stallCount\""),
            "\(run.errorLines) \(run.text)")
        #expect(
            try CommandRun.run(
                Programs.chunkwise, ["measure", "--workload", "trace:\(folder.path("nothing.json"))"]
            )
            .status == 66)
    }
}
