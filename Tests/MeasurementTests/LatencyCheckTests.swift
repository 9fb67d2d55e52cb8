import Statistics
import Testing

@testable import Measurement

@Suite("latencies against whole iterations")
struct LatencyCheckTests {
    @Test("a stall that no whole iteration shows is contradicted; noise of 10 % is not")
    func stall() {
        var generator = SplitMix64(seed: 1)
        func iteration() -> [UInt64] { (0..<800).map { _ in UInt64.random(in: 38_000...46_000, using: &generator) } }
        let whole = (0..<3).map { _ in iteration().reduce(0, +) }
        let iterations = (0..<4).map { _ in iteration() }
        #expect(!LatencyCheck.isContradicted(iterations, by: whole))
        // Eight reads of 3.36 ms, as in a report of 2026-11-21, would add 27 ms to 33.
        var stalled = iterations
        for index in 0..<8 { stalled[2][index * 90] = 3_360_000 }
        #expect(LatencyCheck.isContradicted(stalled, by: whole))
    }

    @Test("looking at the clock twice a read is no stall, and nothing is contradicted by nothing")
    func overhead() {
        let reads = [UInt64](repeating: 700, count: 1000)
        #expect(!LatencyCheck.isContradicted([reads], by: [550_000]))
        #expect(!LatencyCheck.isContradicted([reads], by: []) && !LatencyCheck.isContradicted([], by: [1]))
    }
}

@Suite("settling before samples")
struct SettlingTimeTests {
    @Test("iterations are cut off until they are long enough together, and half of them at the most")
    func head() {
        let settling = SettlingTime(forMinimum: 1_000_000_000)
        #expect(settling.nanoseconds == 100_000_000)
        #expect(settling.iterationCount(of: [UInt64](repeating: 40_000_000, count: 30)) == 3)
        #expect(settling.iterationCount(of: [UInt64](repeating: 50_000_000, count: 30)) == 2)
        #expect(settling.iterationCount(of: [90_000_000, 9_999_999, 1, 1, 1, 1, 1]) == 3)
        #expect(settling.iterationCount(of: [UInt64](repeating: 40_000_000, count: 4)) == 2)
        #expect(settling.iterationCount(of: [1, 1, 1]) == 1)
        #expect(settling.iterationCount(of: [500_000_000]) == 0)
        #expect(settling.iterationCount(of: []) == 0)
    }

    @Test("a short round settles for half its time, and one of no time not at all")
    func short() {
        #expect(SettlingTime(forMinimum: 20_000_000).nanoseconds == 10_000_000)
        #expect(SettlingTime(forMinimum: 0).iterationCount(of: [1, 1]) == 0)
    }
}
