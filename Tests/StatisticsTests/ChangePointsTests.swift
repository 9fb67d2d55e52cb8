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

@Suite("change points")
struct ChangePointsTests {
    /// A series of normal noise around levels.
    private func series(_ levels: [(count: Int, value: Double)], noise: Double, seed: UInt64) -> [Double] {
        var generator = SplitMix64(seed: seed)
        func uniform() -> Double { (Double(generator.next() >> 11) + 0.5) * 0x1p-53 }
        return levels.flatMap { level in
            (0..<level.count).map { _ in
                // Box and Muller 1958.
                level.value + noise * (-2 * log(uniform())).squareRoot() * cos(2 * .pi * uniform())
            }
        }
    }

    @Test("noise without a change is cut no more often than the error rate says", arguments: [6, 12, 40, 120])
    func falseAlarms(count: Int) {
        let alarms = (0..<400).count { seed in
            !ChangePoints(series([(count, 0)], noise: 0.01, seed: UInt64(seed)), errorRate: 0.05).steps.isEmpty
        }
        // The bound is an upper one: stretches overlap. 20 of 400 would be the rate itself.
        #expect(alarms <= 20, "\(alarms) of 400")
    }

    @Test("a step of 5 % in noise of 1 % is found at its place", arguments: [10, 20, 30])
    func step(place: Int) {
        var exact = 0
        for seed in 0..<100 {
            let values = series([(place, 0), (40 - place, log(1.05))], noise: 0.01, seed: UInt64(seed))
            let steps = ChangePoints(values, errorRate: 0.0005, minStep: log(1.02)).steps
            #expect(steps.count == 1, "seed \(seed): \(steps)")
            guard let step = steps.first else { continue }
            #expect(abs(step.index - place) <= 2 && abs(step.after - step.before - log(1.05)) < 0.015, "seed \(seed)")
            exact += step.index == place ? 1 : 0
        }
        #expect(exact >= 90, "\(exact) of 100")
    }

    @Test("a step and its return are two changes")
    func bump() {
        for seed in 0..<50 {
            let values = series([(12, 0), (8, 0.1), (12, 0)], noise: 0.01, seed: UInt64(seed))
            let steps = ChangePoints(values, errorRate: 0.001, minStep: 0.02).steps
            #expect(steps.map(\.index) == [12, 20], "seed \(seed): \(steps)")
        }
    }

    @Test("a staircase has all its steps")
    func staircase() {
        let values = series([(15, 0), (15, 0.1), (15, 0.25), (15, 0.15)], noise: 0.01, seed: 3)
        #expect(ChangePoints(values, errorRate: 0.001).steps.map(\.index) == [15, 30, 45])
    }

    @Test("one odd value is no change, wherever it is", arguments: 0..<20)
    func outlier(place: Int) {
        var values = series([(20, 0)], noise: 0.01, seed: 5)
        values[place] = 0.5
        #expect(ChangePoints(values, errorRate: 0.01).steps.isEmpty)
    }

    @Test("a step without noise is found; a step that does not matter is not marked")
    func exact() {
        let values = [Double](repeating: 1, count: 5) + [Double](repeating: 1.1, count: 5)
        #expect(ChangePoints(values, errorRate: 0.001).steps.map(\.index) == [5])
        #expect(ChangePoints(values, errorRate: 0.001, minStep: 0.2).steps.isEmpty)
    }

    @Test("series that are short or all the same have no change", arguments: [0, 1, 2, 3, 5, 6, 50])
    func flat(count: Int) {
        #expect(ChangePoints([Double](repeating: 2, count: count), errorRate: 0.5).steps.isEmpty)
    }
}
