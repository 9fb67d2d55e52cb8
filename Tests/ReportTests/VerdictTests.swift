import Report
import Results
import Statistics
import Testing

@Suite struct VerdictTests {
    @Test("the verdict of the small fixture")
    func small() {
        let verdict = Verdict(Fixture.small)
        #expect(
            verdict.lines == [
                "No format that notices changes was measured from start to end: measure one, as Benchmarks/plans/default.yml does; "
                    + "with any other, something else must notice changes: a digest or MAC over the whole file, checked before any of it is used, or a store that only "
                    + "you can write to.",
                "The best of what there is: libgcrypt, cbc-continuous, windows of 64 KiB: 1,000 MiB/s (998–1,002 MiB/s) from "
                    + "start to end of a file in the page cache, 2.00× (1.99–2.01×) the runner-up, openssl, windows of 64 KiB.",
                "No other configuration is more than 1.5 % faster (95 % confidence, 5 compared, each with one thread); 1 other within 5 % of the "
                    + "best needs more memory.",
                "Correct: 2 subjects passed 2,404 of 2,404 vector reads (4 unsupported); "
                    + "left out: 4 of 9 configurations (2 other workloads, 1 failed, 1 without figures).",
            ])
        #expect(
            verdict.details == [
                "One step from it: windows of 1 MiB: 1.01× (1.01–1.01×) as fast, 1.00 MiB of memory instead of < 256 KiB; "
                    + "openssl: 50 % slower.",
                "Windows of 100 MiB with new buffers for each cost 55 % (54–55 %) of the throughput that windows of 64 KiB "
                    + "of cbc-continuous have with libgcrypt and need 101 MiB of memory instead of < 256 KiB.",
                "Where chunks of 16 MB of cbc-chunked are decrypted whole, a read of 4 KiB fetches 3,906× its bytes and "
                    + "takes 4.10 ms; by the blocks needed, 9.00 µs.",
                "How sure: each figure is of 1 to 3 fresh processes; 2 figures of fewer than three processes have no interval; "
                    + "half of the 95 % intervals are within ±0.1 %, the widest is ±0.3 %.",
            ])
    }

    private static func sentenceCount(_ lines: [String]) -> Int {
        lines.joined(separator: " ").ranges(of: ". ").count + 1
    }

    @Test("at most five findings, each of one sentence, without line breaks")
    func shape() {
        var (incomplete, wrong) = (Fixture.small, Fixture.small)
        incomplete.isComplete = false
        wrong.conformance[1].failed = 3
        for results in [Fixture.small, RealisticFixture.results, PageFixture.results, incomplete, wrong] {
            let verdict = Verdict(results)
            #expect((3...5).contains(verdict.lines.count))
            #expect(Self.sentenceCount(verdict.lines) == verdict.lines.count, "\(verdict.lines)")
            for line in verdict.lines + verdict.details {
                #expect(line.count <= 400 && !line.contains("\n"), "\(line.count): \(line)")
            }
        }
    }

    @Test("one process, one cell and nothing else are no claims")
    func few() {
        var results = Fixture.small
        results.cells = [Fixture.sequential("a", window: 65_536, milliseconds: 1, growth: 300_000)]
        results.cells[0].rounds = [[1_000_000]]
        results.cells[0].memory = nil
        let lines = Verdict(results).lines
        #expect(lines[1].hasPrefix("This run decides nothing"), "\(lines[1])")
        #expect(lines[1].hasSuffix("; nothing else was measured to compare it with."), "\(lines[1])")
        #expect(Verdict(results).details.last?.contains("fewer than three processes give no interval") == true)
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
        let start = "Correct as far as tested: 1 subject passed 10 of 10 vector reads (no vectors for libgcrypt)"
        #expect(Verdict(results).lines.contains { $0.hasPrefix(start) })
        results.conformance.append(record("libgcrypt", 0, 0))
        #expect(Verdict(results).lines.contains { $0.contains("no vectors for libgcrypt") })
    }

    @Test("a backend that fails a vector is called wrong and is never the fastest")
    func wrong() {
        var results = Fixture.small
        results.conformance[1].failed = 3
        let lines = Verdict(results).lines
        #expect(lines[0].hasPrefix("Wrong: libgcrypt failed 3 of 1207 reads; no speed"))
        #expect(lines[2].hasPrefix("The best of what there is: windows of 64 KiB: 500 MiB/s"))
        #expect(!lines.dropFirst().contains { $0.contains("libgcrypt") })
    }

    @Test("two backends tie whose ratio may be 1")
    func ties() {
        var results = Fixture.small
        results.cells = [
            Fixture.sequential("openssl", window: 4096, milliseconds: 1.001, growth: 0),
            Fixture.sequential("libgcrypt", window: 4096, milliseconds: 1, growth: 0),
        ]
        let lines = Verdict(results).lines
        #expect(lines[1].contains(", a tie with the runner-up, openssl."), "\(lines[1])")
        #expect(!lines[1].contains("×"), "\(lines[1])")
    }

    @Test("formats that protect alike are compared, and each has a table of its own")
    func otherStrategies() throws {
        var results = Fixture.small
        var faster = Fixture.sequential("openssl", window: 4096, milliseconds: 0.1, growth: 0)
        faster.cell.strategy = "ctr"
        results.cells.append(faster)
        #expect(Verdict(results).lines[1].hasPrefix("The best of what there is: openssl, ctr, windows of 4 KiB"))
        let report = try #require(renderReport(results).first { $0.name == "report.md" })
        #expect(
            String(decoding: report.bytes, as: UTF8.self).contains(
                "AES-128 ctr, 1 MiB in file, 1 thread | openssl"))
    }

    /// A run of cells that are drawn from a seed.
    private static func run(seed: UInt64) -> RunResults {
        var generator = SplitMix64(seed: seed)
        func one<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &generator)] }
        let (backends, strategies) = (
            ["a", "b", "c"].prefix(one([1, 2, 3])), ["ctr", "cobblestone-128"].prefix(one([1, 2]))
        )
        var cells: [CellResult] = []
        for backend in backends {
            for strategy in strategies {
                for window in [4096, 65_536, 1 << 20].prefix(one([1, 2, 3])) as ArraySlice<UInt64> {
                    for source in ["file", "mmap"].prefix(one([1, 2])) {
                        let rate = Double.random(in: 1...1.3, using: &generator)
                        var result = Fixture.sequential(
                            backend, window: window, milliseconds: 2 * rate, growth: one([0, window, 9 << 20]))
                        result.cell.strategy = strategy
                        result.cell.source = source
                        result.cell.threads = one([1, 1, 1, 2])
                        result.cell.isCold = one([nil, nil, nil, nil, nil, true])
                        if one([1, 2, 3, 4, 5, 6, 7, 8]) == 1 { result.cell.workload = "random:4KiB" }
                        if one([1, 2, 3, 4, 5, 6, 7, 8]) == 1 { result.failure = "wrong digest" }
                        let noise = one([0.001, 0.01, 0.05])
                        result.rounds = (0..<one([2, 3, 5, 5])).map { _ in
                            [UInt64(2e6 * rate * Double.random(in: 1 - noise...1 + noise, using: &generator))]
                        }
                        result.check?.cell = result.cell
                        if !cells.contains(where: { $0.cell.id == result.cell.id }) { cells.append(result) }
                    }
                }
            }
        }
        return RunResults(header: Fixture.header, conformance: [], cells: cells, isComplete: true).withFacts
    }

    @Test(
        "the verdict and recommend name the same of 1000 generated runs, and leave no cell out in silence",
        arguments: 0..<10 as Range<UInt64>)
    func agreement(block: UInt64) throws {
        var (choices, counted) = (0, 0)
        for seed in block * 100..<block * 100 + 100 {
            let results = Self.run(seed: seed)
            let lines = Verdict(results).lines
            #expect(lines.count <= 5 && Self.sentenceCount(lines) == lines.count, "seed \(seed): \(lines)")
            let starts = ["Take ", "The best of what", "This run decides nothing", "No read was timed"]
            let line = try #require(lines.first { line in starts.contains { line.hasPrefix($0) } })
            // What most cells share is what the verdict keeps to; of equals, the first.
            let timed = results.cells.filter { $0.failure == nil && $0.cell.workload == "sequential" }.map(\.cell)
            func size(_ cell: Cell) -> Int {
                timed.count {
                    ($0.strategy, $0.threads, $0.source, $0.isCold) == (
                        cell.strategy, cell.threads, cell.source, cell.isCold
                    )
                }
            }
            guard let shared = timed.max(by: { size($0) < size($1) }), shared.isCold != true else { continue }
            var request = RecommendationRequest()
            (request.workload, request.threads) = ("sequential", shared.threads)
            let own = try RunRecommendation(results, named: "run", request: request)
            let choice = try #require(own.json["choice"]?["bytesPerSecond"]?.integer)
            guard line.contains(": \(ByteCountText.rate(choice)) ") else {
                Issue.record("seed \(seed): \(line), expected \(ByteCountText.rate(choice))")
                continue
            }
            choices += 1
            let leftOut = lines.compactMap { line in
                line.firstRange(of: "eft out: ").map { String(line[$0.lowerBound...]) }
            }
            guard let text = leftOut.first else {
                #expect(own.json["compared"]?.integer == UInt64(results.cells.count), "seed \(seed)")
                continue
            }
            let numbers = text.split { !$0.isNumber }.compactMap { Int($0) }
            let comparedCount = Int(own.json["compared"]?.integer ?? 0)
            #expect(
                numbers[1] == results.cells.count && numbers[0] == numbers.dropFirst(2).reduce(0, +)
                    && numbers[0] + comparedCount == numbers[1], "\(text)")
            counted += 1
        }
        #expect(choices > 30 && counted > 20, "\(choices) \(counted)")
    }

    @Test("an incomplete run says so")
    func incomplete() {
        var results = Fixture.small
        results.isComplete = false
        #expect(Verdict(results).lines.last?.hasPrefix("INCOMPLETE RUN") == true)
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
            "Injected faults survived",
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
        ("Too few processes", { $0.cells[0].rounds = [[1_000_000, 1_000_001], [1_000_000]] }),
        (
            "Warm-up",
            { $0.cells[0].rounds = [[UInt64]](repeating: [1_000_100, 1_000_000, 1_000_000], count: 12) }
        ),
        (
            "Disturbed latencies",
            {
                $0.cells[0].latency = RecommendationFixture.latency(1)
                $0.cells[0].latencies[0].isContradicted = true
            }
        ),
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
