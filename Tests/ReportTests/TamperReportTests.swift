import Report
import Results
import Support
import Testing

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
        let cbc = row("cbc-chunked sequence pkcs7 chunk=256", isAuthenticated: false, [noticed, passed])
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
        #expect(lines.contains("a, b (each the same)"))
        let words = lines.map { $0.split(separator: " ").map(String.init) }
        #expect(words.contains(["cbc-chunked", "sequence", "pkcs7", "1/1", "–", "0/1", "–", "–", "–", "–"]))
        for line in [["wrong", "bytes", "17"], ["missing", "2"], ["too", "many", "5"]] { #expect(words.contains(line)) }
        let flat = words.flatMap { $0 }.joined(separator: " ")
        #expect(flat.contains("a flipped bit that passed unnoticed made 17 wrong bytes."))
        #expect(flat.contains("FAILED <c>: cobblestone-128: flip: <first> block: noticed, 1 wrong byte before"))
        #expect(flat.contains("3 of 3 changes to authenticated formats were noticed, and 1 wrong byte delivered."))
        #expect(text.hasSuffix("1 failed."))
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
            #expect(text.contains("Integrity matrix") && text.contains("17 B wrong"), "\(name)")
            #expect(text.contains("in CBC a flipped bit garbles its block"), "\(name)")
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
