import Statistics
import Testing

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
