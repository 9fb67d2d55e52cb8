import Foundation
import Report
import Results
import TestSupport
import Testing

@Suite("published schemas", .enabled(if: SchemaCheck.isThere, "python3 with its package jsonschema is not installed"))
struct SchemaTests {
    @Test("a line of a result file is what record.json says, and nothing else is")
    func records() throws {
        try SchemaCheck.expect("record", ["reports/2026-11-21-vm/results.jsonl"])
    }

    @Test("scenarios are what scenarios.json says, and nothing else is")
    func scenarios() throws {
        try SchemaCheck.expect(
            "scenarios",
            ["data/scenarios/rental.json", "data/scenarios/stored.json", "data/scenarios/bad-answers.json"])
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
            try SchemaCheck.expect("comparison", written: #require(comparison.file(.json)))
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

    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
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
        let script = root.appendingPathComponent("Tests/ReportTests/Schemas/check_schemas.py").path
        let (status, output) = try run([script, "data/schemas/\(schema).json"] + documents)
        #expect(status == 0 && output.contains("are refused"), "\(output)")
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
