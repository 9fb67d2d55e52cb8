import Foundation
import Report
import Results
import Testing

@Suite("reports for pull requests and CI systems")
struct PullRequestTests {
    private static func text(_ format: ReportFormat, _ results: RunResults) -> String {
        String(decoding: RunReport(results).file(format).bytes, as: UTF8.self)
    }

    /// Results with that many cells, of which some have failed, and with texts as long.
    private static func large(_ count: Int, textLength: Int) -> RunResults {
        var results = Fixture.small
        let long = String(repeating: "<|`é", count: textLength)
        results.cells = (0..<count).map { index in
            var cell = Fixture.sequential(
                "backend-\(index % 40)", window: UInt64(index / 40 + 1) * 4096, milliseconds: 1, growth: 4096)
            cell.rounds = [[1_000_000 + UInt64(index)]]
            if index.isMultiple(of: 3) { cell.failure = long }
            return cell
        }
        results.conformance = (0..<count).map {
            ConformanceRecord(
                subject: "\($0)" + long, passed: 1, failed: 1, unsupported: 0, notRun: 0,
                failures: [.init(id: long, flags: [], reason: long)])
        }
        results.header.host.cpuModel = long
        results.header.startedAt = long
        results.header.command = [long]
        results.isComplete = false
        return results
    }

    @Test("a comment has a few thousand characters, however much was measured", arguments: [1, 100, 3000])
    func length(count: Int) {
        #expect(Self.text(.markdown, Self.large(count, textLength: 1)).utf8.count < 12_000)
        #expect(Self.text(.markdown, Self.large(count, textLength: 5000)).count < 16_000)
    }

    @Test("an ordinary comment fits on a page, with a line of letters for each backend")
    func ordinary() {
        let text = Self.text(.markdown, RealisticFixture.results)
        #expect(text.count < 4000)
        #expect(text.split(separator: "\n").count < 40)
        #expect(text.contains("█") && text.contains("logarithmic") && text.contains("index.html"))
        #expect(text.contains("chunkwise run Benchmarks/plans/quick.yaml"))
    }

    @Test("what failed, and that the run was broken off, stands in the comment")
    func failures() {
        var results = Fixture.small
        results.isComplete = false
        results.omitted.cutByteCount = 17
        results.conformance[0].failed = 3
        let text = Self.text(.markdown, results)
        for words in ["17 bytes are left out", "did not come to its end", "openssl failed 3 of 1203"] {
            #expect(text.contains(words), "\(words)")
        }
    }

    @Test("a cut is said on the page, in Markdown and in JSON")
    func cut() {
        var results = Fixture.small
        results.omitted.cutByteCount = 17
        for format in [ReportFormat.html, .fullMarkdown, .markdown] {
            #expect(Self.text(format, results).contains("17 bytes are left out"), "\(format)")
        }
        #expect(Self.text(.json, results).contains("\"cutByteCount\": 17"))
    }

    @Test("JUnit has a case a cell and a subject, and fails what failed, is unchecked or wrong")
    func junit() {
        var results = Fixture.small
        results.conformance[1].failed = 2
        let schema = JUnitSchema(Self.text(.junit, results))
        #expect(schema.mismatches.isEmpty, "\(schema.mismatches)")
        #expect(schema.cases.count == 1 + 2 + results.cells.count)
        // One subject, the cells of its backend, one that failed and one unchecked.
        let own = results.cells.count { $0.cell.backend == "libgcrypt" }
        #expect(schema.counts["failure"] == 1 + own + 2)
        #expect(schema.counts["error", default: 0] == 0)
        results.isComplete = false
        #expect(JUnitSchema(Self.text(.junit, results)).counts["error"] == 1)
    }

    @Test("results of one cell, one backend, one round and without memory have a report in every form")
    func little() {
        var results = Fixture.small
        results.cells = [Fixture.random("only", chunk: 4096, access: .block, fetched: 4128, p50: 9)]
        results.header.backends = []
        results.header.limits = nil
        results.conformance = []
        for format in ReportFormat.allCases { #expect(!Self.text(format, results).isEmpty, "\(format)") }
        #expect(Self.text(.markdown, results).contains("random:4KiB"))
    }

    @Test("cells that the table leaves out are named, and values have the units of options")
    func hidden() {
        var results = Fixture.small
        results.cells = (0..<15).map { index in
            var result = Fixture.random("only", chunk: 4096 << index, access: .block, fetched: 4128, p50: 9)
            result.cell.remoteLatencyNanoseconds = 20_000_000
            result.cell.remoteBytesPerSecond = 100_000_000
            result.check?.cell = result.cell
            return result
        }
        let text = Self.text(.markdown, results)
        #expect(text.contains("chunk=4KiB") && text.contains("latency=20ms bandwidth=100MB/s"))
        #expect(
            text.contains(
                "3 more cells in the full report: cbc-chunked:chunk=16MiB; "
                    + "cbc-chunked:chunk=32MiB; cbc-chunked:chunk=64MiB."))
        #expect(!text.contains("20000000ns"))
    }

    @Test("a cell that was checked and not timed yet is not called failed")
    func untimed() {
        var results = Fixture.small
        results.conformance = []
        results.cells = Array(results.cells.prefix(2))
        results.cells[1].rounds = []
        let text = Self.text(.markdown, results)
        #expect(text.contains("Not timed yet") && !text.lowercased().contains("failed"), "\(text)")
        let report = Self.text(.fullMarkdown, results)
        #expect(report.contains("| not timed yet |"))
        #expect(report.contains("1 of 2 cells have no figures: 1 not timed yet"))
    }
}
