import Report
import Results
import Testing

@Suite("JUnit XML")
struct JUnitTests {
    @Test(
        "a gate's document keeps to the schema, and its counts add up", arguments: GateFixture.all.indices,
        [false, true])
    func gate(index: Int, allowsInconclusive: Bool) {
        let (name, result) = GateFixture.all[index]
        let schema = JUnitSchema(result.junit(allowsInconclusive: allowsInconclusive))
        #expect(schema.mismatches.isEmpty, "\(name): \(schema.mismatches)")
        for cell in result.cells + [result.control].compactMap(\.self) { #expect(schema.cases.contains(cell.name)) }
        for cell in result.notCompared { #expect(schema.cases.contains(cell.name)) }
        #expect(schema.counts["failure", default: 0] == (name == "slower" ? 3 : 0))
    }

    @Test("a document has a failure or an error exactly if the gate does not pass", arguments: GateFixture.all.indices)
    func agreement(index: Int) {
        let (name, result) = GateFixture.all[index]
        for allowsInconclusive in [false, true] {
            let schema = JUnitSchema(result.junit(allowsInconclusive: allowsInconclusive))
            let isRed = schema.counts["failure", default: 0] + schema.counts["error", default: 0] > 0
            #expect(isRed == (result.answer(allowsInconclusive: allowsInconclusive) != .yes), "\(name)")
        }
    }

    @Test("the evidence's document keeps to the schema, and its counts add up")
    func evidence() throws {
        let failing = ConformanceRecord(
            subject: "a <b> & \"c\"", passed: 3, failed: 2, unsupported: 1, notRun: 0,
            failures: [.init(id: "v\u{1}", flags: ["x"], reason: "]]> differs")])
        let silent = ConformanceRecord(subject: "s", passed: 0, failed: 0, unsupported: 9, notRun: 0, failures: [])
        let files = renderEvidence(EvidenceTests.evidence([failing, silent]))
        let file = try #require(files.first { $0.name == "junit.xml" })
        let schema = JUnitSchema(String(decoding: file.bytes, as: UTF8.self))
        #expect(schema.mismatches.isEmpty, "\(schema.mismatches)")
        #expect(schema.cases.count == 2)
    }

    @Test(
        "the check notices what is wrong",
        arguments: [
            "<testsuites><testsuite tests=\"0\" failures=\"0\" errors=\"0\" skipped=\"0\"/></testsuites>",
            "<testsuites tests=\"0\" failures=\"0\" errors=\"0\"><testcase name=\"a\"/></testsuites>",
            "<testsuites tests=\"1\" failures=\"0\" errors=\"0\"><testsuite name=\"a\" tests=\"1\" failures=\"1\" errors=\"0\" skipped=\"0\"><testcase name=\"a\"/></testsuite></testsuites>",
            "<testsuites tests=\"0\" failures=\"0\" errors=\"0\" skipped=\"1\"/>", "<testsuites>", "",
        ])
    func notices(text: String) {
        #expect(!JUnitSchema(text).mismatches.isEmpty)
    }
}
