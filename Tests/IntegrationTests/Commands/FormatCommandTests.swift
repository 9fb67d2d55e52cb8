import BackendRegistry
import Foundation
import RandomAccess
import Support
import TestSupport
import Testing

@Suite("descriptions on the command line")
struct FormatCommandTests {
    /// The description that `format new` writes.
    private static func started() throws -> String {
        let run = try Chunkwise.run(["format", "new", "mine"])
        try #require(run.status == 0 && run.errorLines.isEmpty, "\(run.errorLines)")
        return run.text
    }

    @Test("what format new writes is right, and is shown")
    func new() throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("mine.yml", Self.started())
        let check = try Chunkwise.run(["format", "check", path])
        #expect(
            check.status == 0 && check.errorLines.isEmpty && check.text.contains("a cut end"), "\(check.errorLines)")
        let run = try Chunkwise.run(["format", "show", path, "--format", "json"])
        let format = try #require(JSONValue.parse(run.output)?["formats"]?.array?.first)
        #expect(format["cipher"]?.string == "aes-gcm" && format["chunkByteCount"]?.integer == 65536)
        #expect(format["header"]?.array?.compactMap { $0["offset"]?.integer } == [0, 4])
        #expect(format["chunk"]?.array?.compactMap { $0["offset"]?.integer } == [0, 12, 65548])
        // Header, then nonce and tag for each of 16 chunks.
        let lengths = format["lengths"]?.array?.compactMap { $0["ciphertextByteCount"]?.integer }
        let expected: [UInt64] = [64, 65, 1_048_576 + 36 + 16 * 28]
        #expect(lengths.map { Array($0.prefix(3)) } == expected)
        for name in ["changedChunk", "movedChunk", "foreignChunk", "cutEnd"] {
            #expect(format["notices"]?[name] == true, "\(name)")
        }
    }

    @Test("lengths that a format refuses are left out: no multiples of its unit, more than its max length")
    func refusedLengths() throws {
        let folder = try TemporaryFolder()
        let rules = Self.sealed + "; key: key; nonce: be(i, 12); maxChunks: 2"
        let path = try folder.file("mine.yml", Self.description("mine", inputs: "key: 16", rules))
        let expected: [String: [UInt64]] = ["xts-sectors": [0, 1 << 20, 1 << 30], path: [0, 1]]
        for (format, expected) in expected {
            let run = try Chunkwise.run(["format", "show", format, "--format", "json"])
            let lengths = JSONValue.parse(run.output)?["formats"]?.array?.first?["lengths"]?.array ?? []
            #expect(lengths.compactMap { $0["plaintextByteCount"]?.integer } == expected, "\(format)")
        }
    }

    @Test("a description of the user's, and any known format, is measured, swept and planned")
    func measured() throws {
        let folder = try TemporaryFolder()
        try folder.file("mine.yml", Self.started())
        let quick = ["--object-size", "200KiB", "--rounds", "1", "--milliseconds", "1", "--format", "json"]
        for strategy in ["./mine.yml", "gocryptfs", "dare", "xts-sectors:sector=4KiB"] {
            let run = try Chunkwise.run(["measure", "--strategy", strategy] + quick, in: folder.path)
            #expect(run.status == 0, "\(strategy): \(run.errorLines)")
            let cell = try #require(JSONValue.parse(run.output))
            let text = try #require(cell["strategy"]?.string)
            #expect(strategy == "./mine.yml" ? text.hasPrefix("mine#") : text == strategy)
        }
        try folder.file(
            "plan.yml",
            "{rounds: 1, time: 1us, object-size: 200KiB, cells: [{backend: openssl, strategy: [./mine.yml, gocryptfs]}]}"
        )
        let sweep = try Chunkwise.run(
            ["sweep", "--plan", "plan.yml", "--output", "run"], in: folder.path)
        #expect(sweep.status == 0, "\(sweep.errorLines)")
        let advice = try Chunkwise.run(["recommend", "run", "--format", "json"], in: folder.path)
        #expect(JSONValue.parse(advice.output)?["choice"]?["strategy"]?.string?.hasPrefix("mine#") == true)
        let plan = try Chunkwise.run(
            ["plan", "--strategies", "./mine.yml,gocryptfs", "--integrity", "none", "--object-size", "1MiB"],
            in: folder.path)
        #expect(plan.status == 0 && plan.text.contains("mine#"), "\(plan.errorLines)")
    }

    @Test("known formats are listed, each is shown, and says what it does not notice")
    func known() throws {
        let run = try Chunkwise.run(["format", "list", "--format", "json"])
        let formats = JSONValue.parse(run.output)?["formats"]?.array ?? []
        let names = formats.compactMap { $0["name"]?.string }
        let dare = formats.first { $0["name"]?.string == "dare" }
        #expect(dare?["ciphers"] == ["aes-gcm", "chacha20-poly1305"])
        #expect(names.contains("ctr") && names.contains("cobblestone-256"))
        for name in names {
            let shown = try Chunkwise.run(["format", "show", name])
            #expect(shown.status == 0 && shown.text.contains("max chunks"), "\(name): \(shown.errorLines)")
            for line in shown.text.components(separatedBy: "\n") { #expect(line.count <= 80, "\(name): \(line)") }
        }
        #expect(try Chunkwise.run(["format", "show", "ctr"]).text.contains("is not noticed"))
    }

    @Test(
        "what format check accepts of the descriptions that come with the project",
        arguments: [
            "cobblestone", "cbc-chunked", "gocryptfs", "rclone-crypt", "dare", "xts-sectors", "tink-aes-gcm-hkdf",
        ])
    func own(name: String) throws {
        let run = try Chunkwise.run(["format", "check", Project.path("data/formats/\(name).yml")])
        #expect(run.status == 0, "\(run.errorLines)")
    }

    @Test(
        "what is wrong has its place and an exit code",
        arguments: [
            ("  cipher", "  ciper", "mine.yml:17:3: unknown member \"ciper\": expected \"cipher\"?"),
            ("salt: 32", "salt: x", "mine.yml:12:13: unknown name"),
            ("salt: 32", "salt: 1 << 62", "expected"), ("chunk: chunkByteCount", "chunk: 0", "at least 1 byte"),
            ("aes-gcm", "aes-gmc", "mine.yml:17:11"), ("inputs:", "inputs: [", "expected YAML"),
            ("- tag: 16", "- tag: 8", "tag of 8 bytes"), ("mine:", "\0", "expected YAML"),
        ])
    func wrong(_ good: String, _ bad: String, _ expected: String) throws {
        let folder = try TemporaryFolder()
        let text = try Self.started().replacing(good, with: bad, maxReplacements: 1)
        try folder.file("mine.yml", text)
        let run = try Chunkwise.run(["format", "check", "mine.yml"], in: folder.path)
        Chunkwise.expectFailure(run, 65, expected, bad)
    }

    private static func description(_ name: String, inputs: String, _ rules: String) -> String {
        """
        \(name):
          inputs: {\(inputs)}
          chunk: 64
          \(rules.split(separator: "; ").joined(separator: "\n  "))

        """
    }

    private static let sealed = "cipher: aes-gcm; layout: [data, {tag: 16}]"

    @Test("one of several descriptions in a file is named behind a #")
    func several() throws {
        let folder = try TemporaryFolder()
        let rules = Self.sealed + "; key: key; nonce: be(i, 12)"
        let text = ["one", "two"].map { Self.description($0, inputs: "key: 16", rules) }.joined()
        let path = try folder.file("both.yml", text)
        for command in ["check", "show"] {
            let all = try Chunkwise.run(["format", command, path])
            #expect(all.status == 0 && all.text.contains("one") && all.text.contains("two"), "\(all.errorLines)")
            let run = try Chunkwise.run(["format", command, path + "#two"])
            #expect(run.status == 0 && run.text.contains("two") && !run.text.contains("one:"), "\(run.errorLines)")
            Chunkwise.expectFailure(try Chunkwise.run(["format", command, path + "#three"]), 65, "no format \"three\"")
        }
    }

    @Test("parameters are shown as a strategy takes them, and so are holes, and what nothing checks")
    func shown() throws {
        let chunked = try Chunkwise.run(["format", "show", "tink-aes-gcm-hkdf"]).text
        #expect(chunked.contains("derived-key") && chunked.contains("4KiB") && !chunked.contains("ByteCount"))
        let holes = try Chunkwise.run(["format", "show", "gocryptfs"]).text
        #expect(holes.contains("reads as zeros"))
        let dare = try Chunkwise.run(["format", "show", "dare"]).text
        #expect(dare.contains("a writer takes aes-gcm") && dare.contains("openssl") && !dare.contains("not checked"))
        let folder = try TemporaryFolder()
        let rules = """
            header: [{spare: 4}, {salt: 16}, {size1: 2}]; cipher: aes-gcm; layout: [data, {tag: 16}]; key: key
            """
        let text = Self.description("mine", inputs: "key: 16", rules + "; nonce: slice(salt, 0, 8) ++ u32be(i)")
            .replacing("chunk: 64", with: "chunk: beInt(size1) + 1")
        let run = try Chunkwise.run(["format", "show", folder.file("mine.yml", text)])
        #expect(run.text.contains("not checked  ") && run.text.contains("  spare\n"), "\(run.text)")
        #expect(run.text.contains("told by the header"), "\(run.text)")
    }

    @Test(
        "a description that cannot be written or tried is worth a warning, one that cannot be read is wrong",
        arguments: [
            ("key: 16", "aad: u64be(count); key: key; nonce: be(i, 12)", 0, "does not know count"),
            ("key: 16", "key: key; nonce: be(size & 1, 1) ++ be(i, 11)", 0, "does not know size"),
            (
                "key: 16", "check: [{that: \"key == zeros(16)\", error: invalidKey}]; key: key; nonce: be(i, 12)", 0,
                "made up"
            ),
            (
                "key: 16", "header: [{l: 4}, {x: beInt(l)}]; key: key; nonce: be(i, 12)", 0,
                "expected \"usually\" for them"
            ),
            ("key: 16, a: {default: 1}, aByteCount: {default: 1}", "key: key; nonce: be(i, 12)", 65, "both written a"),
        ])
    func trials(inputs: String, rules: String, status: Int32, expected: String) throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("mine.yml", Self.description("mine", inputs: inputs, "\(Self.sealed); \(rules)"))
        let run = try Chunkwise.run(["format", "check", path])
        #expect(run.status == status, "\(run.errorLines)")
        #expect(run.errorLines.contains { $0.contains(expected) }, "\(run.errorLines)")
    }

    @Test("a page has the pitfalls of its format, apart from the injected faults, and a command that can be typed")
    func page() throws {
        func page(_ name: String) throws -> [String] {
            try Chunkwise.run(["format", "show", name, "--format", "markdown"]).text.components(separatedBy: "\n")
        }
        let lines = try page("crypt4gh")
        let first = try #require(lines.firstIndex(of: "## Known pitfalls"))
        let second = try #require(lines.firstIndex(of: "## Faults that the vectors inject"))
        #expect(first < second && lines[first..<second].contains { $0.contains("from byte 65536 on") })
        #expect(!lines[first..<second].contains { $0.contains("rclone") })
        #expect(lines[first..<second].contains("| known pitfall | what comes out | source |"))
        #expect(try page("hadoop-ctr").contains { $0.contains("--strategy hadoop-ctr:iv=IV ") })
        let run = try Chunkwise.run(["format", "show", "crypt4gh", "--format", "json"])
        let pitfalls = JSONValue.parse(run.output)?["formats"]?.array?.first?["pitfalls"]?.array ?? []
        #expect(pitfalls.contains { $0["seen"]?.string?.contains("crypt4gh 1.8.6") == true })
        #expect(try Chunkwise.run(["format", "show", "crypt4gh"]).text.contains("known pitfall"))
    }

    @Test("what would drive a terminal is not shown of a description")
    func control() throws {
        let folder = try TemporaryFolder()
        let text = Self.description(
            "mine", inputs: #"key: 16, mode: {oneOf: ["a\e[31mb", c], default: c}"#,
            Self.sealed + "; key: key; nonce: be(i, 12)")
        try folder.file("mine.yml", text)
        for arguments in [
            ["format", "show", "mine.yml"], ["format", "check", "mine.yml"], ["format", "check", "no\u{1B}ne.yml"],
            ["decrypt", "--strategy", "./mine.yml:mo\u{1B}de=c", "a", "b"],
            ["decrypt", "--strategy", "./mine.yml:mode=\u{9B}d", "a", "b"],
        ] {
            let run = try Chunkwise.run(arguments, in: folder.path)
            let all = run.text + run.errorLines.joined()
            #expect(!all.isEmpty && !all.unicodeScalars.contains { $0 == "\u{1B}" || $0 == "\u{9B}" }, "\(arguments)")
        }
    }

    @Test("a format's own lengths of keys and IVs are read, and errors name them")
    func lengths() throws {
        let folder = try TemporaryFolder()
        let mine = Self.description(
            "mine", inputs: "key: 16, iv: 12", "cipher: aes-ctr; key: key; nonce: iv ++ u32be(i * 4)")
        try folder.file("mine.yml", mine)
        try folder.file("plain", Samples.bytes(1000))
        try folder.file("key", Chunkwise.keyHex + "\n", isSecret: true)
        let options = ["--strategy", "./mine.yml", "--key-file", "key"]
        func run(_ arguments: [String]) throws -> CommandRun { try Chunkwise.run(arguments, in: folder.path) }
        let encrypted = try run(["encrypt"] + options + ["plain", "enc"])
        #expect(encrypted.status == 0, "\(encrypted.errorLines)")
        let digits = try #require(folder.bytes("enc.iv")).prefix { $0 != 0x20 }
        #expect(digits.count == 24)
        #expect(try run(["decrypt"] + options + ["enc", "-"]).output == Samples.bytes(1000))
        let iv = String(decoding: digits, as: UTF8.self)
        #expect(try run(["decrypt"] + options + ["--iv", iv, "enc", "-"]).output == Samples.bytes(1000))
        Chunkwise.expectFailure(try run(["decrypt"] + options + ["--iv", iv + "00", "enc", "-"]), 64, "expected 12")
        Chunkwise.expectFailure(try run(["decrypt"] + options + ["--iv", "x", "enc", "-"]), 64, "expected 24 digits")

        let sectors = ["--strategy", "xts-sectors", "--key-file", "long"]
        try folder.file("long", Samples.bytes(64), isSecret: true)
        try folder.file("plain", Samples.bytes(1024))
        let xts = try run(["encrypt"] + sectors + ["plain", "xts"])
        #expect(xts.status == 0, "\(xts.errorLines)")
        #expect(try run(["decrypt"] + sectors + ["xts", "-"]).output == Samples.bytes(1024))
        let short = ["--strategy", "xts-sectors", "--key-file", "key", "xts", "-"]
        Chunkwise.expectFailure(try run(["decrypt"] + short), 65, "expected 32 or 64 raw bytes")
    }

    @Test(
        "a backend is taken that has the cipher, and one that lacks it is refused with those that have it",
        .enabled(if: BackendRegistry.availableNames(having: .xSalsa20Poly1305).contains("sodium")))
    func backends() throws {
        let folder = try TemporaryFolder()
        try folder.file("key", Samples.bytes(32), isSecret: true)
        try folder.file("plain", Samples.bytes(1000))
        let options = ["--strategy", "rclone-crypt", "--key-file", "key"]
        let encrypted = try Chunkwise.run(["encrypt"] + options + ["plain", "enc"], in: folder.path)
        #expect(encrypted.status == 0, "\(encrypted.errorLines)")
        #expect(try Chunkwise.run(["decrypt"] + options + ["enc", "-"], in: folder.path).output == Samples.bytes(1000))
        let refused = try Chunkwise.run(["decrypt"] + options + ["--backend", "openssl", "enc", "-"], in: folder.path)
        let version = try BackendRegistry.backend(named: "openssl").version
        Chunkwise.expectFailure(
            refused, 64,
            "xsalsa20-poly1305 with a key of 32 bytes in openssl \(version): "
                + "expected --backend sodium, swift-reference or swift-bitsliced")
    }

    @Test("what is no description, and what is no format, are errors")
    func missing() throws {
        let folder = try TemporaryFolder()
        try folder.file("long.yml", String(repeating: "#", count: 70_000))
        Chunkwise.expectFailure(try Chunkwise.run(["format", "check", folder.path("long.yml")]), 65, "64 KiB")
        for path in [folder.path("none.yml"), folder.path, "/dev/zero"] {
            Chunkwise.expectFailure(try Chunkwise.run(["format", "check", path]), 66, "description")
        }
        Chunkwise.expectFailure(try Chunkwise.run(["format", "show", "cobblestne-256"]), 64, "cobblestone-256")
        Chunkwise.expectFailure(try Chunkwise.run(["format", "new", "Mine"]), 64, "a to z")
        Chunkwise.expectFailure(try Chunkwise.run(["format", "new", "ctr"]), 64, "known format")
    }
}
