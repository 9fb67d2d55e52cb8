import Foundation
import Results
import Support
import Testing

@testable import Report

@Suite struct EvidenceTests {
    private static let record = ConformanceRecord(
        subject: "<b>&\"", passed: 7, failed: 2, unsupported: 1, notRun: 3,
        failures: [.init(id: "g offset=1 count=2", flags: ["ChunkEdge"], reason: "byte 0 is wrong < expected\u{1}")],
        flags: [
            .init(flag: "ChunkEdge", passed: 4, failed: 2, unsupported: 0, notRun: 0),
            .init(flag: "LastBytes", passed: 3, failed: 0, unsupported: 0, notRun: 0),
            .init(flag: "LargeOffset", passed: 0, failed: 0, unsupported: 0, notRun: 3),
            .init(flag: "CounterWrap", passed: 0, failed: 0, unsupported: 1, notRun: 0),
        ])

    static func evidence(_ subjects: [ConformanceRecord]) -> Evidence {
        Evidence(
            programVersion: "1", command: ["chunkwise", "verify"], startedAt: "2026-11-21T00:00:00Z", seconds: 61,
            host: .init(name: "h", cpuModel: "c", cpuCount: 2, cpuFlags: [], memoryByteCount: 1, kernel: "k"),
            backends: [], vectorFiles: [.init(name: "a.json", sha256: "00")], flags: [],
            requirements: [
                .init(id: "edge", text: "Chunks restart.", source: "S 1", flags: ["ChunkEdge"]),
                .init(id: "last", text: "The end is whole.", source: "S 2", flags: ["LastBytes"]),
                .init(id: "large", text: "Offsets are wide.", source: "S 3", flags: ["LargeOffset"]),
                .init(id: "wrap", text: "Counters wrap.", source: "S 4", flags: ["CounterWrap"]),
                .init(id: "none", text: "This is not tested.", source: "S 5", flags: ["Exhaustive"]),
            ],
            subjects: subjects, mutants: [.init(name: "m", flag: "ChunkEdge", killedBy: ["LastBytes"])])
    }

    private func text(_ name: String, _ subjects: [ConformanceRecord] = [Self.record]) throws -> String {
        let file = try #require(renderEvidence(Self.evidence(subjects)).first { $0.name == name })
        return String(decoding: file.bytes, as: UTF8.self)
    }

    @Test("failures that are alike are one row, and reads of an object that did not open are its opening's")
    func alike() {
        func failure(_ id: String, _ reason: String, _ flag: String = "ChunkEdge") -> ConformanceRecord.Failure {
            .init(id: id, flags: [flag], reason: reason)
        }
        let groups = FailureGroup.groups(of: [
            failure("a/1 0+16", ConformanceRecord.Failure.notOpened, "LastBytes"),
            failure("a/1 open", "the length is 32: expected 31"), failure("b 3+1", "byte 0 is 7f: expected 00"),
            failure("a/2 open", "the length is 4096: expected 4095"), failure("b 9+1", "byte 0 is 1: expected 02"),
            failure("c 9+1", ConformanceRecord.Failure.notOpened),
        ])
        #expect(groups.map(\.first.id) == ["a/1 open", "b 3+1", "c 9+1"])
        #expect(groups.map { $0.others.map(\.id) } == [["a/2 open", "a/1 0+16"], ["b 9+1"], []])
        #expect(groups[0].othersText == "and 2 failures like it: a/2 open; a/1 0+16")
        #expect(groups[2].othersText == nil)
    }

    @Test("evidence says what was tested, by digests, and that it was a choice")
    func provenance() throws {
        var record = Self.record
        record.program = .init(
            command: "python3 reader.py", files: [.init(name: "reader.py", sha256: "00ff")])
        record.choice = .init(chosenCount: 4100, allCount: 1_690_000)
        record.version = "7.1"
        let text = try text("evidence.md", [record])
        for part in ["reader.py 00ff", "4100 of 1690000", "7.1", "61 s", "SHA256SUMS"] {
            #expect(text.contains(part), "\(part) is missing")
        }
        var passed = record
        passed.failed = 0
        #expect(try self.text("evidence.md", [passed]).contains("passed a choice of"))
        // What is asked beside vectors is counted apart.
        (passed.passed, passed.vectorCount) = (16_115, 24)
        let words = "passed a choice of 24 vectors and 16,091 checks of the protocol"
        #expect(try self.text("evidence.md", [passed]).contains(words))
    }

    @Test("the digests beside a page are of its files")
    func digests() throws {
        let files = renderEvidence(Self.evidence([Self.record]))
        let sums = try text("SHA256SUMS").split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        #expect(sums.map { $0[1] } == files.dropLast().map(\.name))
        for (sum, file) in zip(sums, files) {
            #expect(sum[0] == Hexadecimal.encode(SHAFunction.sha256.hash(Array(file.bytes))))
        }
    }

    @Test("passed, failed, unsupported, not run and not tested are five different verdicts")
    func verdicts() throws {
        let json = try text("evidence.json")
        for verdict in ["passed", "failed", "unsupported", "not run", "not tested"] {
            #expect(json.contains("\"verdict\": \"\(verdict)\""), "\(verdict) is missing")
        }
    }

    @Test("a mutant that other flags killed has survived")
    func survivor() throws {
        #expect(try text("evidence.md").contains("survived"))
        #expect(try text("index.html").contains("The vectors killed 0 of 1 injected faults"))
    }

    @Test("texts of results never become markup", arguments: ["index.html", "junit.xml"])
    func escaping(file: String) throws {
        let text = try text(file)
        #expect(!text.contains("<b>&"))
        #expect(text.contains("&lt;b&gt;&amp;"))
    }

    @Test("JUnit is well-formed and counts a class of vectors as a case")
    func junit() throws {
        let junit = try text("junit.xml")
        #expect(junit.contains("tests=\"4\" failures=\"1\" skipped=\"2\""), "\(junit)")
        #expect(!junit.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" })
    }

    @Test("no subject, or one that executed nothing, is warned of")
    func nothing() throws {
        #expect(try text("index.html", []).contains("No subject was tested"))
        let silent = ConformanceRecord(subject: "s", passed: 0, failed: 0, unsupported: 9, notRun: 0, failures: [])
        #expect(try text("index.html", [silent]).contains("Nothing was executed.</strong> For s: that is no pass."))
    }

    @Test("the same evidence gives the same bytes")
    func determinism() {
        #expect(renderEvidence(Self.evidence([Self.record])) == renderEvidence(Self.evidence([Self.record])))
    }
}

@Suite("the integrity matrix in reports")
struct TamperReportTests {
    private static func one(
        _ kind: String, _ outcome: TamperRecord.Outcome, failure: String? = nil
    ) -> TamperRecord.Case {
        TamperRecord.Case(
            kind: kind, place: "<first> block", openingErrors: [], sequential: outcome, touching: outcome,
            failure: failure)
    }

    private static func row(
        _ strategy: String, isAuthenticated: Bool, _ cases: [TamperRecord.Case]
    ) -> TamperRecord.Row {
        TamperRecord.Row(
            strategy: strategy, isAuthenticated: isAuthenticated, state: cases.isEmpty ? .unsupported : .run,
            plaintextByteCount: 100, ciphertextByteCount: 112, windowByteCount: 40, cases: cases)
    }

    static let records: [TamperRecord] = {
        let noticed = one("truncate", .init(state: .detectedAtOpen, error: "truncatedCiphertext"))
        let passed = one(
            "flip", .init(state: .undetected, readCount: 3, wrongByteCount: 17, missingByteCount: 2, extraByteCount: 5))
        let late = one(
            "flip",
            .init(state: .detectedAtRead, error: "authenticationFailed", read: 2, offset: 40, wrongByteCount: 1),
            failure: "noticed, 1 wrong byte before: expected none")
        let cbc = row("cbc-chunked:iv-rule=fixed,chunk=256", isAuthenticated: false, [noticed, passed])
        let right = row("cobblestone-128", isAuthenticated: true, [noticed])
        return [
            TamperRecord(subject: "a", rows: [cbc, right]), TamperRecord(subject: "b", rows: [cbc, right]),
            TamperRecord(
                subject: "<c>",
                rows: [row("cobblestone-128", isAuthenticated: true, [late]), row("ctr", isAuthenticated: false, [])]),
        ]
    }()

    @Test("the text has a table for each subject, subjects that do the same together, in 80 columns")
    func text() {
        let text = TamperRecord.text(Self.records)
        let lines = text.split(separator: "\n").map(String.init)
        #expect(lines.allSatisfy { $0.count <= 80 })
        let words = lines.map { $0.split(separator: " ").map(String.init) }
        #expect(words.contains(["1/1", "–", "0/1", "–", "–", "–", "–", "1/2"]))
        let flat = words.flatMap { $0 }.joined(separator: " ")
        #expect(flat.contains("Changes noticed by a, b (each the same), of all;"))
        #expect(flat.contains("17 wrong bytes delivered, 2 bytes missing, 5 bytes too many; a flipped bit that passed"))
        #expect(flat.contains("a flipped bit that passed unnoticed made 17 wrong bytes."))
        #expect(flat.contains("noticed, 1 wrong byte before"))
        #expect(flat.contains("3 of 3 changes to authenticated formats were noticed, and 1 wrong byte delivered."))
        #expect(flat.contains("1 change answered in a wrong way."))
    }

    @Test("the JSON has every case")
    func json() throws {
        let json = TamperRecord.json(Self.records)
        #expect(json["failed"] == 1 && json["executed"] == 7)
        let subjects = try #require(json["subjects"]?.array)
        #expect(subjects.map { $0["name"]?.string } == ["a", "b", "<c>"])
        let row = try #require(subjects[2]["rows"]?.array?.first)
        #expect(row["cases"]?.array?.first?["sequential"]?["read"] == 2)
        #expect(row["kinds"]?.array?.map { $0["kind"]?.string } == TamperRecord.Row.kinds)
    }

    private static func files() -> [String: String] {
        var evidence = EvidenceTests.evidence([])
        evidence.tampering = records
        return Dictionary(
            renderEvidence(evidence).map { ($0.name, String(decoding: $0.bytes, as: UTF8.self)) },
            uniquingKeysWith: { $1 })
    }

    @Test("the evidence has the matrix, on its page, in Markdown, JSON and JUnit, and all cases beside it")
    func evidence() throws {
        let files = Self.files()
        for name in ["index.html", "evidence.md"] {
            let text = try #require(files[name])
            #expect(text.contains("Integrity matrix") && text.contains("17 B"), "\(name)")
            #expect(text.contains("In CBC a flipped bit garbles its block"), "\(name)")
        }
        #expect(files["index.html"]?.contains("<c>") == false)
        #expect(files["junit.xml"]?.contains("<failure message=\"1 of 1 changes\"") == true)
        #expect(files["junit.xml"]?.contains("name=\"tampering: ctr\"") == true)
        #expect(files["tamper.json"] == TamperRecord.json(Self.records).text + "\n")
        let json = try #require(JSONValue.parse(Array((files["evidence.json"] ?? "").utf8)))
        let listed = json["tampering"]?.array?.flatMap { $0["rows"]?.array ?? [] }.flatMap { $0["cases"]?.array ?? [] }
        #expect(listed?.count == 1)
    }

    @Test("evidence without a matrix says nothing of one")
    func absent() throws {
        let names = renderEvidence(EvidenceTests.evidence([])).map(\.name)
        #expect(!names.contains("tamper.json"))
    }
}
