import Statistics
import Testing

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
