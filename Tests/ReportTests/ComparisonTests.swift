import Report
import Results
import Support
import Testing

@Suite("two runs side by side")
struct ComparisonTests {
    private static let folder = GoldenFolder("GoldenComparison")

    /// The small fixture measured again: one cell slower, one faster, one as it was, one gone, one new, one failed.
    private static let again: RunResults = {
        var again = Fixture.small
        again.header.startedAt = "2026-11-21T12:00:00Z"
        again.header.seed = 8
        again.header.host.kernel = "Linux 6.13.0"
        again.header.host.frequencyGovernor = "performance"
        again.header.backends[0].version = "3.5.0"
        again.header.plan = "name: quick\nwindows: [64KiB, 4MiB]\n"
        again.cells[0].rounds = again.cells[0].rounds.map { $0.map { $0 * 11 / 10 } }
        again.cells[1].rounds = again.cells[1].rounds.map { $0.map { $0 * 10 / 12 } }
        again.cells[4].failure = "subject died: exit status 1"
        again.cells.remove(at: 3)
        again.cells.append(Fixture.sequential("openssl", window: 4 << 20, milliseconds: 2, growth: 4 << 20))
        return again
    }()

    private static func compare(_ b: RunResults) -> RunComparison {
        RunComparison(Fixture.small, named: "a/results.jsonl", with: b, named: "b/results.jsonl")
    }

    private static func markdown(_ comparison: RunComparison) -> String {
        String(decoding: comparison.file(.markdown).bytes, as: UTF8.self)
    }

    private static let otherHost: RunResults = {
        var other = again
        other.header.host.cpuModel = "Other CPU | <b>@</b>"
        return other
    }()

    @Test("a comparison is the same as ever, byte for byte")
    func golden() throws {
        let comparison = Self.compare(Self.again)
        try Self.folder.expect(Array(comparison.json.text.utf8), in: "same-host.json")
        try Self.folder.expect(comparison.file(.markdown).bytes, in: "same-host.md")
        #expect(try Self.folder.names.count == 2)
    }

    @Test("text has what Markdown has")
    func text() {
        expectText(
            Self.compare(Self.again).text,
            has: [
                "B b/results.jsonl (chunkwise 0.1.0 on bench-1, 2026-11-21T12:00:00Z, seed 8)",
                "openssl 3.0.15 (aes-ni) 3.5.0 (aes-ni)", "B faster in 1, slower in 1, undecided in 3",
                "500 MiB/s 455 MiB/s 0.909× 0.908–0.910× slower < 256 KiB < 256 KiB", "1 cell only in A:",
                "1 cell only in B:", "3 cells of both without figures:", "B: subject died: exit status 1",
            ])
        let other = Self.compare(Self.otherHost)
        expectText(
            other.text, has: ["CPU Example CPU @ 3.00GHz Other CPU | <b>@</b>", "1.200× 1.199–1.201× not judged"])
        #expect(Self.markdown(other).contains("| CPU | Example CPU @ 3.00GHz | Other CPU \\| &lt;b&gt;@&lt;/b&gt; |"))
    }

    @Test("a cell is faster or slower where its interval leaves out 1")
    func relations() {
        let comparison = Self.compare(Self.again)
        let relations = comparison.pairs.map { comparison.relation($0) }
        #expect(relations == [.slower, .faster, .undecided, .undecided, .undecided])
        // Times × 1.1 are a throughput ÷ 1.1.
        #expect(abs(comparison.pairs[0].ratio.ratio - 1 / 1.1) < 1e-5)
        #expect(comparison.within5PercentCount == 3)
        // A random workload of the fixture has one process.
        #expect(comparison.pairs.map(\.ratio.hasInterval) == [true, true, true, false, false])
    }

    @Test("every cell is somewhere: compared, in one only, or without figures")
    func completeness() {
        let comparison = Self.compare(Self.again)
        #expect(comparison.onlyInA.map(\.id) == [Fixture.small.cells[3].cell.id])
        #expect(comparison.onlyInB.map(\.windowByteCount) == [4 << 20])
        #expect(comparison.withoutFigures.count == 3)
        let all = comparison.pairs.count + comparison.onlyInA.count + comparison.withoutFigures.count
        #expect(all == Fixture.small.cells.count)
        #expect(comparison.withoutFigures[0].a == nil && comparison.withoutFigures[0].b?.contains("died") == true)
    }

    static let hosts: [@Sendable (inout RunHeader.Host) -> Void] = [
        { $0.name = "elsewhere" }, { $0.cpuModel = "Other" }, { $0.cpuCount += 1 }, { $0.cpuFlags.removeLast() },
        { $0.memoryByteCount += 1 }, { $0.cacheByteCounts.removeLast() },
    ]

    @Test("nothing is called faster or slower between different hosts", arguments: hosts.indices)
    func differentHosts(index: Int) throws {
        var other = Self.again
        Self.hosts[index](&other.header.host)
        let comparison = Self.compare(other)
        #expect(!comparison.isSameHost)
        #expect(comparison.pairs.allSatisfy { comparison.relation($0) == .notJudged })
        for text in [comparison.text, Self.markdown(comparison)] {
            let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            #expect(words.components(separatedBy: "different hosts").count == 2)
            #expect(words.contains("measure both at once: chunkwise gate."))
            for word in ["faster", "slower", "regression", "improvement"] { #expect(!text.contains(word), "\(word)") }
        }
        #expect(comparison.json["faster"] == 0 && comparison.json["slower"] == 0)
        #expect(comparison.json["isSameHost"] == false)
    }

    @Test("comments and blank lines of plans are no difference; what differs is shown with its own line")
    func planComments() {
        func differences(_ plans: [String]) -> [RunDifference] {
            RunDifference.between(
                plans.map { plan in
                    var header = Fixture.header
                    header.plan = plan
                    return header
                })
        }
        let plan = "seed: 1\nlabel: \"a # b\"\ntime: 1s\n"
        let commented = "# Of a day.\n\nseed: 1   # always\nlabel: \"a # b\"\n  # more\ntime: 1s"
        #expect(differences([plan, commented]).isEmpty)
        let found = differences([plan, "# Of a day.\nseed: 1\nlabel: \"a # c\"\ntime: 1s\n"])
        #expect(found.map(\.values) == [["line 2: label: \"a # b\"", "line 3: label: \"a # c\""]])
        #expect(
            differences([plan, plan + "rounds: 2\n"]).map(\.values) == [["ends after line 3", "line 4: rounds: 2"]])
    }

    @Test("a kernel, a governor, a library, a seed and a plan that differ are named, and the host is the same")
    func differences() {
        let names = Self.compare(Self.again).differences.map(\.name)
        #expect(names == ["kernel", "frequency governor", "openssl", "plan", "seed"])
    }

    @Test("a run against itself is 1 throughout, and nothing differs")
    func itself() {
        let comparison = Self.compare(Fixture.small)
        #expect(comparison.differences.isEmpty)
        #expect(comparison.pairs.allSatisfy { $0.ratio.ratio == 1 && comparison.relation($0) == .undecided })
        #expect(comparison.within5PercentCount == comparison.pairs.count)
    }

    @Test("swapped runs have the reciprocal ratios")
    func symmetry() {
        let there = Self.compare(Self.again)
        let back = RunComparison(Self.again, named: "b", with: Fixture.small, named: "a")
        #expect(there.within5PercentCount == back.within5PercentCount)
        for pair in there.pairs {
            let other = back.pairs.first { $0.cell.id == pair.cell.id }
            #expect(abs((other?.ratio.ratio ?? 0) * pair.ratio.ratio - 1) < 1e-12)
        }
    }
}

@Suite("runs side by side")
struct SideBySideTests {
    private static let folder = GoldenFolder("GoldenSideBySide")

    /// Two runs of one machine and one of another, which is exactly twice as fast.
    private static let three: SideBySide = {
        var later = Fixture.small
        later.header.startedAt = "2026-11-22T12:00:00Z"
        later.isComplete = false
        later.cells.removeLast(3)
        var other = Fixture.small
        other.header.host.name = "bench-2"
        other.header.host.cpuModel = "Other <CPU>"
        other.header.backends[0].version = "3.5.0"
        other.cells = other.cells.map { cell in
            var cell = cell
            cell.rounds = cell.rounds.map { $0.map { $0 / 2 } }
            return cell
        }
        return SideBySide([("later", later), ("other", other), ("first", Fixture.small)])
    }()

    /// The page has the parts of report.md, and the figures are those of each run's own files.
    @Test(
        "several runs are written as ever, byte for byte",
        arguments: [ReportFormat.fullMarkdown, .markdown, .csv, .junit])
    func golden(format: ReportFormat) throws {
        let file = Self.three.file(format)
        try Self.folder.expect(file.bytes, in: file.name)
        #expect(try Self.folder.names.count == 4)
    }

    @Test("the page has a section for each run, with its own picture")
    func structure() {
        let page = String(decoding: Self.three.file(.html).bytes, as: UTF8.self)
        let sections = page.components(separatedBy: "<section id=\"").dropFirst().map {
            $0.components(separatedBy: "\"")[0]
        }
        let expected = [
            "verdict", "runs", "differences", "run-1", "run-2", "run-3", "throughput", "memory", "failures",
        ]
        #expect(sections == expected)
        #expect(page.components(separatedBy: "<figure class=\"picture\">").count == 4)
        #expect(
            Self.three.files.map(\.name).filter { $0.hasSuffix(".svg") } == [
                "throughput-1.svg", "throughput-2.svg", "throughput-3.svg",
            ])
    }

    @Test("figures are those of each run, and none lies between two hosts")
    func noAverage() throws {
        let json = try #require(JSONValue.parse(Self.three.file(.json).bytes))
        let runs = try #require(json["runs"]?.array)
        #expect(json["hostCount"] == 2 && runs.count == 3)
        // The runs of the first host stand together, in the order of their starts.
        #expect(runs.compactMap { $0["name"]?.string } == ["first", "later", "other"])
        let rates = runs.compactMap { $0["cells"]?.array?.first?["bytesPerSecond"]?.integer }
        #expect(rates.count == 3 && rates[0] == rates[1] && abs(Double(rates[2]) / Double(rates[0]) - 2) < 1e-3)
        let own = try #require(JSONValue.parse(RunReport(Fixture.small).file(.json).bytes))
        #expect(own["cells"] == runs[0]["cells"] && own["host"] == runs[0]["host"])
    }

    @Test("the same run given twice is said")
    func twice() {
        let page = String(
            decoding: SideBySide([("a", Fixture.small), ("b", Fixture.small)]).file(.html).bytes, as: UTF8.self)
        #expect(page.contains("the same run, given twice"))
    }

    @Test("the document of several runs keeps to JUnit's schema")
    func junit() {
        let schema = JUnitSchema(String(decoding: Self.three.file(.junit).bytes, as: UTF8.self))
        #expect(schema.mismatches.isEmpty, "\(schema.mismatches)")
    }
}
