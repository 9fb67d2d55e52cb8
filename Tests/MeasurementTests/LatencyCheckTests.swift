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
