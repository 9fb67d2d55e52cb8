import Foundation
import Statistics
import Testing

@Suite("Student's t")
struct StudentDistributionTests {
    @Test(
        "two-sided probabilities are those of published tables",
        arguments: [
            (12.706, 1, 0.05), (4.303, 2, 0.05), (2.228, 10, 0.05), (3.169, 10, 0.01), (2.042, 30, 0.05),
            (3.460, 60, 0.001), (1.960, 100_000, 0.05), (0.765, 3, 0.5),
        ])
    func table(value: Double, degreesOfFreedom: Int, probability: Double) {
        let found = StudentDistribution.twoSidedTail(value, degreesOfFreedom: degreesOfFreedom)
        #expect(abs(found / probability - 1) < 0.002, "\(found)")
        #expect(StudentDistribution.twoSidedTail(-value, degreesOfFreedom: degreesOfFreedom) == found)
    }

    @Test("one degree of freedom is Cauchy's distribution", arguments: [0.1, 1, 3, 50, 1e6])
    func cauchy(value: Double) {
        let expected = 1 - 2 / Double.pi * atan(value)
        #expect(abs(StudentDistribution.twoSidedTail(value, degreesOfFreedom: 1) - expected) < 1e-12)
    }

    @Test("0, infinity and what is no number have a probability too")
    func extremes() {
        #expect(StudentDistribution.twoSidedTail(0, degreesOfFreedom: 5) == 1)
        #expect(StudentDistribution.twoSidedTail(.infinity, degreesOfFreedom: 5) == 0)
        #expect(StudentDistribution.twoSidedTail(.nan, degreesOfFreedom: 5) == 1)
        #expect(StudentDistribution.twoSidedTail(1e200, degreesOfFreedom: 5) == 0)
    }
}

/// Normal noise that is autoregressive of order 1, with a standard deviation of its own.
private struct Noise {
    private var generator: SplitMix64
    private let correlation: Double
    private var last: Double?

    init(seed: UInt64, correlation: Double = 0) {
        // Neighbouring seeds give shifted sequences.
        var mixer = SplitMix64(seed: seed)
        (generator, self.correlation) = (SplitMix64(seed: ~mixer.next()), correlation)
    }

    mutating func next() -> Double {
        func uniform() -> Double { (Double(generator.next() >> 11) + 0.5) * 0x1p-53 }
        // Box and Muller 1958.
        let fresh = (-2 * log(uniform())).squareRoot() * cos(2 * .pi * uniform())
        let value = last.map { correlation * $0 + (1 - correlation * correlation).squareRoot() * fresh } ?? fresh
        last = value
        return value
    }
}

/// Noise of 1 % around levels.
private func series(_ levels: [(count: Int, value: Double)], correlation: Double = 0, seed: UInt64) -> [Double] {
    var noise = Noise(seed: seed, correlation: correlation)
    return levels.flatMap { level in (0..<level.count).map { _ in level.value + 0.01 * noise.next() } }
}

private func find(_ values: [Double], errorRate: Double, minStep: Double = 0) -> ChangePoints {
    find([values], errorRate: errorRate, minStep: minStep)[0]
}

/// Looks for changes in series of one group.
private func find(
    _ series: [[Double?]], errorRate: Double, minStep: Double = 0, minDrift: Double = 0
) -> [ChangePoints] {
    let noise = SharedNoise(series, groups: series.map { _ in "" }, errorRate: errorRate)
    return series.map { ChangePoints($0, noise: noise, minStep: minStep, minDrift: minDrift) }
}

@Suite("change points")
struct ChangePointsTests {
    @Test(
        "noise without a change is marked no more often than the error rate says, correlated or not",
        arguments: [(6, 1, 0.5), (12, 20, 0.5), (30, 1, 0), (30, 1, 0.5), (30, 20, 0), (30, 20, 0.5), (80, 1, 0.3)])
    func falseAlarms(count: Int, seriesCount: Int, correlation: Double) {
        let alarms = (0..<200).count { history in
            let all = (0..<seriesCount).map { number in
                series([(count, 0)], correlation: correlation, seed: UInt64(history * seriesCount + number))
            }
            return find(all, errorRate: 0.05).contains { !$0.steps.isEmpty || $0.drift != nil }
        }
        // 10 of 200 would be the rate itself.
        #expect(alarms <= 10, "\(alarms) of 200")
    }

    @Test("a step of 5 % in noise of 1 % is found at its place", arguments: [10, 20, 30])
    func step(place: Int) {
        let found = (0..<100).map { seed in
            find(
                series([(place, 0), (40 - place, log(1.05))], seed: UInt64(seed)), errorRate: 0.001,
                minStep: log(1.02))
        }
        #expect(found.count { $0.steps.count == 1 } >= 95)
        let steps = found.compactMap(\.steps.first)
        #expect(steps.allSatisfy { abs($0.index - place) <= 2 && abs($0.after - $0.before - log(1.05)) < 0.015 })
        #expect(steps.count { $0.index == place } >= 85)
    }

    @Test("what all series do at once is found where each alone says too little", arguments: [0, 0.5])
    func together(correlation: Double) {
        let all = (0..<20).map {
            series([(10, 0), (10, log(1.03))], correlation: correlation, seed: UInt64($0))
        }
        let marked = find(all, errorRate: 0.05, minStep: log(1.02)).count { found in
            found.steps.count == 1 && abs(found.steps[0].index - 10) <= 1
        }
        #expect(marked >= 16, "\(marked) of 20")
        let alone = all.count { !find($0, errorRate: 0.05 / 20, minStep: log(1.02)).steps.isEmpty }
        #expect(alone < marked, "\(alone)")
    }

    @Test("a drift is a drift, and what is below the least that matters is none")
    func drift() {
        let all = (0..<20).map { number in
            series([(30, 0)], seed: UInt64(number)).enumerated().map { $1 + (number == 3 ? 0.003 * Double($0) : 0) }
        }
        let found = find(all, errorRate: 0.05, minStep: 0.02, minDrift: 0.03)
        #expect(found.indices.filter { found[$0].drift != nil } == [3])
        #expect(found.allSatisfy { $0.steps.isEmpty })
        #expect(abs((found[3].drift?.after ?? 0) - (found[3].drift?.before ?? 0) - 0.087) < 0.015)
        #expect(find(all, errorRate: 0.05, minStep: 0.2, minDrift: 0.1)[3].drift == nil)
    }

    @Test("ten small steps, each too small to matter, are seen")
    func creep() {
        let all = (0..<20).map { number in
            series((0..<10).map { (3, number == 3 ? 0.015 * Double($0) : 0) }, seed: UInt64(number))
        }
        let found = find(all, errorRate: 0.05, minStep: 0.02, minDrift: 0.03)
        #expect(found.indices.filter { found[$0].drift != nil || !found[$0].steps.isEmpty } == [3])
    }

    @Test("a run without a value shifts nothing")
    func gaps() {
        var values = series([(12, 0), (12, 0.1)], seed: 1).map(Optional.some)
        for run in [0, 4, 12] { values[run] = nil }
        #expect(find([values], errorRate: 0.01)[0].steps.map(\.index) == [13])
    }

    @Test("a step and its return are two changes")
    func bump() {
        for seed in 0..<50 {
            let values = series([(12, 0), (8, 0.1), (12, 0)], seed: UInt64(seed))
            let steps = find(values, errorRate: 0.05, minStep: 0.02).steps
            #expect(steps.map(\.index) == [12, 20], "seed \(seed): \(steps)")
        }
    }

    @Test("a staircase has all its steps")
    func staircase() {
        let values = series([(15, 0), (15, 0.1), (15, 0.25), (15, 0.15)], seed: 3)
        #expect(find(values, errorRate: 0.001).steps.map(\.index) == [15, 30, 45])
    }

    @Test("one odd value is no change, wherever it is", arguments: 0..<20)
    func outlier(place: Int) {
        var values = series([(20, 0)], seed: 5)
        values[place] = 0.5
        let found = find(values, errorRate: 0.01)
        #expect(found.steps.isEmpty && found.drift == nil)
    }

    @Test("a step without noise is found; a step that does not matter is not marked")
    func exact() {
        let values = [Double](repeating: 1, count: 5) + [Double](repeating: 1.1, count: 5)
        #expect(find(values, errorRate: 0.001).steps.map(\.index) == [5])
        #expect(find(values, errorRate: 0.001, minStep: 0.2).steps.isEmpty)
    }

    @Test("series that are short or all the same have no change", arguments: [0, 1, 2, 3, 5, 6, 50])
    func flat(count: Int) {
        let values = [Double](repeating: 2, count: count)
        #expect(find([values, values], errorRate: 0.5).allSatisfy { $0.steps.isEmpty && $0.drift == nil })
    }

    @Test("the correlation is told from many series, and supposed to be high from one", arguments: [0, 0.3, 0.5])
    func correlation(value: Double) {
        let all = (0..<100).map { series([(30, 0)], correlation: value, seed: UInt64($0)) }
        #expect(abs(SharedNoise(all, groups: all.map { _ in "" }, errorRate: 0.05).correlation - value) < 0.08)
        let alone = (0..<100).map {
            SharedNoise([all[$0]], groups: [""], errorRate: 0.05).correlation
        }
        #expect(alone.reduce(0, +) / 100 > value + 0.04)
    }
}
