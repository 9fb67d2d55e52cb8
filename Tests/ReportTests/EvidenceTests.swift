import Foundation
import Report
import Results
import Testing

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
            programVersion: "1", command: ["chunkwise", "verify"], startedAt: "2026-11-21T00:00:00Z",
            host: .init(name: "h", cpuModel: "c", cpuCount: 2, cpuFlags: [], memoryByteCount: 1, kernel: "k"),
            backends: [], vectorFiles: [.init(name: "a.json", sha256: "00")], flags: [],
            requirements: [
                .init(id: "edge", text: "Chunks restart.", source: "S 1", flags: ["ChunkEdge"]),
                .init(id: "last", text: "The end is whole.", source: "S 2", flags: ["LastBytes"]),
                .init(id: "large", text: "Offsets are wide.", source: "S 3", flags: ["LargeOffset"]),
                .init(id: "wrap", text: "Counters wrap.", source: "S 4", flags: ["CounterWrap"]),
                .init(id: "none", text: "Nobody tests this.", source: "S 5", flags: ["Exhaustive"]),
            ],
            subjects: subjects, mutants: [.init(name: "m", flag: "ChunkEdge", killedBy: ["LastBytes"])])
    }

    private func text(_ name: String, _ subjects: [ConformanceRecord] = [Self.record]) throws -> String {
        let file = try #require(renderEvidence(Self.evidence(subjects)).first { $0.name == name })
        return String(decoding: file.bytes, as: UTF8.self)
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
        #expect(try text("index.html").contains("The vectors killed 0 of 1 planted faults"))
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
