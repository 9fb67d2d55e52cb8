import Foundation
import Report
import Results
import Support
import TestSupport
import Testing

@Suite("keys in reports")
struct KeyReportTests {
    private static let all = KeyResults(
        waits: KeySamples.waits, load: KeySamples.load, loopback: KeySamples.loopback)

    private static func texts(_ files: [ReportFile]) -> [String: String] {
        Dictionary(files.map { ($0.name, String(decoding: $0.bytes, as: UTF8.self)) }, uniquingKeysWith: { $1 })
    }

    @Test("a run's report has a section after what players would notice, in all its forms")
    func section() throws {
        let files = Self.texts(RunReport(Fixture.small, keys: Self.all).files)
        for name in ["key-waits.svg", "key-load.svg", "key-load-loopback.svg"] {
            #expect(files[name]?.contains("<svg") == true, "\(name)")
            #expect(files["report.md"]?.contains("](\(name))") == true, "\(name)")
        }
        let page = try #require(files["index.html"])
        #expect(page.contains("<section id=\"keys\""))
        for text in [page, try #require(files["report.md"])] {
            #expect(text.contains("What players wait for: keys"))
            #expect(text.contains("167,973") && text.contains("1.01×"))
        }
        let json = try #require(JSONValue.parse(Array((files["results.json"] ?? "").utf8)))
        for (name, record) in [
            ("keyWaits", KeySamples.waits.json), ("keyLoad", KeySamples.load.json),
            ("keyLoadLoopback", KeySamples.loopback.json),
        ] {
            #expect(json[name] == JSONValue.parse(Array(record.text.utf8)), "\(name)")
        }
        #expect(json["cells"]?.array?.isEmpty == false)
    }

    @Test("a run without keys says nothing of them")
    func absent() throws {
        let files = Self.texts(renderReport(Fixture.small))
        #expect(files["index.html"]?.contains("id=\"keys\"") == false && files["key-waits.svg"] == nil)
        #expect(JSONValue.parse(Array((files["results.json"] ?? "").utf8))?["keyWaits"] == .null)
        var empty = Self.all
        empty.waits?.cells = []
        empty.load?.cells = []
        empty.loopback?.cells = []
        #expect(empty.isEmpty)
        #expect(Self.texts(RunReport(Fixture.small, keys: empty).files)["index.html"] == files["index.html"])
    }

    @Test("what to take from the figures is computed from them")
    func findings() {
        let findings = KeyReport(Self.all).verdict
        #expect(
            findings == [
                "Preloaded keys need no request: the first byte comes after at most 1.02× of the time with key files "
                    + "(95 % interval 1.01× to 1.03×, key server of 5 ms).",
                "With a key server of 300 ms, the first byte comes after 1.02 ms with preloaded keys, 302 ms where one "
                    + "batch asks for all keys and 2.40 s where each key is asked for on demand.",
                "Dispersed over 60 s, 10,000,000 clients ask at most 167,973 times a second, 1.01× of clients ÷ window; "
                    + "no client had to wait.",
                "On demand, 10,000,000 clients ask at most 1,668,000 times a second, 10.0× of clients ÷ window; "
                    + "9,999,000 clients had to wait and 1,000 clients got no key.",
                "Preloaded without dispersal, 10,000,000 clients ask at most 1,668,000 times a second, 10.0× of "
                    + "clients ÷ window; no client had to wait.",
                "A run of 2,000 clients over connections on loopback differs from its simulation: on demand.",
            ], "\(findings)")
    }

    @Test("figures that are worse are said to be")
    func worse() {
        var keys = Self.all
        keys.waits?.cells[1].requestCount = 3
        keys.load?.windowSeconds = 0
        keys.loopback?.cells[0].agrees = true
        let text = KeyReport(keys).verdict.joined(separator: "\n")
        #expect(text.contains("Preloaded keys needed up to 3 requests"))
        #expect(!text.contains("clients ÷ window"))
        #expect(text.contains("did what its simulation says: on demand and dispersed."))
        keys.loopback?.cells[0].agrees = false
        keys.loopback?.cells[1].lagNanoseconds = 60_000_000
        #expect(KeyReport(keys).verdict.last?.contains("cannot be judged: its machine added 60.0 ms") == true)
    }

    @Test(
        "any one of the files is enough",
        arguments: [
            KeyResults(waits: KeySamples.waits), KeyResults(load: KeySamples.load),
            KeyResults(loopback: KeySamples.loopback),
        ])
    func alone(keys: KeyResults) throws {
        let report = KeyReport(keys)
        let files = Self.texts(report.files)
        #expect(Set(files.keys).isSuperset(of: ["index.html", "report.md", "results.json"]) && files.count == 4)
        #expect(!report.verdict.isEmpty)
        let json = try #require(JSONValue.parse(Array((files["results.json"] ?? "").utf8)))
        #expect(json["schema"] == "chunkwise-key-report-1")
        #expect(["keyWaits", "keyLoad", "keyLoadLoopback"].count { json[$0] != .null } == 1)
        #expect(report.file(.csv) == nil && report.file(.junit) == nil && report.file(.markdown) == nil)
    }

    @Test("the same results give the same bytes")
    func determinism() {
        #expect(KeyReport(Self.all).files == KeyReport(Self.all).files)
    }

    @Test("nothing in a file becomes markup, a command of the terminal or an end of the process")
    func hostile() throws {
        var keys = Self.all
        let evil = "<script>alert(1)</script>\u{1B}[31m| `x`\n# y"
        keys.waits?.host.name = evil
        keys.waits?.host.cpuModel = evil
        keys.waits?.host.cpuCount = -1
        keys.waits?.backend = evil
        keys.waits?.command = [evil]
        keys.load?.command = [evil]
        keys.waits?.keyCount = .max
        keys.waits?.rounds = .max
        keys.waits?.segmentByteCount = .max
        keys.waits?.cells[0].delayMilliseconds = .max
        keys.waits?.cells[0].requestCount = .max
        keys.waits?.cells[0].samplesNanoseconds = [.max, 0]
        keys.load?.clientCount = .max
        keys.load?.announcedSeconds = .max
        keys.load?.capacityPerSecond = .max
        keys.load?.cells[0].simulated.requestsPerSecond = [.max, 0, .max]
        keys.load?.cells[0].simulated.secondsPerPoint = 86_400
        keys.load?.cells[1].simulated.requestsPerSecond = []
        keys.loopback?.cells[0].simulated.p999Nanoseconds = .max
        keys.loopback?.cells[0].run?.requestsPerSecond = [0, 0]
        keys.loopback?.capacityPerSecond = 0
        for (name, text) in Self.texts(KeyReport(keys).files) where !name.hasSuffix(".json") {
            // In a block of code of Markdown, markup is text.
            let shown = name == "report.md" ? text.components(separatedBy: "Commands:")[0] : text
            #expect(!shown.contains("<script>alert") && !text.contains("\u{1B}"), "\(name)")
            #expect(name != "report.md" || !text.contains("\n# y"), "\(name)")
            #expect(!text.contains("\"nan\"") && !text.contains("\"inf\""), "\(name)")
        }
    }

    @Test("a server that can do far more than is asked does not press the lines flat")
    func levels() throws {
        var keys = KeyResults(load: KeySamples.load)
        func svg() throws -> String { try #require(Self.texts(KeyReport(keys).files)["key-load.svg"]) }
        #expect(try svg().contains("what the server can answer"))
        keys.load?.capacityPerSecond = 1_000_000_000
        #expect(try !svg().contains("what the server can answer"))
        #expect(try svg().contains("The server can answer 1,000,000,000 a second"))
    }
}
