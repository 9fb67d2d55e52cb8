import Statistics
import Testing

@Suite struct SignedRankTests {
    @Test("the exact distribution is what counting all signs gives", arguments: 0...12)
    func exact(count: Int) {
        let distribution = SignedRankDistribution(count: count)
        var counts = [Int](repeating: 0, count: distribution.largestSum + 1)
        for signs in 0..<(1 << count) {
            counts[(0..<count).reduce(0) { $0 + (signs >> $1 & 1) * ($1 + 1) }] += 1
        }
        var sum = 0
        for value in 0...distribution.largestSum / 2 {
            sum += counts[value]
            let expected = Double(sum) / Double(1 << count)
            #expect(abs(distribution.probability(atMost: value) - expected) < 1e-12, "n \(count), sum \(value)")
        }
        #expect(distribution.probability(atMost: -1) == 0)
    }

    /// From published tables of critical values: the largest t with P(T⁺ ≤ t) at most 0.025 and 0.005.
    @Test(
        "critical values are those of the tables",
        arguments: [
            (6, 0, nil), (8, 3, 0), (10, 8, 3), (15, 25, 15), (20, 52, 37), (25, 89, 68), (30, 137, 109),
        ] as [(Int, Int, Int?)])
    func criticalValues(count: Int, wide: Int, narrow: Int?) {
        let distribution = SignedRankDistribution(count: count)
        #expect(distribution.excludedCount(alpha: 0.025) == wide + 1)
        #expect(distribution.excludedCount(alpha: 0.005) == narrow.map { $0 + 1 } ?? 0)
    }

    @Test("beyond the exact counts, the approximation goes on where they end")
    func approximation() {
        let last = SignedRankDistribution(count: SignedRankDistribution.largestExactCount)
        let next = SignedRankDistribution(count: SignedRankDistribution.largestExactCount + 1)
        for alpha in [0.1, 0.025, 0.005, 0.0005] {
            let (before, after) = (last.excludedCount(alpha: alpha), next.excludedCount(alpha: alpha))
            #expect(before < after && after < before + 60, "alpha \(alpha): \(before), then \(after)")
        }
    }

    @Test("the estimate is the median of the means of all pairs")
    func estimate() throws {
        // Means: 1, 1.5, 2, 3, 5.5, 6, 10 and three more; the middle of ten lies between 3 and 5.5.
        let interval = try #require(SignedRankInterval([10, 1, 2, 1], alpha: 0.1))
        #expect(interval.estimate == 1.75)
        #expect(interval.low == 1 && interval.high == 10)
        #expect(SignedRankInterval([], alpha: 0.1) == nil)
    }

    @Test("too few values for the probability that was asked for give an interval without ends")
    func tooFew() throws {
        let values = (0..<5).map(Double.init)
        let none = try #require(SignedRankInterval(values, alpha: 0.025))
        #expect(none.low == -.infinity && none.high == .infinity && none.estimate == 2)
        let whole = try #require(SignedRankInterval(values, alpha: 1.0 / 32))
        #expect(whole.low == 0 && whole.high == 4)
    }

    @Test("the least count is the first whose smallest p-value is small enough")
    func minCount() {
        #expect(SignedRankInterval.minCount(upTo: 100) { _ in 0.025 } == 6)
        #expect(SignedRankInterval.minCount(upTo: 100) { _ in 0.001 } == 10)
        #expect(SignedRankInterval.minCount(upTo: 5) { _ in 0.025 } == nil)
        #expect(SignedRankInterval.minCount(upTo: 0) { _ in 1 } == nil)
        #expect(SignedRankInterval.minCount(upTo: 100) { Double($0) / 1000 } == 8)
    }

    /// Noise as blocks have it: the difference of two durations of the same, skewed distribution.
    enum Noise: CaseIterable {
        case exponential, heavyTailed, contaminated, bimodal

        func draw(_ generator: inout SplitMix64) -> Double {
            skewed(&generator) - skewed(&generator)
        }

        private func skewed(_ generator: inout SplitMix64) -> Double {
            let uniform = Double.random(in: 1e-12..<1, using: &generator)
            switch self {
            case .exponential: return (1 / uniform - 1).squareRoot() < 1e3 ? -Self.logarithm(uniform) : 7
            // A Pareto tail of 1.5: the variance does not exist.
            case .heavyTailed: return 1 / (uniform * uniform.squareRoot()).squareRoot().squareRoot()
            case .contaminated: return uniform < 0.1 ? 20 * uniform : uniform
            case .bimodal: return uniform < 0.3 ? 5 + uniform : uniform
            }
        }

        /// ln x by its integral, which is good enough for noise.
        private static func logarithm(_ value: Double) -> Double {
            let ratio = (value - 1) / (value + 1)
            return 2 * (ratio + ratio * ratio * ratio / 3 + ratio * ratio * ratio * ratio * ratio / 5)
        }
    }

    @Test(
        "of 1000 analyses of skewed, heavy-tailed, contaminated and bimodal noise, at least 93 % hold the truth",
        arguments: Noise.allCases, [8, 14, 40])
    func coverage(noise: Noise, count: Int) throws {
        var generator = SplitMix64(seed: UInt64(count))
        var covered = 0
        for _ in 0..<1000 {
            let values = (0..<count).map { _ in 3 + noise.draw(&generator) }
            let interval = try #require(SignedRankInterval(values, alpha: 0.025))
            if interval.low <= 3, interval.high >= 3 { covered += 1 }
        }
        #expect(covered >= 930, "\(covered) of 1000")
    }
}

@Suite struct AlphaSpendingTests {
    @Test("all is spent at the end, nothing at the start, and never less than before")
    func ends() {
        let spending = AlphaSpending(total: 0.025)
        #expect(spending.spent(at: 0) == 0)
        #expect(abs(spending.spent(at: 1) - 0.025) < 1e-15)
        #expect(spending.spent(at: 7) == spending.spent(at: 1) && spending.spent(at: -1) == 0)
        for step in 0..<100 {
            #expect(spending.spent(at: Double(step) / 100) < spending.spent(at: Double(step + 1) / 100))
        }
    }

    @Test("however many looks there are, they use up the total and no more", arguments: 1...9)
    func looks(count: Int) {
        let spending = AlphaSpending(total: 0.05)
        let sum = (0..<count).reduce(0.0) {
            $0 + spending.increment(from: Double($1) / Double(count), to: Double($1 + 1) / Double(count))
        }
        #expect(abs(sum - 0.05) < 1e-15)
    }

    /// Simulated: the centre is 0, and each look asks whether its interval misses it.
    @Test("looking four times misses the truth no more often than allowed")
    func sequential() throws {
        let spending = AlphaSpending(total: 0.025)
        var generator = SplitMix64(seed: 4)
        var missed = 0
        for _ in 0..<1000 {
            var values: [Double] = []
            var earlier = 0.0
            var isMissed = false
            for look in [14, 28, 56] {
                while values.count < look { values.append(Double.random(in: -1...1, using: &generator)) }
                let time = Double(look) / 56
                let alpha = spending.increment(from: earlier, to: time)
                earlier = time
                let interval = try #require(SignedRankInterval(values, alpha: alpha))
                isMissed = isMissed || interval.low > 0 || interval.high < 0
            }
            if isMissed { missed += 1 }
        }
        // 5 % are allowed: with two standard deviations of 1000 coins, 64.
        #expect(missed <= 64, "\(missed) of 1000")
    }
}
