import Foundation
import Report
import Results
import Statistics
import Support
import Testing

@Suite("a history of runs")
struct HistoryTests {
    private static let folder = GoldenFolder("GoldenHistory")

    /// Runs of the small fixture, a day apart, with noise of 1 %; a change slows one backend from a run on.
    static func runs(
        _ count: Int, host: String = "bench-1", slowing backend: String? = nil, by factor: Double = 1, from: Int = 0,
        seed: UInt64 = 1
    ) -> [HistoricalRun] {
        var generator = SplitMix64(seed: seed)
        return (0..<count).map { number in
            var results = Fixture.small
            results.header.host.name = host
            results.header.startedAt =
                "2026-\(number / 28 + 1 < 10 ? "0" : "")\(number / 28 + 1)-"
                + "\(number % 28 + 1 < 10 ? "0" : "")\(number % 28 + 1)T00:00:00Z"
            if backend != nil, number >= from { results.header.backends[1].version = "1.11.0" }
            let day = Double.random(in: 0.8...1.2, using: &generator)
            results.cells = results.cells.map { cell in
                var cell = cell
                let slow = cell.cell.backend == backend && number >= from ? factor : 1
                let time = day * slow * Double.random(in: 0.99...1.01, using: &generator)
                cell.rounds = cell.rounds.map { $0.map { UInt64(Double($0) * time) } }
                return cell
            }
            let folder = host == "bench-1" ? "run-\(number)" : "other-\(number)"
            return HistoricalRun(results, path: "\(folder)/results.jsonl", link: "\(folder)/index.html")
        }
    }

    /// A host with a change in five of six cells, and one with few runs.
    private static let two = History(
        (runs(20, slowing: "libgcrypt", by: 1.1, from: 12) + runs(3, host: "bench-2 <b>", seed: 2)).shuffled(),
        skipped: [SkippedFile(path: "x <i>/results.jsonl", reason: "no | header")])

    @Test("a history is the same as ever, byte for byte")
    func golden() throws {
        try Self.folder.expect(Self.two.file(.markdown).bytes, in: "trend.md")
        try Self.folder.expect(Self.two.file(.json).bytes, in: "trend.json")
        #expect(try Self.folder.names.count == 2)
    }

    @Test("text has a line of letters for each cell, with its changes")
    func letters() {
        let words = text(Self.two, .text)
        for part in [
            "bench-2 <b> (Example CPU @ 3.00GHz): 3 runs, too few to tell a change from noise (at least 6).",
            "from 2026-01-13T00:00:00Z on (run-12/results.jsonl): libgcrypt (5) by −9.0 % to −8.6 %.",
            "3 0.802× 0.802× 0.798× 0.802× █▁█ 0", "20 2.01× 1.83× 1.80× 2.01× █████▇▇█▇▇█▇|▂▂▂▁▁▁▂▂ 1",
            "x <i>/results.jsonl no | header",
        ] { #expect(words.contains(part), "\(part)") }
    }

    @Test("the page draws every run of each cell, wide and narrow, and marks each change")
    func page() {
        let file = Self.two.file(.html)
        expectWhole(file)
        let page = String(decoding: file.bytes, as: UTF8.self)
        let traces = page.matches(of: /<path class="leader trace" d="M([^"]*)"/).map { $0.1.split(separator: "L") }
        #expect(traces.map(\.count) == Array(repeating: 3, count: 12) + Array(repeating: 20, count: 12))
        #expect(page.matches(of: /<line class="whisker s1"/).count == 2 * 5)
        for part in [
            "<h2 id=\"history-1-heading\">History: bench-2 &lt;b&gt;, Example CPU @ 3.00GHz</h2>",
            "libgcrypt window=64KiB: 1.83× in the latest run, 1.80× to 2.01× in all; −8.8 % from run 13 on",
            "<td class=\"number bad\">−9.0 %</td><td><a href=\"run-12/index.html\">2026-01-13T00:00:00Z</a>",
            "x &lt;i&gt;/results.jsonl", "no | header",
        ] { #expect(page.contains(part), "\(part)") }
    }

    @Test("a slowdown of one backend is marked in its cells, at its run, with what changed there")
    func change() throws {
        let history = History(Self.runs(30, slowing: "libgcrypt", by: 1.1, from: 18))
        let host = try #require(history.hosts.first)
        #expect(history.reference == "openssl" && history.hosts.count == 1)
        let changed = host.cells.filter { !$0.changes.isEmpty }
        #expect(!changed.isEmpty && changed.allSatisfy { $0.cell.backend == "libgcrypt" })
        #expect(changed.count == host.cells.count { $0.cell.backend == "libgcrypt" })
        for cell in changed {
            #expect(cell.changes.map(\.run) == [18])
            #expect(abs(cell.changes[0].factor * 1.1 - 1) < 0.01)
            #expect(cell.changes[0].differences.map(\.name) == ["libgcrypt"])
        }
        #expect(history.findings.first?.contains("−9.") == true)
    }

    @Test("days that slow everything are no change")
    func days() {
        let history = History(Self.runs(60))
        #expect(history.hosts.allSatisfy { $0.cells.allSatisfy(\.changes.isEmpty) })
        #expect(history.findings.first?.contains("no change") == true)
    }

    @Test("the order of runs is that of their starts, and of their paths where those are the same")
    func order() {
        let runs = Self.runs(5)
        var same = runs[2]
        same.path = "a-copy/results.jsonl"
        let history = History([same] + runs.reversed())
        #expect(
            history.runs.map(\.path) == [
                "run-0/results.jsonl", "run-1/results.jsonl", "a-copy/results.jsonl", "run-2/results.jsonl",
                "run-3/results.jsonl", "run-4/results.jsonl",
            ])
    }

    @Test("hosts are kept apart, and a host's report shows its own history only")
    func hosts() {
        let history = History(Self.runs(4) + Self.runs(3, host: "other"))
        #expect(history.hosts.map(\.runs.count).sorted() == [3, 4])
        #expect(history.only(Fixture.header.host).hosts.map(\.host.name) == ["bench-1"])
    }

    @Test("a cell without a partner is put over the anchor, and one run without the reference leaves gaps")
    func gaps() throws {
        var runs = Self.runs(8)
        runs[3].cells.removeAll { $0.cell.backend == "openssl" }
        let host = try #require(History(runs, reference: "openssl").hosts.first)
        #expect(host.cells.allSatisfy { $0.ratios[3] == nil && $0.ratios[4] != nil })
        let random = try #require(host.cells.first { $0.cell.workload.hasPrefix("random") })
        #expect(random.reference == host.anchor)
        let partner = try #require(host.cells.first { $0.cell.backend == "libgcrypt" && $0.cell.label == nil })
        #expect(partner.reference.backend == "openssl")
        #expect(partner.reference.windowByteCount == partner.cell.windowByteCount)
    }

    @Test("a reference that no run has leaves a history without ratios, in every form")
    func noReference() throws {
        let history = History(Self.runs(3), reference: "none")
        #expect(history.hosts.allSatisfy { $0.cells.isEmpty && $0.anchor == nil })
        for format in HistoryFormat.allCases {
            let file = history.file(format, name: "trend.\(format.rawValue)")
            expectWhole(file)
            let words = text(history, format)
            #expect(words.contains("3 runs") && words.contains("no ratios without the reference"), "\(words)")
            guard format == .json else { continue }
            let hosts = try #require(JSONValue.parse(file.bytes)?["hosts"]?.array)
            #expect(hosts.map { $0["cells"] } == [.array([])] && hosts.map { $0["anchor"] } == [.null])
        }
    }

    @Test("one run, and runs without cells, have a history too", arguments: HistoryFormat.allCases)
    func little(format: HistoryFormat) {
        let one = History(Self.runs(1))
        #expect(one.findings.first?.contains("too few") == true)
        expectWhole(one.file(format, name: "trend.\(format.rawValue)"))
        #expect(text(one, format).contains("1 run") && text(one, format).contains("too few"))
        let none = HistoricalRun(
            RunResults(header: Fixture.header, conformance: [], cells: [], isComplete: false), path: "p", link: "l")
        expectWhole(History([none]).file(format, name: "trend.\(format.rawValue)"))
        #expect(text(History([none]), format).contains("bench-1"))
    }

    /// A history in one form, with single blanks.
    private func text(_ history: History, _ format: HistoryFormat) -> String {
        String(decoding: history.file(format).bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace)
            .joined(separator: " ")
    }

    @Test("cells that failed, were not checked, or whose backend failed a vector have no part in it")
    func trusted() {
        var results = Fixture.small
        let all = HistoricalRun(results, path: "p", link: "l").cells
        #expect(all.count == 7)
        results.conformance[0].failed = 1
        let others = HistoricalRun(results, path: "p", link: "l").cells
        #expect(!others.isEmpty && others.allSatisfy { $0.cell.backend == "libgcrypt" })
    }

    @Test(
        "links stay relative files",
        arguments: [
            ("a b/<x>\"'/index.html", "a%20b/%3Cx%3E%22%27/index.html"), ("../r/results.jsonl", "../r/results.jsonl"),
            ("javascript:alert(1)", "javascript%3Aalert%281%29"), ("é", "%C3%A9"),
        ])
    func links(path: String, reference: String) {
        var runs = Self.runs(1)
        runs[0].link = path
        let page = String(decoding: History(runs).file(.html).bytes, as: UTF8.self)
        #expect(page.contains("href=\"\(reference)\""))
        #expect(LinkText.path(from: "/a/b/c", to: "/a/x/y.html") == "../../x/y.html")
        #expect(LinkText.path(from: "/a", to: "/a/x") == "x")
    }

    @Test("a report includes the history of its machine when it is asked for")
    func inReport() {
        let history = History(Self.runs(4) + Self.runs(3, host: "other"))
        func page(_ report: RunReport) -> String { String(decoding: report.file(.html).bytes, as: UTF8.self) }
        #expect(page(RunReport(Fixture.small, history: history)).contains("History: bench-1"))
        #expect(!page(RunReport(Fixture.small, history: history)).contains("History: other"))
        #expect(!page(RunReport(Fixture.small)).contains("History:"))
    }
}
