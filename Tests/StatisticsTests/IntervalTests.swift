import Foundation
import Statistics
import Testing

/// Values whose logarithms are normal.
private struct LogNormal {
    var generator: SplitMix64

    /// A value around a centre, whose logarithm has a deviation.
    mutating func next(around centre: Double, deviation: Double) -> Double {
        let (one, two) = (
            Double.random(in: 0x1p-53..<1, using: &generator), Double.random(in: 0..<1, using: &generator)
        )
        return centre * exp(deviation * (-2 * log(one)).squareRoot() * cos(2 * .pi * two))
    }

    mutating func processes(_ count: Int, around centre: Double, deviation: Double) -> [Double] {
        (0..<count).map { _ in next(around: centre, deviation: deviation) }
    }
}

@Suite("figures over processes")
struct LogSampleTests {
    @Test("the interval of few is Student's, on logarithms, and that of more is of order statistics")
    func known() throws {
        // Logarithms at equal distances of ln 1.1: their deviation is that, and t for 2 degrees of freedom is 4.302653.
        let interval = try #require(LogInterval(processes: [100, 121, 110]))
        let reach = exp(4.302_652_73 * log(1.1) / 3.0.squareRoot())
        #expect(abs(interval.estimate - 110) < 1e-9)
        #expect(abs(interval.high / (110 * reach) - 1) < 1e-9 && abs(interval.low * reach / 110 - 1) < 1e-9)
        let same = try #require(LogInterval(processes: [7, 7, 7]))
        #expect(abs(same.low - 7) < 1e-12 && abs(same.high - 7) < 1e-12 && same.relativeHalfWidth < 1e-12)
    }

    @Test("fewer than three processes have an estimate and no interval")
    func few() throws {
        #expect(try #require(LogSample([100])).interval == nil)
        let six = try #require(LogInterval(processes: [6, 1, 2, 3, 4, 5]))
        #expect(abs(six.low - 1) < 1e-12 && abs(six.high - 6) < 1e-12 && abs(six.estimate - 12.0.squareRoot()) < 1e-12)
        let nine = try #require(LogInterval(processes: (1...9).map(Double.init)))
        #expect(abs(nine.low - 2) < 1e-12 && abs(nine.high - 8) < 1e-12 && abs(nine.estimate - 5) < 1e-12)
        let two = try #require(LogSample([90, 160]))
        #expect(abs(two.estimate - 120) < 1e-9 && two.interval == nil && two.ratioInterval(over: two) == nil)
        #expect(abs(two.ratio(over: try #require(LogSample([60]))) - 2) < 1e-12)
    }

    @Test("what has no logarithm is no sample", arguments: [[], [0], [1, -1], [.infinity], [.nan, 1]] as [[Double]])
    func none(values: [Double]) {
        #expect(LogSample(values) == nil)
    }

    @Test("a rate's interval is that of the time, upside down")
    func reciprocal() throws {
        let times = try #require(LogSample([2, 3, 5, 4]))
        let (time, rate) = (try #require(times.interval), try #require(times.reciprocal(times: 60).interval))
        #expect(abs(rate.low * time.high - 60) < 1e-9 && abs(rate.high * time.low - 60) < 1e-9)
    }

    @Test("quantiles are those of published tables")
    func quantiles() {
        for (tail, freedom, expected) in [
            (0.025, 1, 12.7062), (0.025, 4, 2.77645), (0.001, 10, 4.14370), (0.0005, 2, 31.5991),
            (0.025, 1000, 1.96234),
        ] {
            let found = StudentDistribution.upperQuantile(tail, degreesOfFreedom: freedom)
            #expect(abs(found / expected - 1) < 1e-5, "\(found)")
        }
    }

    @Test(
        "95 of 100 intervals hold the truth, however many iterations a process has",
        arguments: [(3, 4), (5, 4), (5, 60), (10, 8)])
    func coverage(processes: Int, iterations: Int) throws {
        // As in small cells of a recorded run: 0.43 of the variance lies between processes.
        var source = LogNormal(generator: SplitMix64(seed: UInt64(processes * 100 + iterations)))
        let trials = 1500
        var held = 0
        for _ in 0..<trials {
            let medians = (0..<processes).map { _ in
                let level = source.next(around: 1e6, deviation: 0.02 * 0.43.squareRoot())
                let samples = source.processes(iterations, around: level, deviation: 0.02 * 0.57.squareRoot())
                return median(of: samples.map { UInt64($0) }) ?? 0
            }
            let interval = try #require(LogInterval(processes: medians))
            if interval.low <= 1e6, 1e6 <= interval.high { held += 1 }
        }
        // Order statistics have steps: of ten processes the second and the ninth hold the median 97.9 times of 100.
        #expect((0.935...(processes < 6 ? 0.965 : 0.99)).contains(Double(held) / Double(trials)), "\(held)")
    }

    @Test("from six processes on, intervals hold the median whatever the distribution is", arguments: [6, 9, 20, 40])
    func anyDistribution(processes: Int) throws {
        // A third of the processes has a neighbour that takes up to as much time again.
        var generator = SplitMix64(seed: UInt64(processes))
        func draw() -> Double {
            let share = Double(generator.next() >> 11) / 0x1p53
            return share < 2.0 / 3 ? 100 + share : 100 * (1 + 3 * (share - 2.0 / 3))
        }
        var held = 0
        for _ in 0..<1500 {
            let interval = try #require(LogInterval(processes: (0..<processes).map { _ in draw() }))
            if interval.low <= 100.5, 100.5 <= interval.high { held += 1 }
            #expect(interval.low <= interval.estimate && interval.estimate <= interval.high)
        }
        #expect(held >= 1410, "\(held)")
    }

    @Test(
        "95 of 100 intervals of a ratio hold it, also where one side is ten times as noisy",
        arguments: [(5, 5, 0.01), (5, 5, 0.1), (3, 10, 0.1), (10, 3, 0.1)])
    func ratios(one: Int, other: Int, deviation: Double) throws {
        var source = LogNormal(generator: SplitMix64(seed: UInt64(one * 100 + other)))
        let trials = 1500
        var held = 0
        for _ in 0..<trials {
            let above = try #require(LogSample(source.processes(one, around: 103, deviation: deviation)))
            let below = try #require(LogSample(source.processes(other, around: 100, deviation: 0.01)))
            let interval = try #require(above.ratioInterval(over: below))
            if interval.low <= 1.03, 1.03 <= interval.high { held += 1 }
        }
        #expect((0.935...0.97).contains(Double(held) / Double(trials)), "\(held)")
    }
}

@Suite("comparisons with the best")
struct BestComparisonTests {
    @Test("all bounds hold together in at least 95 of 100, with candidates of any noise", arguments: [3, 5, 10])
    func together(processes: Int) throws {
        var source = LogNormal(generator: SplitMix64(seed: UInt64(processes)))
        // The noisiest is within 1 % of the best, so that it often looks best.
        let (truths, deviations) = (
            [100, 99, 99, 98, 97, 95, 90, 50.0], [0.01, 0.08, 0.002, 0.02, 0.01, 0.1, 0.03, 0.02]
        )
        let trials = 500
        var held = 0
        for _ in 0..<trials {
            let samples = try zip(truths, deviations).map {
                try #require(LogSample(source.processes(processes, around: $0, deviation: $1)))
            }
            let bounds = BestComparison(samples).bounds
            if zip(truths, bounds).allSatisfy({ 100 / $0 <= $1 * (1 + 1e-12) }) { held += 1 }
        }
        #expect(Double(held) / Double(trials) >= 0.94, "\(held)")
    }

    @Test("noise widens a bound, and more processes narrow it")
    func noise() throws {
        func spread(_ deviation: Double, _ count: Int = 5) throws -> LogSample {
            try #require(LogSample((0..<count).map { 100 * exp(deviation * (Double($0) - Double(count - 1) / 2)) }))
        }
        let quiet = [try spread(0.001), try spread(0.001), try spread(0.001)]
        var noisy = quiet
        noisy[0] = try spread(0.03)
        #expect(BestComparison(noisy).bounds[0] > BestComparison(quiet).bounds[0] * 1.02)
        let values = [99.0, 100, 101]
        let (three, nine) = (try #require(LogSample(values)), try #require(LogSample(values + values + values)))
        let few = BestComparison([three, three]).bounds[0]
        let many = BestComparison([nine, nine]).bounds[0]
        #expect(few > many)
    }

    @Test("beside one of three processes that differ, a noisy one has no smaller bound than a quiet one that is faster")
    func noiseGainsNothing() throws {
        // Medians of processes in GiB/s, as a machine with busy neighbours gave them.
        let samples = try [[13.1, 13.5, 13.8, 14.2, 14.6], [2.2, 3.3, 3.5, 3.9, 4.6], [0.7, 1.3, 1.4]].map {
            try #require(LogSample($0))
        }
        let bounds = BestComparison(samples).bounds
        #expect(bounds[0] < bounds[1] && bounds[0] < bounds[2], "\(bounds)")
    }

    @Test("what is clearly the best has a bound of 1, and so has what stands alone")
    func clear() throws {
        let samples = [try #require(LogSample([200, 201, 202])), try #require(LogSample([100, 101, 102]))]
        let bounds = BestComparison(samples).bounds
        #expect(bounds[0] == 1 && bounds[1] > 1.9 && bounds[1] < 2.2)
        #expect(BestComparison([samples[1]]).bounds == [1] && BestComparison([]).bounds.isEmpty)
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
