import Foundation
import Support
import TestSupport
import Testing

@Suite(
    "commands over objects on servers",
    .enabled(if: Peers.areThere, "nginx, openssl, or python3 with cryptography is not installed"), .serialized)
struct ServedCommandTests {
    private static let program = Programs.chunkwise
    private static let vectorFile = Project.path("data/vectors/sp800-38a.json")
    private static let small = [
        "--object-size", "256KiB", "--rounds", "1", "--milliseconds", "1", "--backend", "openssl",
    ]

    @Test("decrypt reads a URL like a file", arguments: [false, true])
    func decrypt(hasTLS: Bool) throws {
        let site = try SealedSite(hasTLS: hasTLS)
        let trust = hasTLS ? ["--ca-file", site.peer.rootPath] : []
        let output = site.peer.folder.path("out")
        let whole = try CommandRun.run(Self.program, ["decrypt"] + site.options + trust + [site.url, output])
        #expect(whole.status == 0, "\(whole.errorLines)")
        #expect(Samples.difference(site.peer.folder.bytes("out") ?? [], site.plaintext) == nil)
        let part = try CommandRun.run(
            Self.program,
            ["decrypt"] + site.options + trust + ["--range", "70001-70100", "--source", site.url, output])
        #expect(part.status == 0, "\(part.errorLines)")
        #expect(site.peer.folder.bytes("out") == Array(site.plaintext[70_001...70_100]))
    }

    @Test("what is given up is said with the result, and with the failure")
    func loudness() throws {
        let site = try SealedSite(hasTLS: true, certificate: "selfSigned")
        let measure = ["measure", "--source", site.url, "--rounds", "1", "--milliseconds", "1"] + site.options
        let refused = try CommandRun.run(Self.program, measure + ["--allow-expired"])
        #expect(refused.status == 74)
        #expect(refused.errorLines.contains { $0.contains("warning") && $0.contains("--allow-expired") })
        #expect(refused.errorLines.last?.contains("selfSigned") == true, "\(refused.errorLines)")
        let text = try CommandRun.run(Self.program, measure + ["--allow-any-root"])
        #expect(text.status == 0, "\(text.errorLines)")
        #expect(text.text.contains("warning: TLS with --allow-any-root"), "\(text.text)")
        #expect(text.text.contains("https (--allow-any-root)"), "\(text.text)")
        let json = try CommandRun.run(Self.program, measure + ["--allow-any-root", "--format", "json"])
        let found = try #require(JSONValue.parse(json.output))
        #expect(found["source"]?.string == "https (--allow-any-root)")
        #expect(found["tlsAllowances"]?.array?.compactMap(\.string) == ["--allow-any-root"])
        let safe = try CommandRun.run(
            Self.program, measure + ["--ca-file", site.peer.folder.path("selfSigned.pem"), "--format", "json"])
        let safely = try #require(JSONValue.parse(safe.output), "\(safe.errorLines)")
        #expect(safely["source"]?.string == "https")
        #expect(safely["tlsAllowances"] == nil)
    }

    @Test(
        "what cannot be read is refused without its password and its query",
        arguments: [
            ["decrypt", "--strategy", "hls-aes128", "https://us:hidden@localhost/list.m3u8?t=hidden", "out"],
            ["decrypt", "ftp://us:hidden@localhost/x?t=hidden", "out"],
            ["decrypt", "https:/us:hidden@localhost/x", "out"],
            ["measure", "--input", "http://us:hidden@localhost/x?t=hidden"],
            ["sweep", "--plan", "p", "--output", "o", "--input", "http://us:hidden@localhost/x?t=hidden"],
            ["verify", "--source", "https://us:hidden@localhost/x"],
            ["verify", "--source", "http://localhost/x?t=hidden"],
            ["verify", "--source", "http://localhost/x/#hidden"],
            ["tls-check", "us:hidden@localhost:443"], ["tls-check", "https://us:hidden@localhost/x"],
        ])
    func hidden(arguments: [String]) throws {
        let run = try CommandRun.run(Self.program, arguments)
        #expect(run.status == 64, "\(run.errorLines)")
        #expect(!run.errorLines.joined().contains("hidden") && !run.text.contains("hidden"), "\(run.errorLines)")
        #expect(run.errorLines.last?.contains("expected") == true, "\(run.errorLines)")
    }

    @Test("sweep measures all cells of a plan on an object on a server, and on the same file")
    func sweepOwnObject() throws {
        let site = try SealedSite(hasTLS: true)
        let folder = try TemporaryFolder()
        let plan = try folder.file(
            "plan.yml",
            """
            rounds: 1
            time: 1ms
            cells:
              - backend: openssl
                read-ahead: 0
                window: [64KiB, 256KiB]
              - backend: openssl
                reuse: no
                workload: random:4KiB
                reads: 8
            """)
        let sweep = ["sweep", "--plan", plan, "--output", folder.path("results")] + site.options
        let run = try CommandRun.run(
            Self.program,
            sweep + [
                "--ca-file", site.peer.rootPath, "--source", "HTTPS" + site.url.dropFirst(5) + "?token=hidden-part",
            ])
        #expect(run.status == 0, "\(run.errorLines)")
        let results = String(decoding: folder.bytes("results/results.jsonl") ?? [], as: UTF8.self)
        #expect(results.contains("https (--read-ahead 0)") && results.contains("https (--no-reuse)"))
        #expect(!results.contains("hidden-part") && results.contains("\"digest\""))
        let untrusted = try CommandRun.run(Self.program, sweep + ["--source", site.url])
        #expect(untrusted.status == 74 && untrusted.errorLines.last?.contains("incompleteChain") == true)
        let two = try CommandRun.run(Self.program, sweep + ["--source", site.url, "--input", plan])
        #expect(two.status == 64)
        let none = try CommandRun.run(Self.program, sweep)
        #expect(none.status == 64 && none.errorLines.last?.contains("--input or --source") == true)
        let local = try CommandRun.run(Self.program, sweep + ["--source", "https"])
        #expect(local.status == 64 && local.errorLines.last?.contains("expected a URL") == true)
    }

    @Test("measure and sweep start a server of their own", arguments: ["http", "https"])
    func loopback(source: String) throws {
        let run = try CommandRun.run(
            Self.program, ["measure", "--source", source, "--no-reuse", "--format", "json"] + Self.small)
        let found = try #require(JSONValue.parse(run.output), "\(run.errorLines)")
        #expect(run.status == 0)
        #expect(found["source"]?.string == "\(source) (--no-reuse)")
        #expect(found["digest"]?.string?.count == 64)
        let folder = try TemporaryFolder()
        let plan = try folder.file(
            "plan.yml",
            """
            seed: 1
            rounds: 1
            time: 1ms
            object-size: 256KiB
            cells:
              - backend: openssl
                source: \(source)
                read-ahead: 0
                workload: [sequential, random:4KiB]
                reads: 8
              - backend: openssl
            """)
        let sweep = try CommandRun.run(
            Self.program, ["sweep", "--plan", plan, "--output", folder.path("results")])
        #expect(sweep.status == 0, "\(sweep.errorLines)")
        let table = String(decoding: folder.bytes("results/results.csv") ?? [], as: UTF8.self)
        #expect(
            table.split(whereSeparator: \.isNewline).count { $0.contains("\(source) (--read-ahead 0)") } == 2,
            "\(table)")
    }

    @Test("vectors are read over a server of their own", arguments: ["http", "https"])
    func vectors(source: String) throws {
        let vectors = Self.vectorFile
        let run = try CommandRun.run(
            Self.program,
            ["verify", "--source", source, "--backend", "openssl", "--vectors", vectors, "--format", "json"])
        let found = try #require(JSONValue.parse(run.output), "\(run.errorLines)")
        #expect(run.status == 0)
        #expect(found["source"]?.string == source)
        #expect(found["failed"]?.integer == 0)
        #expect((found["passed"]?.integer ?? 0) > 50)
    }

    @Test("vectors are read from a folder on a server, and a wrong one is noticed")
    func vectorsFolder() throws {
        let site = try SealedSite(hasTLS: false)
        let folder = site.peer.folder.path("served")
        let written = try CommandRun.run(
            Self.program, ["vectors", "objects", "--output", folder, "--vectors", Self.vectorFile])
        #expect(written.status == 0, "\(written.errorLines)")
        let url = site.url.replacing("/object", with: "")
        func verify() throws -> CommandRun {
            try CommandRun.run(
                Self.program,
                ["verify", "--source", url, "--backend", "openssl", "--vectors", Self.vectorFile, "--format", "json"])
        }
        #expect(try verify().status == 0)
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) where name.hasSuffix(".bin") {
            var bytes = site.peer.folder.bytes("served/\(name)") ?? []
            guard !bytes.isEmpty, bytes.count < 100 else { continue }
            bytes[0] ^= 1
            try site.peer.folder.file("served/\(name)", bytes)
        }
        #expect(try verify().status == 1)
        let nowhere = try CommandRun.run(
            Self.program,
            ["verify", "--source", url + "/nowhere", "--backend", "openssl", "--vectors", Self.vectorFile])
        #expect(nowhere.status == 66, "\(nowhere.errorLines)")
        #expect(nowhere.errorLines.last?.contains("vectors objects") == true, "\(nowhere.errorLines)")
    }

    @Test(
        "a token that others can read is a warning, and an error with --strict",
        arguments: [
            ["chunkwise", "decrypt", "--key-file", "key", "--iv", "IV", "--token-file", "token", "URL", "out"],
            ["chunkwise", "measure", "--key-file", "key", "--iv", "IV", "--token-file", "token", "--source", "URL"],
            ["chunkwise", "verify", "--vectors", "VECTORS", "--token-file", "token", "--source", "URL"],
            ["chunkwise", "keys", "fetch", "--seconds", "1", "--token-file", "token", "--server", "URL", "uri"],
        ])
    func openToken(_ command: [String]) throws {
        let folder = try TemporaryFolder()
        try folder.file("key", Samples.bytes(16), isSecret: true)
        try folder.file("token", "secret\n")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: folder.path("token"))
        let words = [
            "URL": "http://127.0.0.1:\(PeerProcess.freePort())/x", "IV": String(repeating: "1", count: 32),
            "VECTORS": Self.vectorFile,
        ]
        let arguments = command.dropFirst().map { words[$0] ?? $0 }
        let strict = try CommandRun.run(Programs.built(command[0]), arguments + ["--strict"], in: folder.path)
        #expect(strict.status == 65, "\(strict.errorLines)")
        let refusal = "token file token is open to others (permissions 644): expected 600"
        #expect(strict.errorLines.last?.hasSuffix(refusal) == true, "\(strict.errorLines)")
        guard command[2] != "fetch" else { return }
        let run = try CommandRun.run(Programs.built(command[0]), arguments, in: folder.path)
        // There is no listener to take it.
        #expect(run.status == 74, "\(run.errorLines)")
        let warning = "chunkwise: warning: token file token can be read by others (permissions 644): expected 600"
        #expect(run.errorLines.filter { $0 == warning }.count == 1, "\(run.errorLines)")
        #expect(!run.errorLines.joined().contains("secret"))
    }

    @Test("a folder on a server that cannot be reached is asked for a few vectors, and then for none")
    func unreachableFolder() throws {
        let run = try CommandRun.run(
            Self.program,
            [
                "verify", "--source", "http://127.0.0.1:\(PeerProcess.freePort())/vectors", "--backend", "openssl",
                "--vectors", Self.vectorFile,
            ])
        #expect(run.status == 74, "\(run.errorLines)")
        #expect(run.text.isEmpty, "\(run.text.prefix(300))")
        #expect(run.errorLines.count == 1, "\(run.errorLines)")
        #expect(run.errorLines.last?.contains("3 requests in a row") == true, "\(run.errorLines)")
        #expect(run.errorLines.last?.contains("unreachable") == true, "\(run.errorLines)")
    }

    @Test(
        "what cannot be is said before anything is asked",
        arguments: [
            (["decrypt", "--key-hex", "KEY", "--iv", "IV", "http://h/x", "out", "--allow-any-root"], "only with"),
            (["decrypt", "--key-hex", "KEY", "--iv", "IV", "file", "out", "--ca-file", "x"], "only with"),
            (["decrypt", "--key-hex", "KEY", "--iv", "IV", "--source", "http://h/x", "a", "b"], "one name"),
            (["decrypt", "--key-hex", "KEY", "--iv", "IV", "file"], "expected the encrypted"),
            (["decrypt", "--key-hex", "KEY", "--iv", "IV", "--source", "tape", "a", "b"], "mmap, pread or a URL"),
            (["decrypt", "--key-hex", "KEY", "--iv", "IV", "https://u:secret@h/x", "out"], "no password"),
            (["decrypt", "--key-hex", "KEY", "--iv", "IV", "https://h/x", "out", "--pin", "abc"], "sha256//"),
            (["decrypt", "--key-hex", "KEY", "--iv", "IV", "https://h/x", "o", "--read-ahead", "65"], "0 to 64"),
            (["decrypt", "--key-hex", "KEY", "--iv", "IV", "https://h/x", "o", "--deadline", "0"], "0.1 to 3600"),
            (["measure", "--source", "tape"], "or a URL"),
            (["measure", "--source", "https", "--ca-file", "x"], "only with"),
            (["measure", "--source", "https", "--cold"], "--source file"),
            (["measure", "--source", "https", "--strategy", "hls-aes128"], "file or generated"),
            (["measure", "--no-reuse"], "only with"),
            (["verify", "--source", "tape"], "http, https or a URL"),
            (["verify", "--source", "https", "--cpu-masks"], "one of them"),
            (["verify", "--ca-file", "x"], "only with"),
        ])
    func refused(_ arguments: [String], _ part: String) throws {
        let digits = ["KEY": String(repeating: "0", count: 32), "IV": String(repeating: "1", count: 32)]
        let filled = arguments.map { digits[$0] ?? $0 }
        let folder = try TemporaryFolder()
        let run = try CommandRun.run(Self.program, filled, in: folder.path)
        #expect(run.status == 64, "\(run.errorLines)")
        #expect(run.errorLines.last?.contains(part) == true, "\(run.errorLines)")
        #expect(!run.errorLines.joined().contains("secret"))
    }
}

/// A server with an encrypted object.
private struct SealedSite {
    let peer: MatrixPeer
    let url: String
    let plaintext: [UInt8]

    private static let key = "000102030405060708090a0b0c0d0e0f"
    private static let iv = "f0e0d0c0b0a090807060504030201000"

    init(hasTLS: Bool, certificate: String = "valid") throws {
        peer = try MatrixPeer(nginx: certificate, path: "object", hasTLS: hasTLS)
        url = "\(hasTLS ? "https" : "http")://localhost:\(peer.port)/object"
        plaintext = Samples.bytes(900_000)
        let plain = try peer.folder.file("plain", plaintext)
        let run = try CommandRun.run(
            Peers.openssl ?? "",
            [
                "enc", "-aes-128-cbc", "-K", Self.key, "-iv", Self.iv, "-in", plain, "-out",
                peer.folder.path("served/object"),
            ])
        guard run.status == 0 else { throw PeerFailure(run.errorLines.joined()) }
        try peer.folder.file("key", Self.key + "\n")
    }

    var options: [String] { ["--key-file", peer.folder.path("key"), "--iv", Self.iv] }
}
