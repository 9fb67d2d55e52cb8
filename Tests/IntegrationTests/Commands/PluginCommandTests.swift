import Foundation
import Support
import TestSupport
import Testing

/// Plug-ins that are compiled from C here.
private struct Library {
    let folder: TemporaryFolder
    let path: String

    /// Compiles a file of the project.
    init(_ source: String, _ options: [String] = []) throws {
        folder = try TemporaryFolder()
        path = folder.path("plugin.so")
        let run = try CommandRun.run(
            "/usr/bin/env",
            ["cc", "-O2", "-fPIC", "-shared", "-I", Project.path("include")] + options
                + [Project.path(source), "-o", path, "-lcrypto"])
        try #require(run.status == 0, "\(run.errorLines)")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    }

    /// The C file of many faults.
    init(fault: String) throws {
        try self.init("Tests/Plugins/faulty.c", ["-DFAULT=\(fault)"])
    }

    /// Known answers of the plug-in: `passed`, `failed`, and the reasons of its failures.
    func verify(_ more: [String] = []) throws -> (run: CommandRun, passed: UInt64, reasons: String) {
        let run = try Chunkwise.run(
            ["verify", "--plugin", path, "--vectors", Project.path("data/vectors/sp800-38a.json"), "--format", "json"]
                + more)
        let subject = JSONValue.parse(run.output)?["subjects"]?.array?.first
        let reasons = (subject?["failures"]?.array ?? []).compactMap { $0["reason"]?.string }
        return (run, subject?["passed"]?.integer ?? 0, reasons.joined(separator: "\n"))
    }
}

@Suite("plug-ins")
struct PluginCommandTests {
    @Test("a plug-in without a fault passes; its version, digest and libraries are known, and errors have the first")
    func control() throws {
        let library = try Library("Examples/plugins/c/openssl_plugin.c")
        let (run, passed, reasons) = try library.verify()
        #expect(run.status == 0 && passed > 500 && reasons.isEmpty, "\(run.errorLines) \(reasons)")
        let requests = [
            #"{"op":"hello","protocol":1}"#,
            #"{"op":"open","id":1,"strategy":"chunk-nonce-ct-tag","aead":"chacha20-poly1305","chunkByteCount":64,"#
                + #""associatedData":"none","dataOffset":0,"key":"\#(String(repeating: "0", count: 64))","#
                + #""source":{"path":"\#(library.path)"}}"#,
        ]
        let hello = try CommandRun.run(
            Programs.built("chunkwise-subject"), ["--plugin", library.path],
            input: requests.flatMap { Array($0.utf8) + [0x0A] })
        let digest = Hexadecimal.encode(SHAFunction.sha256.hash(library.folder.bytes("plugin.so") ?? []))
        #expect(hello.text.contains("sha256 \(digest)") && hello.text.contains("libcrypto.so"), "\(hello.text)")
        let refusal = try #require(hello.text.split(separator: "\n").last)
        #expect(refusal.contains("chacha20-poly1305 in plugin:libcrypto ") && !refusal.contains("sha256"), "\(refusal)")
    }

    @Test(
        "what a library does to memory, or to its process, fails vectors and is named",
        arguments: [
            ("writes_behind", "touched memory behind the end of its output buffer"),
            ("writes_before", "wrote to bytes before its output buffer"), ("crashes", "plug-in's decrypt"),
            ("exits", "called exit"), ("aborts", "called abort"),
            ("maps_cut_file", "behind the end of a file"), ("returns_77", "returned 77"),
            ("reader_overflows", "touched memory behind the end of its output buffer"),
            ("reader_says_more", "it says that it delivered"), ("reader_says_most", "it says that it delivered"),
            ("keeps_iv", "expected"), ("writes_behind_iv", "behind the end of its IV, counter or nonce"),
            ("writes_counter", "it wrote to its IV, counter or nonce"), ("writes_key", "key wrote to its input"),
            ("reads_behind_key", "key touched memory behind the end of its input"),
            ("reader_writes_key", "open wrote to its input"),
            ("reader_reads_behind_key", "open touched memory behind the end of its input"),
        ])
    func faults(fault: String, reason: String) throws {
        let library = try Library(fault: fault)
        let (run, _, reasons) = try library.verify()
        #expect(run.status == 1 && reasons.contains(reason), "\(fault): \(run.status) \(run.errorLines) \(reasons)")
    }

    @Test("a library that crashes in each read has no adapter that is at fault")
    func adapter() throws {
        let library = try Library(fault: "crashes")
        let run = try Chunkwise.run(
            ["verify", "--plugin", library.path, "--vectors", Project.path("data/vectors/sp800-38a.json")])
        #expect(
            run.status == 1 && !String(decoding: run.output, as: UTF8.self).contains("ADAPTER"), "\(run.errorLines)")
    }

    @Test(
        "a library that ends the process is no survivor of injected faults, and no pass",
        arguments: [("exits", "called exit"), ("prints_and_exits", "called exit"), ("crashes", "plug-in's decrypt")])
    func injectedFaults(fault: String, reason: String) throws {
        let library = try Library(fault: fault)
        Chunkwise.expectFailure(
            try Chunkwise.run(["verify", "mutants", "--plugin", library.path]), 1, reason, fault)
    }

    @Test(
        "what a library prints is no answer, and one that does nothing wrong passes",
        arguments: ["prints", "none", "reader_none"])
    func harmless(fault: String) throws {
        let library = try Library(fault: fault)
        let (run, passed, reasons) = try library.verify()
        #expect(run.status == 0 && passed > 0, "\(reasons)")
    }

    @Test(
        "what cannot be loaded is an error with what was expected, and no verdict",
        arguments: [
            ("abi_2", "ABI 2"), ("size_8", "8 bytes"), ("null_table", "no table"), ("no_name", "no name"),
            ("no_functions", "neither level"), ("only_key", "no cipher"),
            ("nonces_of_none", "13 to 12 bytes"),
        ])
    func tables(fault: String, word: String) throws {
        let library = try Library(fault: fault)
        let run = try Chunkwise.run(["verify", "--plugin", library.path])
        Chunkwise.expectFailure(run, 65, word, fault)
        withExtendedLifetime(library) {}
    }

    @Test("files that are not there, are relative, or that others may write to are refused by each command")
    func files() throws {
        let library = try Library("Examples/plugins/c/openssl_plugin.c")
        let cases: [(String, Int32, String)] = [
            ("/none/plugin.so", 66, "/none/plugin.so"), ("plugin.so", 65, "absolute"),
            (library.path, 65, "others may write"),
        ]
        try FileManager.default.setAttributes([.posixPermissions: 0o775], ofItemAtPath: library.path)
        for (path, status, word) in cases {
            Chunkwise.expectFailure(try Chunkwise.run(["verify", "--plugin", path]), status, word, path)
            Chunkwise.expectFailure(try Chunkwise.run(["measure", "--plugin", path]), status, word, path)
        }
    }

    private static let fewVectors = ["--vectors", Project.path("data/vectors/sp800-38a.json")]

    @Test("a link leads to its end")
    func links() throws {
        let library = try Library("Examples/plugins/c/openssl_plugin.c")
        try FileManager.default.createSymbolicLink(
            atPath: library.folder.path("link.so"), withDestinationPath: "plugin.so")
        let link = try Chunkwise.run(["verify", "--plugin", library.folder.path("link.so")] + Self.fewVectors)
        #expect(link.status == 0, "\(link.errorLines)")
    }

    @Test(
        "a folder of another user is refused, though others cannot write to it",
        .enabled(if: geteuid() == 0, "only the superuser can give a folder away"))
    func folders() throws {
        let library = try Library("Examples/plugins/c/openssl_plugin.c")
        for permissions in ["0755", "1777"] {
            let status = try CommandRun.run(
                "/bin/sh", ["-c", "chown 12345 . && chmod \(permissions) ."], in: library.folder.path
            ).status
            #expect(status == 0)
            let run = try Chunkwise.run(["verify", "--plugin", library.path] + Self.fewVectors)
            Chunkwise.expectFailure(run, 65, "belongs to user 12345", permissions)
        }
    }

    @Test("a plug-in is measured by itself and in a plan, beside backends")
    func measured() throws {
        let library = try Library("Examples/plugins/c/openssl_plugin.c")
        try library.folder.file(
            "plan.yml",
            "{rounds: 1, time: 1us, object-size: 64KiB, cells: [{backend: openssl, strategy: cbc-continuous, window: 4KiB}]}"
        )
        let run = try Chunkwise.run(
            ["sweep", "--plan", "plan.yml", "--output", "run", "--plugin", library.path], in: library.folder.path)
        #expect(run.status == 0, "\(run.errorLines)")
        let text = String(decoding: library.folder.bytes("run/results.jsonl") ?? [], as: UTF8.self)
        #expect(text.contains(#""backend":"plugin:\#(library.path)""#) && text.contains("sha256 "))
        let measure = try Chunkwise.run(
            [
                "measure", "--plugin", library.path, "--object-size", "64KiB", "--rounds", "1", "--milliseconds", "1",
                "--format", "json",
            ])
        #expect(JSONValue.parse(measure.output)?["status"]?.string == "measured", "\(measure.errorLines)")
    }

    @Test("a provider's own ciphers answer, and one without any is an error")
    func providers() throws {
        let vectors = ["--vectors", Project.path("data/vectors/sp800-38a.json")]
        let run = try Chunkwise.run(["verify", "--backend", "openssl:provider=default"] + vectors)
        #expect(run.status == 0 && run.text.contains("openssl:provider=default"), "\(run.errorLines)")
        for name in ["legacy", "none-such", "../x"] {
            let run = try Chunkwise.run(["verify", "--backend", "openssl:provider=\(name)"] + vectors)
            #expect(
                [2, 64].contains(run.status) && run.errorLines.last?.contains("expected") == true, "\(run.errorLines)")
        }
    }

    @Test("a provider of others passes what it has, and fails by its injected fault", arguments: [false, true])
    func injectedProvider(isFaulty: Bool) throws {
        let library = try Library("Tests/Plugins/provider.c", isFaulty ? ["-DFAULT"] : [])
        try FileManager.default.moveItem(atPath: library.path, toPath: library.folder.path("injected.so"))
        let run = try CommandRun.run(
            Programs.chunkwise,
            [
                "verify", "--backend", "openssl:provider=injected", "--vectors",
                Project.path("data/vectors/sp800-38a.json"), "--format", "json",
            ], environment: ["OPENSSL_MODULES": library.folder.path])
        let subject = JSONValue.parse(run.output)?["subjects"]?.array?.first
        #expect(run.status == (isFaulty ? 1 : 0), "\(run.errorLines)")
        #expect(subject?["passed"]?.integer ?? 0 > 300 && subject?["unsupported"]?.integer ?? 0 > 0)
        #expect(subject?["version"]?.string?.contains("provider injected 7") == true)
    }

    @Test("a new plug-in compiles, loads, and passes nothing", arguments: ["c", "rust", "swift"])
    func scaffold(language: String) throws {
        let folder = try TemporaryFolder()
        let run = try Chunkwise.run(["plugin", "new", "mine", "--language", language], in: folder.path)
        #expect(run.status == 0, "\(run.errorLines)")
        if language != "rust" {
            #expect(
                folder.bytes("mine/chunkwise_plugin.h").map { Data($0) }
                    == (try? Data(contentsOf: URL(filePath: Project.path("include/chunkwise_plugin.h")))))
        }
        Chunkwise.expectFailure(
            try Chunkwise.run(["plugin", "new", "mine", "--language", language], in: folder.path), 64, "new folder")
        // Only what every machine of these tests has.
        guard language == "c" else { return }
        #expect(try CommandRun.run("/usr/bin/env", ["make", "-s", "-C", "mine"], in: folder.path).status == 0)
        let verified = try Chunkwise.run(
            [
                "verify", "--plugin", folder.path("mine/mine.so"), "--vectors",
                Project.path("data/vectors/sp800-38a.json"), "--format", "json",
            ])
        let subject = JSONValue.parse(verified.output)?["subjects"]?.array?.first
        #expect(verified.status == 1 && subject?["failed"]?.integer ?? 0 > 100, "\(verified.errorLines)")
    }
}
