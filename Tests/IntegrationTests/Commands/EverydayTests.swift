import Foundation
import TestSupport
import Testing

@Suite("what people type")
struct EverydayTests {
    @Test(
        "a mistyped command is refused, with the one that was meant",
        arguments: [
            (["mesure"], "measure?"), (["verfiy", "--backend", "openssl"], "verify?"),
            (["help", "foo"], "unknown command"),
            (["help", "measrue"], "measure?"), (["keys", "scenario"], "scenarios?"), (["vectors", "gen"], "generate?"),
            (["foo"], "unknown command"), (["key-srver"], "key-server?"),
        ])
    func mistyped(arguments: [String], meant: String) throws {
        Chunkwise.expectFailure(try Chunkwise.run(arguments), 64, meant, "\(arguments)")
    }

    @Test(
        "help of a command, of the root and of a group is help",
        arguments: [["help", "measure"], ["help"], [], ["keys", "--help"], ["help", "keys", "load"], ["--help"]])
    func help(arguments: [String]) throws {
        let run = try Chunkwise.run(arguments)
        #expect(run.status == 0 && run.errorLines.isEmpty && run.text.contains("USAGE: chunkwise"), "\(run.errorLines)")
    }

    @Test(
        "a subcommand takes its own options only, and help shows them",
        arguments: [
            (["verify", "mutants"], "--only"), (["verify", "tamper"], "--mutants"),
            (["verify", "search"], "--threads"),
            (["verify", "memory"], "--strategy"), (["verify", "constant-time"], "--subject"),
            (["verify", "interop"], "--vectors"), (["report", "compare"], "--history"),
            (["report", "history"], "--commit"), (["gate", "self-test"], "--candidate"),
        ])
    func subcommands(words: [String], other: String) throws {
        let name = words.joined(separator: " ")
        for arguments in [words + ["--help"], ["help"] + words] {
            let help = try Chunkwise.run(arguments)
            #expect(help.status == 0 && help.text.contains("USAGE: chunkwise \(name)"), "\(arguments)")
            #expect(!help.text.contains("  \(other)") && help.text.split(separator: "\n").count < 60)
        }
        Chunkwise.expectFailure(
            try Chunkwise.run(words + [other, "x", "y"]), 64, "unknown option \(other): expected", "\(words)")
    }

    @Test(
        "options before a subcommand are refused",
        arguments: [["verify", "--threads", "2", "tamper"], ["gate", "--seconds", "2", "self-test"]])
    func optionsBefore(arguments: [String]) throws {
        Chunkwise.expectFailure(try Chunkwise.run(arguments), 64, "expected them after it")
    }

    @Test("help of a command with subcommands fits a screen or two", arguments: ["verify", "report", "gate"])
    func screens(name: String) throws {
        let help = try CommandRun.run("/usr/bin/env", ["COLUMNS=80", Programs.chunkwise, name, "--help"])
        #expect(help.text.split(separator: "\n", omittingEmptySubsequences: false).count <= 60)
    }

    @Test("a memory budget without a unit is refused")
    func unit() throws {
        Chunkwise.expectFailure(try Chunkwise.run(["recommend", "nothing", "--memory", "64"]), 64, "64KiB")
        // With one, what is missing is the result.
        Chunkwise.expectFailure(try Chunkwise.run(["recommend", "nothing", "--memory", "64MiB"]), 66, "nothing")
    }

    @Test("a bandwidth in bits is the one in bytes", arguments: [["8Gbit/s"], ["1GB/s"]])
    func bandwidth(_ rate: [String]) throws {
        let run = try Chunkwise.run(
            [
                "measure", "--backend", "openssl", "--object-size", "64KiB", "--rounds", "1", "--milliseconds", "1",
                "--format", "json", "--bandwidth",
            ] + rate)
        #expect(run.status == 0 && run.text.contains("1000000000"), "\(run.errorLines) \(run.text)")
    }

    @Test("decrypt does not replace its input, by whatever name", arguments: ["f", "./f", "link"])
    func sameFile(name: String) throws {
        let folder = try TemporaryFolder()
        try folder.file("plain", Samples.bytes(1000))
        #expect(try Chunkwise.convert("encrypt", folder, ["plain", "f"]).status == 0)
        try FileManager.default.createSymbolicLink(atPath: folder.path("link"), withDestinationPath: folder.path("f"))
        let before = folder.bytes("f")
        Chunkwise.expectFailure(try Chunkwise.convert("decrypt", folder, ["f", name]), 64, "is the input")
        #expect(folder.bytes("f") == before)
    }

    @Test("no file that is read is replaced: the key, the IV, the description, the results")
    func filesThatAreRead() throws {
        let folder = try TemporaryFolder()
        try folder.file("plain", Samples.bytes(1000))
        try folder.file("mine.yml", try Chunkwise.run(["format", "new", "mine"]).text)
        try folder.file("long", String(repeating: "7", count: 64) + "\n", isSecret: true)
        #expect(try Chunkwise.convert("encrypt", folder, ["plain", "f"]).status == 0)
        try folder.file("f.iv", Chunkwise.ivHex + "\n")
        let mine = ["--key-file", "long", "--strategy", "./mine.yml"]
        #expect(try Chunkwise.run(["encrypt"] + mine + ["plain", "m"], in: folder.path).status == 0)
        let names = ["key", "long", "f.iv", "mine.yml"]
        let before = names.map(folder.bytes)
        for (command, name, words) in [
            ("encrypt", "plain", "is the key"), ("decrypt", "f", "is the key"),
        ] {
            Chunkwise.expectFailure(try Chunkwise.convert(command, folder, [name, "key"]), 64, words)
        }
        Chunkwise.expectFailure(try Chunkwise.convert("decrypt", folder, ["f", "f.iv"]), 64, "is the input's IV")
        for (command, name) in [("encrypt", "plain"), ("decrypt", "m")] {
            let run = try Chunkwise.run([command] + mine + [name, "mine.yml"], in: folder.path)
            Chunkwise.expectFailure(run, 64, "is the description")
        }
        #expect(names.map(folder.bytes) == before)
        try FileManager.default.createDirectory(atPath: folder.path("run"), withIntermediateDirectories: false)
        let results = try ResultFixture.file()
        try folder.file("run/results.jsonl", results)
        for report in ["run --format csv", "compare run run --format json", "history . --format json"] {
            let arguments = ["report"] + report.split(separator: " ").map(String.init)
            let run = try Chunkwise.run(arguments + ["--output", "run/results.jsonl"], in: folder.path)
            Chunkwise.expectFailure(run, 64, "is a result")
        }
        #expect(folder.bytes("run/results.jsonl") == results)
    }

    @Test("an IV of no bytes has no file")
    func emptyIV() throws {
        let folder = try TemporaryFolder()
        for count in [0, 5, 16, 500] {
            try folder.file("plain", Samples.bytes(count))
            try folder.file("long", String(repeating: "75", count: 32) + "\n", isSecret: true)
            let mega = ["--key-file", "long", "--strategy", "mega"]
            #expect(try Chunkwise.run(["encrypt"] + mega + ["plain", "sealed"], in: folder.path).status == 0)
            #expect(folder.bytes("sealed.iv") == nil)
            let run = try Chunkwise.run(["decrypt"] + mega + ["sealed", "-"], in: folder.path)
            #expect(run.status == 0 && run.output == Samples.bytes(count), "\(count): \(run.errorLines)")
        }
    }

    @Test("encrypt reads a pipe", arguments: [0, 1, 100_000])
    func pipe(count: Int) throws {
        let folder = try TemporaryFolder()
        try folder.file("plain", Samples.bytes(count))
        try folder.file("key", Chunkwise.keyHex + "\n", isSecret: true)
        let line = "cat plain | '\(Programs.chunkwise)' encrypt --key-file key --iv \(Chunkwise.ivHex) - sealed"
        let run = try CommandRun.run("/usr/bin/env", ["sh", "-c", line], in: folder.path)
        #expect(run.status == 0, "\(run.errorLines)")
        #expect(try Chunkwise.convert("decrypt", folder, ["sealed", "-"]).output == Samples.bytes(count))
    }

    @Test("every example of a command's help is one line or goes on with a backslash")
    func examples() throws {
        let text = try CommandRun.run("/usr/bin/env", ["COLUMNS=80", Programs.chunkwise, "help", "sweep"]).text
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(text.contains("https://example.org/film.enc --key-file k\n"))
        let examples = lines.drop { $0 != "EXAMPLES" }.dropFirst().prefix { $0 != "" }
        for (line, next) in zip(examples, examples.dropFirst()) {
            #expect(next.hasPrefix("      ") == line.hasSuffix(" \\"), "\(line)")
        }
    }
}
