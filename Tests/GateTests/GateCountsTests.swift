import Gate
import Results
import TestSupport
import Testing

@Suite("gate: counts") struct GateCountsTests {
    private static let profile = """
        # callgrind format
        version: 1
        positions: line
        events: Ir sysCount sysTime
        summary: 100 3 5

        ob=/opt/reader
        fl=reader.swift
        fn=read
        10 40
        11 2 1 9
        cob=/lib/x86_64-linux-gnu/libcrypto.so.3
        cfi=aes.c
        cfn=decrypt
        calls=3 20
        11 50
        cfn=malloc
        calls=2 7
        12 8 1 1

        ob=/lib/x86_64-linux-gnu/libcrypto.so.3
        fn=decrypt
        20 50

        ob=/lib/x86_64-linux-gnu/libc.so.6
        fn=malloc
        7 8 1 1

        ob=/usr/lib/libswiftCore.so
        fn=swift::ConcurrentReadableHashMap<Entry>::find(Key const&)
        30 9 0 0
        """

    @Test("a callee's cost is counted once, libraries apart from the program; what layouts differ in is left out")
    func profile() {
        var profile = CallgrindProfile()
        profile.add(Self.profile)
        #expect(profile.instructionCount == 100 && profile.libraryInstructionCount == 50)
        #expect(profile.allocationCount == 2 && profile.systemCallCount == 2)
        profile.add(Self.profile)
        #expect(profile.instructionCount == 200)
    }

    @Test(
        "counts grew if every run is over every other by more than the limit, and what comes now and then does not matter",
        arguments: [
            (GateCounts.Quantity.instructions, [1000.0, 1001], [1003.0, 1003.5], GateMemory.Verdict.grew),
            (.instructions, [1000, 1001], [1001, 1000], .same),
            (.instructions, [1000, 1001], [1001, 1003], .inconclusive),
            // Of five runs, one may be an odd one on either end.
            (.instructions, [1000, 1000, 1000, 1001, 1040], [1003, 950, 1003, 1003, 1080], .grew),
            (.instructions, [1000, 1000, 1000, 1000, 900], [1000, 1000, 1000, 1000, 1100], .same),
            (.instructions, [1000, 1000, 1000, 1000, 1000], [1000, 1003, 1003, 1000, 1001], .inconclusive),
            (.instructions, [0, 0], [0, 0], .same), (.instructions, [0, 0], [1, 1], .grew),
            (.allocations, [0, 0], [0.25, 0.25], .same), (.allocations, [0, 0], [1, 1], .grew),
            (.pageFaults, [0, 1], [3, 4], .same), (.pageFaults, [0, 1], [64, 65], .grew),
            (.systemCalls, [34, 34], [33, 33], .same), (.systemCalls, [], [], .inconclusive),
        ] as [(GateCounts.Quantity, [Double], [Double], GateMemory.Verdict)])
    func verdict(
        quantity: GateCounts.Quantity, baseline: [Double], candidate: [Double], expected: GateMemory.Verdict
    ) {
        let count = GateCounts.Count(quantity, baseline: baseline, candidate: candidate, limit: 0.001)
        #expect(count.verdict == expected)
    }

    @Test("what is slower by time alone, and by no more than a layout may be, is not blamed; work that grew is")
    func timeAlone() throws {
        let folder = try TemporaryFolder()
        let result = try gate(ScriptedSubject(), ScriptedSubject(nanoseconds: 1_022_500), in: folder)
        func counts(_ candidate: Double) -> GateCounts {
            let count = GateCounts.Count(.instructions, baseline: [1000], candidate: [candidate], limit: 0.001)
            return GateCounts(limit: 0.001, cells: [.init(name: result.cells[0].name, counts: [count])])
        }
        var same = result
        same.doubtTimeAlone(counts(1000))
        #expect(same.cells[0].verdict == .inconclusive && same.cells[0].reason?.contains("--builds") == true)
        var grown = result
        grown.doubtTimeAlone(counts(1010))
        #expect(grown.cells[0].verdict == .slower)
        grown.counts = counts(1010)
        #expect(grown.answer(allowsInconclusive: true) == .no)
        var slow = try gate(ScriptedSubject(), ScriptedSubject(nanoseconds: 1_200_000), in: folder)
        slow.doubtTimeAlone(counts(1000))
        #expect(slow.cells[0].verdict == .slower)
    }
}

@Suite("gate: several builds") struct GateBuildsTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Builds whose times differ by up to some parts of a thousand, by their numbers.
    private func command(_ name: String, _ nanoseconds: Int, layout: Int) throws -> String {
        let start = try ScriptedSubject(
            nanoseconds: nanoseconds, atHello: "ns=$(( ns + ns / 1000 * ( BUILD * 37 % 11 - 5 ) * \(layout) / 5 ))"
        ).command(name, in: folder)
        return "BUILD={build}; export BUILD; \(start)"
    }

    private func result(_ nanoseconds: Int, layout: Int, builds: Int) throws -> GateResult {
        let (baseline, candidate) = (
            try command("old", 1_000_000, layout: 0), try command("new", nanoseconds, layout: layout)
        )
        return try gate(ScriptedSubject(), ScriptedSubject(), in: folder) {
            ($0.baseline, $0.candidate, $0.buildCount) = (baseline, candidate, builds)
        }
    }

    @Test("each build has as many blocks as every other, and their differences are in the interval")
    func randomEffect() throws {
        let result = try result(1_000_000, layout: 10, builds: 11)
        let cell = try #require(result.cells.first)
        let blocks = try #require(cell.phases.first).blocks
        let counts = Dictionary(grouping: blocks, by: \.build).mapValues(\.count)
        #expect(counts.count == 11 && Set(counts.values).count == 1, "\(counts)")
        #expect(cell.verdict == .same && (cell.low ?? 1) < 1 && (cell.high ?? 0) > 1, "\(cell)")
        // Builds differ by 2 %, so that an interval that took blocks for the sample would be far narrower.
        #expect((cell.high ?? 0) - (cell.low ?? 1) > 0.008)
    }

    @Test("a slowdown of all builds is seen through their differences")
    func slower() throws {
        let result = try result(1_060_000, layout: 10, builds: 11)
        #expect(result.verdict == .slower, "\(result.cells)")
    }

    @Test("builds of which few are slow settle nothing, and more time would not")
    func undecided() throws {
        let result = try result(1_020_000, layout: 30, builds: 3)
        let cell = try #require(result.cells.first)
        #expect(cell.verdict == .inconclusive && cell.secondsToSettle == nil, "\(cell)")
        #expect(cell.reason?.contains("interval of 3 builds") == true)
    }
}
