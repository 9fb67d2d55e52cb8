import Report
import Results
import Testing

@Suite struct VerdictTests {
    @Test("the verdict of the small fixture")
    func small() {
        #expect(
            Verdict(Fixture.small).lines == [
                "Take libgcrypt and decrypt 64 KiB at a time (the window): 1,000 MiB/s from start to end, 2.00× (1.98–2.03×) "
                    + "the runner-up, openssl at 64 KiB. 1 MiB ties with it and needs more memory.",
                "Windows of 100 MiB with new buffers for each, cost 55 % (54–55 %) of that throughput and "
                    + "101 MiB of memory instead of < 256 KiB.",
                "Windows of 16 MB were not measured with libgcrypt.",
                "Where chunks of 16 MB are decrypted whole, a read of 4 KiB fetches 3,906× its bytes and "
                    + "takes 4.10 ms; by the blocks needed, 9.00 µs.",
                "Correct: 2 subjects passed 2,404 of 2,404 vector reads (4 unsupported). 2 cells of 9 have no figures "
                    + "(1 failed, 1 not checked).",
                "How sure: each figure is the median of 1 to 2 fresh processes; 2 figures of one process have no interval; "
                    + "half of the 95 % intervals are within ±0.5 %, the widest is ±1.0 %.",
            ])
    }

    @Test("a few sentences without line breaks")
    func shape() {
        for results in [Fixture.small, RealisticFixture.results] {
            let lines = Verdict(results).lines
            #expect((5...6).contains(lines.count))
            for line in lines { #expect(line.count <= 280 && !line.contains("\n"), "\(line.count): \(line)") }
        }
    }

    @Test("windows of 16 MB and 100 MiB are compared in throughput, memory and time to the first byte")
    func sizes() {
        var results = Fixture.small
        results.cells = [
            Fixture.sequential("a", window: 65_536, milliseconds: 1, growth: 300_000),
            Fixture.sequential("a", window: 16_000_000, milliseconds: 1.001, growth: 16_100_000),
            Fixture.sequential("a", window: 104_857_600, milliseconds: 2, growth: 105_000_000),
        ]
        for (index, wait) in [20_000, 2_000_000, 40_000_000].enumerated() {
            let latency = RecommendationFixture.latency(UInt64(wait))
            results.cells[index].latency = latency
            results.cells[index].firstByte = RecommendationFixture.latency(5_000)
        }
        let lines = Verdict(results).lines
        #expect(
            lines[1] == "Windows of 16 MB tie with it in throughput and cost 15.4 MiB of memory instead of 293 KiB and "
                + "2.00 ms to the first byte instead of 20.0 µs.")
        #expect(lines[2].hasPrefix("Windows of 100 MiB cost 50 %"), "\(lines[2])")
        #expect(
            lines[2].hasSuffix("100 MiB of memory instead of 293 KiB and 40.0 ms to the first byte instead of 20.0 µs.")
        )
    }

    @Test("one process, one cell and nothing else are no claims")
    func few() {
        var results = Fixture.small
        results.cells = [Fixture.sequential("a", window: 65_536, milliseconds: 1, growth: 300_000)]
        results.cells[0].rounds = [[1_000_000]]
        results.cells[0].memory = nil
        let lines = Verdict(results).lines
        #expect(lines[0].hasSuffix("; nothing else was measured to compare it with."), "\(lines[0])")
        #expect(lines.last?.contains("one process gives no interval") == true)
        results.cells = []
        #expect(Verdict(results).lines[0] == "No read was timed with trusted results, so there is nothing to take.")
    }

    @Test("running no vectors is not a pass", arguments: [[], [("openssl", 0, 0)]])
    func zeroVectors(records: [(String, Int, Int)]) {
        var results = Fixture.small
        results.conformance = records.map(record)
        #expect(Verdict(results).lines[0].hasPrefix("Not verified"))
    }

    @Test("a backend without vectors, or with an empty set, is named")
    func untested() {
        var results = Fixture.small
        results.conformance = [record("openssl", 10, 0)]
        #expect(
            Verdict(results).lines[4].hasPrefix(
                "Correct as far as tested: 1 subject passed 10 of 10 vector reads (no vectors for libgcrypt)."))
        results.conformance.append(record("libgcrypt", 0, 0))
        #expect(Verdict(results).lines[4].contains("no vectors for libgcrypt"))
    }

    @Test("a backend that fails a vector is called wrong and is never the fastest")
    func wrong() {
        var results = Fixture.small
        results.conformance[1].failed = 3
        let lines = Verdict(results).lines
        #expect(lines[0].hasPrefix("Wrong: libgcrypt failed 3 of 1207 reads."))
        #expect(lines[1].hasPrefix("Take openssl and decrypt 64 KiB"))
        #expect(!lines.dropFirst().contains { $0.contains("libgcrypt") })
    }

    @Test("two backends whose intervals overlap tie")
    func ties() {
        var results = Fixture.small
        results.cells = [
            Fixture.sequential("openssl", window: 4096, milliseconds: 1.001, growth: 0),
            Fixture.sequential("libgcrypt", window: 4096, milliseconds: 1, growth: 0),
        ]
        let lines = Verdict(results).lines
        #expect(lines[0].contains(", a tie with openssl at 4 KiB, the runner-up."), "\(lines[0])")
        #expect(!lines[0].contains("×"), "\(lines[0])")
    }

    @Test("a claim about one strategy does not speak for another, which has a table of its own")
    func otherStrategies() throws {
        var results = Fixture.small
        var faster = Fixture.sequential("openssl", window: 4096, milliseconds: 0.1, growth: 0)
        faster.cell.strategy = "ctr"
        results.cells.append(faster)
        #expect(Verdict(results).lines[0].hasPrefix("Take libgcrypt and decrypt 64 KiB"))
        let report = try #require(renderReport(results).first { $0.name == "report.md" })
        #expect(
            String(decoding: report.bytes, as: UTF8.self).contains(
                "AES-128 ctr (pkcs7), 1 MiB in file, 1 thread | openssl"))
    }

    @Test("an incomplete run says so")
    func incomplete() {
        var results = Fixture.small
        results.isComplete = false
        #expect(Verdict(results).lines.last?.hasPrefix("How sure: INCOMPLETE RUN") == true)
    }

    private func record(_ subject: String, _ passed: Int, _ failed: Int) -> ConformanceRecord {
        ConformanceRecord(
            subject: subject, passed: passed, failed: failed, unsupported: 0, notRun: 0, failures: [])
    }
}

/// Warnings on results of which one thing is wrong, and none on results of which nothing is.
@Suite struct WarningTests {
    /// Five rounds of one cell on a machine that tells everything.
    private static let sound: RunResults = {
        var results = Fixture.small
        var cell = Fixture.sequential("openssl", window: 4096, milliseconds: 1, growth: 0)
        cell.rounds = (0..<5).map { round in (0..<4).map { 1_000_000 + UInt64(round * 100 + $0) } }
        cell.usage = ProcessUsage(
            userNanoseconds: 1_000_000_000, systemNanoseconds: 0, minorFaults: 0, majorFaults: 0,
            voluntarySwitches: 0, involuntarySwitches: 10, instructions: 1, cycles: 1)
        results.cells = [cell]
        results.header.host.isTurboOn = false
        return results
    }()

    private static let cases: [(title: String, change: @Sendable (inout RunResults) -> Void)] = [
        ("Incomplete run", { $0.isComplete = false }),
        ("No cell was measured", { $0.cells = [] }),
        ("No cell has trusted figures", { $0.cells[0].failure = "x" }),
        ("Cells without figures", { $0.cells.append(Fixture.failed("openssl", reason: "x")) }),
        ("Not verified", { $0.conformance = [] }),
        (
            "Planted faults survived",
            {
                $0.mutants = MutantsRecord(
                    backend: "b", outcomes: [.init(name: "m", flag: "f", killedBy: ["g"])], controls: [])
            }
        ),
        (
            "The kill matrix proves nothing",
            {
                $0.mutants = MutantsRecord(
                    backend: "b", outcomes: [], controls: [.init(name: "c", passed: 1, failed: 1)])
            }
        ),
        ("Noisy host", { $0.cells[0].rounds = [[1_000_000], [1_200_000], [1_000_000], [1_400_000], [900_000]] }),
        ("Unsteady warm-ups", { $0.cells[0].unsteadyRoundCount = 3 }),
        ("One process", { $0.cells[0].rounds = [[1_000_000, 1_000_001]] }),
        ("Few rounds", { $0.cells[0].rounds.removeLast(2) }),
        ("Shared CPUs", { $0.cells[0].usage?.involuntarySwitches = 51 }),
        ("Faster than the machine", { $0.cells[0].rounds = [[100_000], [100_001], [100_002], [100_000], [100_000]] }),
        ("No limits", { $0.header.limits = nil }),
        ("No CPU counters", { $0.cells[0].usage?.cycles = nil }),
        ("No memory figures", { $0.cells[0].memory = nil }),
        ("Huge pages", { $0.header.host.transparentHugePages = "always" }),
        ("CPU frequency", { $0.header.host.frequencyGovernor = "ondemand" }),
        ("Turbo", { $0.header.host.isTurboOn = nil }),
        (
            "Not quite cold",
            {
                $0.cells[0].cell.isCold = true
                $0.cells[0].residentByteCount = 2 << 20
            }
        ),
    ]

    private static let titles = cases.map(\.title)

    private func found(_ results: RunResults) -> [String] {
        let page = PageTests.page(results)
        return Self.titles.filter { page.contains("Warning: \($0).") || page.contains("<th scope=\"row\">\($0)</th>") }
    }

    @Test("nothing is said of a sound run")
    func silence() {
        #expect(found(Self.sound).isEmpty)
        #expect(!PageTests.page(Self.sound).contains("Warnings and advice"))
    }

    @Test("each thing that may be wrong has its warning", arguments: titles)
    func warnings(title: String) throws {
        var results = Self.sound
        try #require(Self.cases.first { $0.title == title }).change(&results)
        #expect(found(results).contains(title), "\(found(results))")
    }
}
