import Statistics
import Testing

@Suite struct MedianIntervalTests {
    @Test("one sample and equal samples have an interval without width")
    func noWidth() {
        let point = MedianInterval(low: 7, median: 7, high: 7)
        #expect(MedianInterval(rounds: [[7]], seed: 1) == point)
        #expect(MedianInterval(rounds: [[7, 7], [], [7, 7, 7]], seed: 1) == point)
        #expect(point.relativeHalfWidth == 0)
    }

    @Test("no samples have no interval")
    func empty() {
        #expect(MedianInterval(rounds: [], seed: 1) == nil)
        #expect(MedianInterval(rounds: [[], []], seed: 1) == nil)
    }

    @Test("two samples in one round give an interval from one to the other")
    func twoSamples() {
        // A resample is (1,1), (1,3), (3,1) or (3,3): a quarter of the medians is 1, a quarter 3.
        #expect(MedianInterval(rounds: [[3, 1]], seed: 9) == MedianInterval(low: 1, median: 2, high: 3))
    }

    @Test("rounds are drawn as a whole, so that two rounds that disagree give an interval that spans both")
    func betweenRounds() {
        let apart = MedianInterval(rounds: [[10, 10, 10], [20, 20, 20]], seed: 3)
        #expect(apart == MedianInterval(low: 10, median: 15, high: 20))
    }

    @Test("the interval contains the sample median and depends on nothing but samples and seed", arguments: 0..<50)
    func properties(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        let roundCount = Int.random(in: 1...6, using: &generator)
        let rounds = (0..<roundCount).map { _ in
            (0..<Int.random(in: 1...9, using: &generator)).map { _ in UInt64.random(in: 1...1000, using: &generator) }
        }
        let interval = try #require(MedianInterval(rounds: rounds, seed: seed))
        #expect(interval.low <= interval.median && interval.median <= interval.high, "\(rounds)")
        #expect(interval.median == Statistics.median(of: rounds.flatMap { $0 }), "\(rounds)")
        #expect(interval == MedianInterval(rounds: rounds, seed: seed))
        let shuffled = rounds.map { $0.sorted() }
        #expect(MedianInterval(rounds: shuffled, seed: seed)?.median == interval.median)
    }

    @Test("about 95 of 100 intervals contain the true median, also when rounds differ from each other")
    func coverage() {
        // Round effects and samples are uniform around 100,000, which is then the true median.
        var generator = SplitMix64(seed: 20_261_120)
        let trials = 300
        var covered = 0
        for trial in 0..<trials {
            let rounds = (0..<10).map { _ in
                let effect = Int.random(in: -1000...1000, using: &generator)
                return (0..<8).map { _ in UInt64(100_000 + effect + Int.random(in: -2000...2000, using: &generator)) }
            }
            if let interval = MedianInterval(rounds: rounds, seed: UInt64(trial)),
                interval.low <= 100_000, interval.high >= 100_000
            {
                covered += 1
            }
        }
        #expect((trials * 90 / 100...trials * 99 / 100).contains(covered), "\(covered) of \(trials)")
    }

    @Test("intervals that touch overlap")
    func overlap() {
        let first = MedianInterval(low: 1, median: 2, high: 3)
        #expect(first.overlaps(MedianInterval(low: 3, median: 4, high: 5)))
        #expect(!first.overlaps(MedianInterval(low: 3.5, median: 4, high: 5)))
        #expect(MedianInterval(low: 0, median: 2, high: 9).overlaps(first))
    }
}

@Suite("the bootstrap of few and of many samples")
struct ManySamplesTests {
    @Test(
        "the interval of one round is where order statistics say, whether samples are drawn or sums",
        arguments: [50, 63, 64, 100, 400, 5000, 100_000])
    func orderStatistics(count: Int) throws {
        // Values are ranks, shuffled: the interval's ends are the ranks themselves.
        var generator = SplitMix64(seed: 9)
        let values = (1...UInt64(count)).shuffled(using: &generator)
        let interval = try #require(MedianInterval(rounds: [values], seed: 1))
        // Median ± 1.96 √n ÷ 2 (David and Nagaraja, Order Statistics, 2003, §7.1).
        let half = 0.98 * Double(count).squareRoot()
        #expect(abs((interval.high - interval.low) / 2 / half - 1) < 0.12, "\(interval)")
        #expect(abs((interval.high + interval.low) / 2 - Double(count + 1) / 2) < 0.2 * half, "\(interval)")
    }

    @Test("rounds that differ widen the interval as much with many samples as with few")
    func rounds() throws {
        func halfWidth(_ perRound: Int) throws -> Double {
            var generator = SplitMix64(seed: 4)
            let rounds = (0..<5).map { round in
                (0..<perRound).map { _ in UInt64(100_000 + round * 1000) + generator.next() % 200 }
            }
            return try #require(MedianInterval(rounds: rounds, seed: 1)).relativeHalfWidth
        }
        #expect(abs(try halfWidth(2000) / halfWidth(10) - 1) < 0.15)
    }

    @Test("samples that are the same, or of two values, are no trouble")
    func ties() throws {
        let two = (0..<1000).map { UInt64($0 % 2 + 1) }
        let interval = try #require(MedianInterval(rounds: [two, two], seed: 1))
        #expect(interval.low == 1 && interval.high == 2 && interval.median == 1.5)
        let maximum = [UInt64](repeating: 5, count: 999) + [9]
        let same = try #require(MedianInterval(rounds: [maximum], seed: 1))
        #expect(same.low == 5 && same.high == 5)
    }
}

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

    @Test("samples that are all the same leave no buffer")
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

@Suite struct BinomialIntervalTests {
    /// Closed forms where there are any: with no success, 1 − α^(1/n); else Clopper and Pearson's own and published
    /// values.
    @Test(
        "the ends are those of the tables",
        arguments: [
            (0, 10, 0, 0.308497), (10, 10, 0.691503, 1), (1, 10, 0.002529, 0.445016), (5, 10, 0.187086, 0.812914),
            (95, 100, 0.887165, 0.983568),
        ] as [(Int, Int, Double, Double)])
    func ends(successes: Int, trials: Int, low: Double, high: Double) throws {
        let interval = try #require(BinomialInterval(successCount: successes, trialCount: trials))
        #expect(abs(interval.low - low) < 2e-6 && abs(interval.high - high) < 2e-6, "\(interval)")
    }

    @Test("300 trials without a success bound the rate by 1 %, one-sided")
    func ruleOfThree() throws {
        let bound = try #require(BinomialInterval(successCount: 0, trialCount: 300, isOneSided: true))
        #expect(bound.high < 0.01 && bound.high > 0.0099 && bound.low == 0)
        #expect(bound.rate == 0)
    }

    @Test("what is no share of trials has no interval", arguments: [(0, 0), (-1, 3), (4, 3)])
    func none(successes: Int, trials: Int) {
        #expect(BinomialInterval(successCount: successes, trialCount: trials) == nil)
    }
}

@Suite struct SplitMix64Tests {
    @Test("the sequence for seed 1234567 is the published one")
    func published() {
        var generator = SplitMix64(seed: 1_234_567)
        let expected: [UInt64] = [
            6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
            4_593_380_528_125_082_431, 16_408_922_859_458_223_821,
        ]
        #expect((0..<5).map { _ in generator.next() } == expected)
    }
}
