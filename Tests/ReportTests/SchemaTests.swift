import Foundation
import FoundationXML
import Report
import Results
import Support
import TestSupport
import Testing

@Suite("published schemas", .enabled(if: SchemaCheck.isThere, "python3 with its package jsonschema is not installed"))
struct SchemaTests {
    @Test("a line of a result file is what record.json says, and nothing else is")
    func records() throws {
        try SchemaCheck.expect("record", ["reports/reference/results.jsonl"])
    }

    @Test("scenarios are what scenarios.json says, and nothing else is")
    func scenarios() throws {
        try SchemaCheck.expect(
            "scenarios",
            ["data/scenarios/rental.json", "data/scenarios/stored.json", "data/scenarios/bad-answers.json"])
    }

    @Test(
        "descriptions of formats are what format.json says, and nothing else is",
        .enabled(if: SchemaCheck.readsYAML, "python3 with its package yaml is not installed"))
    func formats() throws {
        let folder = SchemaCheck.root.appending(path: "data/formats").path
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".yml") }.sorted()
        #expect(names.count > 30)
        try SchemaCheck.expect("format", names.map { "data/formats/\($0)" })
    }

    @Test(
        "what a reader of descriptions refuses beside a list of values, format.json refuses as well",
        arguments: [
            (["oneOf": [1, 2], "text": false], true), (["oneOf": ["1", "a"], "default": "a"], true),
            (["oneOf": ["a"], "text": true], true), (["min": 1, "max": 2, "multipleOf": 1], true),
            (["oneOf": [1, "a"], "text": false], false), (["oneOf": ["a"], "bytes": 1], false),
            (["oneOf": [1], "min": 1], false), (["oneOf": [1], "max": 1], false),
            (["oneOf": [1], "multipleOf": 1], false),
        ] as [(JSONValue, Bool)])
    func inputs(input: JSONValue, isValid: Bool) throws {
        let format: JSONValue = [
            "f": [
                "inputs": ["key": 16, "x": input], "cipher": "aes-ctr", "chunk": "whole", "key": "key", "nonce": "x",
            ]
        ]
        let folder = try TemporaryFolder()
        #expect(try SchemaCheck.isValid("format", [folder.file("f.json", format.text)]) == isValid)
    }

    @Test("results.json is what report.json says", arguments: [Fixture.small, RealisticFixture.results])
    func report(results: RunResults) throws {
        try SchemaCheck.expect("report", written: RunReport(results).file(.json))
    }

    @Test("results.json of several runs is what side-by-side.json says")
    func sideBySide() throws {
        var other = Fixture.small
        other.header.host.name = "other"
        try SchemaCheck.expect(
            "side-by-side", written: SideBySide([("a", Fixture.small), ("b", other)]).file(.json))
    }

    @Test("comparison.json is what comparison.json says, on one host and on two")
    func comparison() throws {
        var other = Fixture.small
        other.cells[0].rounds = other.cells[0].rounds.map { $0.map { $0 * 2 } }
        other.cells[1].failure = "r"
        for name in ["bench-1", "other"] {
            other.header.host.name = name
            let comparison = RunComparison(Fixture.small, named: "a", with: other, named: "b")
            try SchemaCheck.expect("comparison", written: comparison.file(.json))
        }
    }

    @Test("an integrity matrix's JSON is what tamper.json says")
    func tampering() throws {
        var evidence = EvidenceTests.evidence([])
        evidence.tampering = TamperReportTests.records
        let file = try #require(renderEvidence(evidence).first { $0.name == "tamper.json" })
        try SchemaCheck.expect("tamper", written: file)
    }

    @Test("files on keys, and results.json with them, are what their schemas say")
    func keys() throws {
        let keys = KeyResults(waits: KeySamples.waits, load: KeySamples.load, loopback: KeySamples.loopback)
        for (schema, json) in [
            ("key-waits", KeySamples.waits.json), ("key-load", KeySamples.load.json),
            ("key-load", KeySamples.loopback.json),
        ] {
            let folder = try TemporaryFolder()
            try SchemaCheck.expect(schema, [folder.file("\(schema).json", json.text)])
        }
        try SchemaCheck.expect("key-report", written: #require(KeyReport(keys).file(.json)))
        try SchemaCheck.expect("report", written: RunReport(Fixture.small, keys: keys).file(.json))
    }

    @Test("a trend's JSON is what trend.json says")
    func trend() throws {
        let history = History(
            HistoryTests.runs(20, slowing: "libgcrypt", by: 1.2, from: 10),
            skipped: [SkippedFile(path: "p", reason: "r")])
        try SchemaCheck.expect("trend", written: history.file(.json))
    }
}

/// The check of documents by a schema, in Python.
private enum SchemaCheck {
    static var isThere: Bool { (try? run(["-c", "import jsonschema"]))?.status == 0 }

    static var readsYAML: Bool { (try? run(["-c", "import yaml"]))?.status == 0 }

    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static func expect(_ schema: String, written file: ReportFile) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("chunkwise-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent(file.name + (file.name.hasSuffix(".json") ? "" : ".json"))
        try Data(file.bytes).write(to: path)
        try expect(schema, [path.path])
    }

    static func expect(_ schema: String, _ documents: [String]) throws {
        let (status, output) = try check(schema, documents)
        #expect(status == 0 && output.contains("are refused"), "\(output)")
    }

    /// Returns whether a schema accepts documents.
    static func isValid(_ schema: String, _ documents: [String]) throws -> Bool {
        let (status, output) = try check(schema, documents)
        #expect(status == 0 || output.contains("is not valid under"), "\(output)")
        return status == 0
    }

    private static func check(_ schema: String, _ documents: [String]) throws -> (status: Int32, output: String) {
        let script = root.appendingPathComponent("Tests/ReportTests/Schemas/check_schemas.py").path
        return try run([script, "data/schemas/\(schema).json"] + documents)
    }

    private static func run(_ arguments: [String]) throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3"] + arguments
        process.currentDirectoryURL = root
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: output, as: UTF8.self))
    }
}

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

#if canImport(FoundationXML)
#endif

/// The elements of JUnit XML, and a check of a document against them.
///
/// Source: junit-10.xsd of jenkinsci/xunit-plugin: elements, attributes, what is required, and the order of children.
final class JUnitSchema: NSObject, XMLParserDelegate {
    private struct Element {
        var required: Set<String> = []
        var optional: Set<String> = []
        var children: [String] = []
    }

    private static let elements: [String: Element] = [
        "testsuites": Element(
            optional: ["name", "time", "tests", "failures", "disabled", "errors"], children: ["testsuite"]),
        "testsuite": Element(
            required: ["name", "tests"],
            optional: [
                "failures", "errors", "time", "disabled", "skipped", "timestamp", "hostname", "id", "package",
            ], children: ["properties", "testcase", "system-out", "system-err"]),
        "properties": Element(children: ["property"]),
        "property": Element(required: ["name", "value"]),
        "testcase": Element(
            required: ["name"], optional: ["assertions", "time", "classname", "status"],
            children: ["skipped", "error", "failure", "system-out", "system-err"]),
        "skipped": Element(optional: ["type", "message"]), "error": Element(optional: ["type", "message"]),
        "failure": Element(optional: ["type", "message"]), "system-out": Element(), "system-err": Element(),
    ]

    /// The faults of the document.
    private(set) var mismatches: [String] = []
    /// The number of each element.
    private(set) var counts: [String: Int] = [:]
    /// The names of the cases, in order.
    private(set) var cases: [String] = []
    private var path: [(name: String, attributes: [String: String], children: [String])] = []

    /// Reads a document.
    init(_ text: String) {
        super.init()
        let parser = XMLParser(data: Data(text.utf8))
        parser.delegate = self
        if !parser.parse() { mismatches.append("not well-formed: \(parser.parserError.map { "\($0)" } ?? "")") }
        // The parser takes a document that ends too early.
        if !path.isEmpty || counts.isEmpty { mismatches.append("not well-formed: it ends too early") }
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        counts[name, default: 0] += 1
        if name == "testcase" { cases.append(attributes["name"] ?? "") }
        let rule = Self.elements[name] ?? Element()
        let parent = path.last?.name
        if Self.elements[name] == nil || parent == nil && name != "testsuites" {
            mismatches.append("<\(name)> is not expected here")
        }
        if let parent, !(Self.elements[parent]?.children ?? []).contains(name) {
            mismatches.append("<\(name)> in <\(parent)>")
        }
        let names = Set(attributes.keys)
        for missing in rule.required.subtracting(names) { mismatches.append("<\(name)> without \(missing)") }
        for extra in names.subtracting(rule.required).subtracting(rule.optional) {
            mismatches.append("<\(name)> with \(extra)")
        }
        for number in ["tests", "failures", "errors", "skipped", "assertions"] {
            if let value = attributes[number], Int(value) == nil { mismatches.append("\(number)=\"\(value)\"") }
        }
        if let time = attributes["time"], time.wholeMatch(of: /\d+(\.\d+)?/) == nil {
            mismatches.append("time=\(time)")
        }
        if !path.isEmpty { path[path.count - 1].children.append(name) }
        path.append((name, attributes, []))
    }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
        guard let element = path.popLast() else { return }
        let order = Self.elements[name]?.children ?? []
        let places = element.children.compactMap(order.firstIndex)
        if name != "testcase", places != places.sorted() { mismatches.append("<\(name)>: children out of order") }
        if name == "testsuite" { check(element.attributes, tests: element.children.count { $0 == "testcase" }) }
        if name == "testsuites" { checkTotals(element.attributes) }
        if name == "testcase", element.children.count > 1 { mismatches.append("a case with two outcomes") }
    }

    private var suiteTotals: [String: Int] = [:]
    private var seen: [String: Int] = [:]

    private func check(_ attributes: [String: String], tests: Int) {
        let names = [("failures", "failure"), ("errors", "error"), ("skipped", "skipped")]
        if attributes["tests"] != "\(tests)" { mismatches.append("tests=\(attributes["tests"] ?? "") of \(tests)") }
        for (attribute, element) in names {
            let found = (counts[element] ?? 0) - (seen[element] ?? 0)
            seen[element] = counts[element] ?? 0
            if attributes[attribute] != "\(found)" {
                mismatches.append("\(attribute)=\(attributes[attribute] ?? "none") of \(found)")
            }
            suiteTotals[attribute, default: 0] += found
        }
        suiteTotals["tests", default: 0] += tests
    }

    private func checkTotals(_ attributes: [String: String]) {
        for name in ["tests", "failures", "errors"] where attributes[name] != "\(suiteTotals[name] ?? 0)" {
            mismatches.append("all \(name)=\(attributes[name] ?? "none") of \(suiteTotals[name] ?? 0)")
        }
    }
}
