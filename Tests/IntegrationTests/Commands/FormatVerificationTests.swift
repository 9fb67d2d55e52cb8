import Support
import TestSupport
import Testing

@Suite("verify --strategy")
struct FormatVerificationTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.file(
            "mine.yml",
            """
            mine:
              inputs: {key: 32, mark: {bytes: any, default: ""}}
              header: [{magic: {bytes: 2, is: x'4d31', error: invalidHeader}}, {salt: 16}]
              derive: [{fileKey: "hkdf('sha256', key, salt, mark, 32)"}]
              cipher: aes-gcm
              chunk: 4096
              layout: [data, {tag: 16}]
              key: fileKey
              nonce: u64be(i) ++ u32be(last)
            """)
    }

    private func run(_ arguments: [String]) throws -> CommandRun {
        try Chunkwise.run(["verify"] + arguments, in: folder.path)
    }

    @Test("a description's vectors pass, its faults are killed, and its changes are noticed")
    func described() throws {
        let run = try run(["--strategy", "./mine.yml", "--backend", "openssl", "--format", "json"])
        let subject = JSONValue.parse(run.output)?["subjects"]?.array?.first
        #expect(run.status == 0 && subject?["passed"]?.integer ?? 0 > 300, "\(run.errorLines)")
        #expect(subject?["failed"]?.integer == 0 && subject?["unsupported"]?.integer == 0)
        let mutants = try self.run(["mutants", "--strategy", "./mine.yml"])
        #expect(mutants.status == 0 && mutants.text.contains("injected faults were killed"), "\(mutants.errorLines)")
        let tampering = try self.run(
            ["tamper", "--strategy", "./mine.yml", "--backend", "openssl", "--format", "json"])
        let rows = JSONValue.parse(tampering.output)?["subjects"]?.array?.first?["rows"]?.array
        #expect(tampering.status == 0 && rows?.count == 1, "\(tampering.errorLines)")
    }

    @Test("a program that reads descriptions alone is put to them", arguments: [["--strategy", "./mine.yml"], []])
    func describedOnly(strategy: [String]) throws {
        let subject =
            "python3 '\(Project.path("Tests/Subjects/described_only.py"))' '\(Programs.chunkwise)' subject --backend openssl"
        let run = try run(strategy + ["--subject", subject, "--format", "json"])
        let found = JSONValue.parse(run.output)?["subjects"]?.array?.first
        #expect(run.status == 0 && found?["passed"]?.integer ?? 0 > 300, "\(run.errorLines)")
    }

    @Test(
        "the example of a format of one's own passes, and notices what the format binds",
        .enabled(if: Scratch.hasPython, "no python3 with cryptography"))
    func example() throws {
        let subjects = Project.path("Examples/subjects")
        let options = [
            "--strategy", "\(subjects)/own_format.yml", "--subject", "python3 '\(subjects)/own_format.py'",
            "--format", "json",
        ]
        let run = try run(options)
        let found = JSONValue.parse(run.output)?["subjects"]?.array?.first
        #expect(run.status == 0 && found?["passed"]?.integer ?? 0 > 300, "\(run.errorLines)")
        let tampering = try self.run(["tamper"] + options)
        let row = JSONValue.parse(tampering.output)?["subjects"]?.array?.first?["rows"]?.array?.first
        let states = row?["cases"]?.array?.compactMap { $0["sequential"]?["state"]?.string } ?? []
        #expect(tampering.status == 0 && states.count == 200, "\(tampering.errorLines)")
        #expect(states.count { $0 == "undetected" } == 17)
    }

    @Test(
        "what cannot be is refused",
        arguments: [
            (["--strategy", "gocryptf"], "gocryptfs"), (["--strategy", "./none.yml"], "none.yml"),
            (["--strategy", "gocryptfs", "--vectors", "x.json"], "--strategy"),
            (["memory", "--strategy", "gocryptfs"], "--strategy"), (["mutants", "--strategy", "ctr"], "no rule"),
        ])
    func refusals(arguments: [String], word: String) throws {
        let run = try run(arguments)
        #expect([2, 64, 66].contains(run.status) && run.errorLines.last?.contains(word) == true, "\(run.errorLines)")
    }
}
