import Foundation
import Report
import Results
import Testing

/// What a report must never do: turn data into markup, show a speed that nothing vouches for, or hide that it is empty.
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
        #expect(files.count == 13)
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
            let verdict = try #require(report.range(of: "Take libgcrypt"))
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
