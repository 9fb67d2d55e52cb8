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
        try folder.file("other", [UInt8](repeating: 7, count: 16), isSecret: true)
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
            (
                ["--key-file", "key", "--iv", "IV", "--strategy", "cbc-continuous:chunk=16MB", "a"], 64,
                "expected one of"
            ),
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

    @Test("that others on the network can read what is served is said", arguments: [true, false])
    func bindWarning(_ isOpen: Bool) throws {
        let folder = try Self.folder()
        let server = try ServerProcess(folder, ["a", "--bind", isOpen ? "0.0.0.0" : "127.1"])
        let status = try server.get("/\(server.token)/a").status
        #expect(status == 200)
        let warnings = server.errors.split(separator: "\n").filter { $0.contains("warning: --bind 0.0.0.0: ") }
        #expect(warnings.count == (isOpen ? 1 : 0), "\(server.errors)")
    }

    @Test("without a token, pages of other sites are refused; with one, the host does not matter")
    func otherSites() throws {
        let folder = try Self.folder()
        let server = try ServerProcess(folder, ["--no-token", "a"])
        func status(_ server: ServerProcess, _ host: String, _ fields: [String] = []) throws -> Int {
            let connection = try server.connect()
            let path = (server.token.isEmpty ? "" : "/" + server.token) + "/a"
            let head = ["GET \(path) HTTP/1.1", "Host: \(host)", "Connection: close"] + fields
            try connection.send(head.joined(separator: "\r\n") + "\r\n\r\n")
            return try connection.response().status
        }
        for host in ["127.0.0.1:\(server.port)", "localhost", "[::1]:80"] { #expect(try status(server, host) == 200) }
        for host in ["evil.example", "evil.example:\(server.port)", "127.0.0.1.evil.example"] {
            #expect(try status(server, host) == 403)
        }
        #expect(try status(server, "localhost", ["Origin: http://evil.example"]) == 403)
        #expect(try status(server, "localhost", ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"]) == 403)
        let closed = try ServerProcess(folder, ["a"])
        #expect(try status(closed, "films.example") == 200)
    }

    @Test("every answer keeps browsers from guessing types and from sending elsewhere what they read")
    func browserFields() throws {
        let server = try ServerProcess(try Self.folder(), ["--no-token", "a"])
        for (target, status) in [("/a", 200), ("/", 200), ("/none", 404), ("/%", 400)] {
            let answer = try server.get(target)
            #expect(answer.status == status && answer["x-content-type-options"] == "nosniff")
            #expect(answer["content-security-policy"]?.contains("default-src 'self'") == true, "\(target)")
        }
    }

    @Test("a page that is served runs no scripts, which could take the token elsewhere; the page of a folder may link")
    func pages() throws {
        let folder = try ServerProcess.makeFolder()
        try FileManager.default.createDirectory(atPath: folder.path("films"), withIntermediateDirectories: false)
        for name in ["a.html", "a.svg", "a.mp4"] { try ServerProcess.encrypt([1], to: "films/\(name)", in: folder) }
        let server = try ServerProcess(folder, ["--no-token", "films"])
        func policies(_ target: String) throws -> [String] {
            let connection = try server.connect()
            try connection.send("GET \(target) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            return String(decoding: connection.rest(), as: UTF8.self).split(separator: "\r\n")
                .compactMap { $0.hasPrefix("Content-Security-Policy: ") ? String($0.dropFirst(25)) : nil }
        }
        for target in ["/a.html", "/a.svg"] { #expect(try policies(target).contains("sandbox"), "\(target)") }
        for target in ["/a.mp4", "/"] { #expect(try !policies(target).contains("sandbox"), "\(target)") }
    }

    @Test("another key gives another tag, since a client puts parts together that have the same one")
    func tagOfKey() throws {
        let folder = try ServerProcess.makeFolder()
        // Decrypts to something with any key.
        try folder.file("a", Samples.bytes(1000))
        func tag() throws -> String? {
            try ServerProcess(folder, ["--no-token", "--strategy", "ctr", "a"]).get("/a")["etag"]
        }
        let first = try tag()
        #expect(try first != nil && tag() == first)
        try folder.file("key", [UInt8](repeating: 7, count: 16), isSecret: true)
        #expect(try tag() != first)
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
