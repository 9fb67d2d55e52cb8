import Foundation
import Report
import Results
import Statistics
import Testing

/// A report must never turn data into markup, show a speed that nothing vouches for, or hide that it is empty.
@Suite struct TrustTests {
    private static let hostile = "<b>&\"'|`*_\u{0}\n</script>"

    @Test("text from results stays text in every file")
    func escaping() throws {
        var results = Fixture.small
        results.cells = results.cells.map { result in
            var result = result
            result.cell.backend = Self.hostile
            result.cell.strategy = Self.hostile
            result.cell.label = result.cell.label.map { $0 + Self.hostile }
            if result.failure != nil { result.failure = Self.hostile }
            return result
        }
        results.header.host.name = Self.hostile
        results.header.plan = Self.hostile + "\n````\n"
        results.conformance = [
            ConformanceRecord(
                subject: Self.hostile, passed: 1, failed: 0, unsupported: 0, notRun: 0,
                failures: [ConformanceRecord.Failure(id: Self.hostile, flags: [Self.hostile], reason: Self.hostile)])
        ]
        let files = renderReport(results)
        #expect(files.count == 14)
        for file in files where !file.name.hasPrefix("results.") {
            var text = String(decoding: file.bytes, as: UTF8.self)
            // A fenced block of Markdown is the one place where text stands as it is.
            if let fence = text.range(of: "Plan:\n\n"), file.name == "report.md" {
                #expect(text[fence.upperBound...].hasPrefix("`````\n"))
                text = String(text[..<fence.lowerBound])
            }
            #expect(!text.contains("<b>"), "\(file.name)")
            #expect(
                text.components(separatedBy: "</script").count == (file.name == "index.html" ? 2 : 1), "\(file.name)")
            #expect(!text.contains("\u{0}"), "\(file.name)")
            #expect(text.contains("&lt;b&gt;&amp;"), "\(file.name)")
        }
        for file in files where file.name.hasSuffix(".svg") || file.name == "index.html" {
            #expect(!String(decoding: file.bytes, as: UTF8.self).contains("&\""), "\(file.name)")
        }
        let json = try #require(files.first { $0.name == "results.json" })
        let object = try JSONSerialization.jsonObject(with: Data(json.bytes)) as? [String: Any]
        #expect((object?["host"] as? [String: Any])?["name"] as? String == Self.hostile)
    }

    @Test("the page loads nothing")
    func selfContained() {
        let page = text("index.html", of: RealisticFixture.results)
        for forbidden in ["<script ", "<link", "<img", "http:", "https:", "url(", "@import", "src="] {
            #expect(!page.contains(forbidden), "\(forbidden)")
        }
    }

    @Test("every identifier in the page is unique and every reference to one leads somewhere")
    func identifiers() {
        let page = text("index.html", of: RealisticFixture.results)
        let identifiers = values(of: "id", in: page)
        #expect(Set(identifiers).count == identifiers.count)
        let references = values(of: "aria-labelledby", in: page).flatMap { $0.split(separator: " ").map(String.init) }
        let links = values(of: "href", in: page).map { String($0.dropFirst()) }
        #expect(!references.isEmpty && !links.isEmpty)
        for reference in references + links { #expect(identifiers.contains(reference), "\(reference)") }
    }

    @Test("no cells make a report that says so")
    func empty() {
        let results = RunResults(header: Fixture.header, conformance: [], cells: [], isComplete: true)
        #expect(
            renderReport(results).map(\.name) == [
                "index.html", "report.md", "summary.md", "results.json", "results.csv", "report.xml",
            ])
        #expect(text("report.md", of: results).contains("No cell was measured"))
        #expect(text("report.md", of: results).contains("No vectors were run"))
        #expect(text("results.csv", of: results).split(separator: "\r\n").count == 1)
    }

    @Test("only failures make a report without any speed, picture or sample")
    func failuresOnly() {
        let results = RunResults(
            header: Fixture.header, conformance: Fixture.conformance,
            cells: [Fixture.failed("openssl", reason: "wrong digest"), Fixture.unchecked("libgcrypt")], isComplete: true
        )
        for file in renderReport(results) {
            let text = String(decoding: file.bytes, as: UTF8.self)
            #expect(!text.contains("iB/s"), "\(file.name)")
            #expect(!text.contains("1000000"), "\(file.name)")
        }
        #expect(renderReport(results).count == 6)
        #expect(text("report.md", of: results).contains("wrong digest"))
        #expect(text("report.md", of: results).contains("No cell has trusted figures"))
    }

    @Test("an incomplete run stands above the verdict")
    func incomplete() throws {
        var results = Fixture.small
        results.isComplete = false
        for name in ["report.md", "index.html"] {
            let report = text(name, of: results)
            let warning = try #require(report.range(of: "Incomplete run"))
            let verdict = try #require(report.range(of: "The best of what there is: libgcrypt"))
            #expect(warning.lowerBound < verdict.lowerBound)
        }
    }

    private func text(_ name: String, of results: RunResults) -> String {
        renderReport(results).first { $0.name == name }.map { String(decoding: $0.bytes, as: UTF8.self) } ?? ""
    }

    private func values(of attribute: String, in page: String) -> [String] {
        page.components(separatedBy: " \(attribute)=\"").dropFirst().map { $0.components(separatedBy: "\"")[0] }
    }
}

/// Whatever a file says, a report of it ends in bytes or in an error, and in no trap.
@Suite("absurd results")
struct AbsurdResultsTests {
    /// The records of the small fixture, as the lines of a file.
    private static func file() throws -> [String] {
        var records: [ResultRecord] = [.header(Fixture.header)] + Fixture.conformance.map(ResultRecord.conformance)
        for cell in Fixture.small.cells {
            if let reason = cell.failure { records.append(.failure(.init(cell: cell.cell, reason: reason))) }
            if let check = cell.check { records.append(.check(check)) }
            for (round, times) in cell.rounds.enumerated() {
                var time = TimeRecord(cellID: cell.cell.id, round: round, nanoseconds: times)
                time.usage = ProcessUsage(
                    userNanoseconds: 1, systemNanoseconds: 1, minorFaults: 1, majorFaults: 1, voluntarySwitches: 1,
                    involuntarySwitches: 1, instructions: 1, cycles: 1)
                records.append(.time(time))
            }
            if let latency = cell.latency {
                records.append(.latency(.init(cellID: cell.cell.id, latency: latency, firstByte: latency)))
            }
            if let memory = cell.memory { records.append(.memory(.init(cellID: cell.cell.id, memory: memory))) }
        }
        return try (records + [.end]).map { String(decoding: try $0.line(), as: UTF8.self) }
    }

    /// Replaces some numbers and texts of a line.
    private static func mutated(_ line: String, using generator: inout SplitMix64) -> String {
        let numbers = [
            "0", "1", "-1", "18446744073709551615", "18446744073709551616", "9223372036854775807",
            "4611686018427387903",
            "1e308", "0.5", "null", "NaN", "\"\"", "[]", "281474976710656", "65536", "4294967296",
        ]
        let texts = [
            "\"\"", "\"<script>\"", "\"\\u0000\\ud800\"", "\"\u{202E}\"", "null", "\"sequential\"", "\"random:\"",
        ]
        var result = ""
        var rest = Substring(line)
        while let character = rest.first {
            let isNumber = character.isNumber && (result.last == ":" || result.last == "[" || result.last == ",")
            let isText = character == "\"" && result.last == ":"
            if (isNumber || isText), generator.next() % 12 == 0 {
                if isNumber {
                    rest = rest.drop { $0.isNumber || $0 == "." }
                } else {
                    rest = rest.dropFirst().drop { $0 != "\"" }.dropFirst()
                }
                result += (isNumber ? numbers : texts).randomElement(using: &generator) ?? "0"
                continue
            }
            result.append(character)
            rest = rest.dropFirst()
        }
        return result
    }

    @Test("a file with absurd values anywhere is reported or refused", arguments: 0..<60)
    func mutations(seed: Int) throws {
        var generator = SplitMix64(seed: UInt64(seed))
        let lines = try Self.file()
        var accepted: [ResultRecord] = []
        for (index, line) in lines.enumerated() {
            // A changed line that is refused would hide all others, so that each is tried alone.
            let tried = index == 0 && seed.isMultiple(of: 2) ? line : Self.mutated(line, using: &generator)
            let bytes = Array(tried.utf8)
            if let record = try? JSONDecoder().decode(ResultRecord.self, from: Data(bytes)) { accepted.append(record) }
        }
        // A header that is refused is one of the lines that were tried; the others are reported all the same.
        if (try? RunResults(records: accepted)) == nil {
            accepted.removeAll { if case .header = $0 { true } else { false } }
            accepted.insert(.header(Fixture.header), at: 0)
        }
        expectReports(of: try RunResults(records: accepted))
    }

    private func expectReports(of results: RunResults) {
        for file in RunReport(results, history: History([HistoricalRun(results, path: "p", link: "l")])).files {
            expectWhole(file)
        }
        for file in SideBySide([("a", results), ("b", Fixture.small)]).files { expectWhole(file) }
        for file in RunComparison(Fixture.small, named: "a", with: results, named: "b").files { expectWhole(file) }
        let runs = (0..<8).map { HistoricalRun($0 < 4 ? results : Fixture.small, path: "\($0)", link: "l") }
        for format in HistoryFormat.allCases {
            expectWhole(History(runs).file(format, name: "trend.\(format.rawValue)"))
        }
    }

    @Test(
        "one process of three that is far away from the others widens intervals beyond all numbers",
        arguments: [1 << 53, (1 << 62) - 1, 1] as [UInt64])
    func wideIntervals(figure: UInt64) throws {
        var results = Fixture.small
        for index in results.cells.indices where results.cells[index].failure == nil {
            let id = results.cells[index].cell.id
            results.cells[index].latencies = (0..<3).map { round in
                let value = round == 0 ? figure : 1000
                let latency = LatencyRecord.Latency(
                    readCount: 3000, p50: value, p90: value, p99: value, p999: value, max: value)
                return LatencyRecord(cellID: id, round: round, latency: latency, firstByte: latency)
            }
            results.cells[index].memories = (0..<3).map { round in
                let peak = round == 0 ? figure : 1 << 20
                return MemoryRecord(
                    cellID: id, round: round,
                    memory: .init(baselineByteCount: 0, peakByteCount: peak, boundByteCount: 1))
            }
            results.cells[index].rounds = [[figure], [1000], [1000]]
        }
        expectReports(of: results)
        let page = try #require(RunReport(results).files.first { $0.name == "report.md" })
        let text = String(decoding: page.bytes, as: UTF8.self)
        #expect(text.contains("–∞") == (figure > 1))
        for format in ExportFormat.allCases where format != .asv { expectWhole(RunReport(results).export(format)) }
    }

    @Test("most files with a few absurd values are accepted: the test above means something")
    func accepted() throws {
        var counts = (accepted: 0, all: 0)
        for seed in 0..<20 {
            var generator = SplitMix64(seed: UInt64(seed))
            for line in try Self.file() {
                let bytes = Data(Self.mutated(line, using: &generator).utf8)
                counts.all += 1
                counts.accepted += (try? JSONDecoder().decode(ResultRecord.self, from: bytes)) == nil ? 0 : 1
            }
        }
        #expect(counts.accepted * 3 > counts.all, "\(counts)")
    }
}
