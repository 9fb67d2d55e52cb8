import Report
import Results
import Testing

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
        ("Failed cells", { $0.cells.append(Fixture.failed("openssl", reason: "x")) }),
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
