import Statistics
import Testing

@Suite struct RatioIntervalTests {
    /// Rounds with a spread between them and within them, drawn from a seed.
    private func rounds(_ count: Int, around center: Double, using generator: inout SplitMix64) -> [[UInt64]] {
        func uniform() -> Double { Double(generator.next() >> 11) / Double(1 << 53) - 0.5 }
        return (0..<count).map { _ in
            let own = center * (1 + 0.02 * uniform())
            return (0..<20).map { _ in UInt64(own * (1 + 0.02 * uniform())) }
        }
    }

    @Test("the ratio is that of the medians, and lies in its interval")
    func ratio() throws {
        let found = try #require(RatioInterval(rounds: [[10, 20], [30]], over: [[5], [], [5, 7]], seed: 1))
        #expect(found.ratio == 4)
        #expect(found.low <= 4 && found.high >= 4)
    }

    @Test("samples that are all the same leave no room")
    func constant() {
        #expect(
            RatioInterval(rounds: [[30], [30]], over: [[20, 20]], seed: 3)
                == RatioInterval(low: 1.5, ratio: 1.5, high: 1.5))
    }

    @Test(
        "a side without samples, or with a median of 0, has no ratio",
        arguments: [([], [[1]]), ([[1]], []), ([[]], [[1]]), ([[0]], [[1]]), ([[1]], [[0, 0, 5]])]
            as [([[UInt64]], [[UInt64]])])
    func nothing(numerator: [[UInt64]], denominator: [[UInt64]]) {
        #expect(RatioInterval(rounds: numerator, over: denominator, seed: 1) == nil)
    }

    @Test("the same rounds and seed give the same interval, another seed a similar one")
    func determinism() throws {
        var generator = SplitMix64(seed: 5)
        let (a, b) = (rounds(5, around: 1e6, using: &generator), rounds(5, around: 1e6, using: &generator))
        let first = try #require(RatioInterval(rounds: a, over: b, seed: 1))
        #expect(first == RatioInterval(rounds: a, over: b, seed: 1))
        let other = try #require(RatioInterval(rounds: a, over: b, seed: 2))
        #expect(other != first && abs(other.low - first.low) < 0.005 && abs(other.high - first.high) < 0.005)
    }

    @Test("the two sides are drawn independently: the same rounds on both have an interval around 1")
    func independence() throws {
        var generator = SplitMix64(seed: 6)
        let side = rounds(6, around: 1e6, using: &generator)
        let found = try #require(RatioInterval(rounds: side, over: side, seed: 1))
        #expect(found.ratio == 1 && found.low < 0.999 && found.high > 1.001)
    }

    @Test("with ten rounds a side, at least 88 of 100 intervals hold the truth", arguments: [1.0, 1.03])
    func coverage(truth: Double) {
        var generator = SplitMix64(seed: 7)
        let held = (0..<100).count { _ in
            let above = rounds(10, around: 1e6 * truth, using: &generator)
            let below = rounds(10, around: 1e6, using: &generator)
            guard let found = RatioInterval(rounds: above, over: below, seed: generator.next()) else { return false }
            return found.low <= truth && truth <= found.high
        }
        #expect(held >= 88)
    }
}
