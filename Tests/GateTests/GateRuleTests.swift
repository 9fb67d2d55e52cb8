import Foundation
import Gate
import Results
import Statistics
import Testing

@Suite struct GateRuleTests {
    @Test(
        "the verdict follows from where the interval of slowdown − 1 lies",
        arguments: [
            (0.021, 0.05, GateVerdict.slower), (0.02, 0.05, .inconclusive), (-0.5, 0.021, .inconclusive),
            (-0.5, 0.02, .same), (-0.01, 0.01, .same), (-0.5, -0.02, .same), (-0.5, -0.021, .faster),
            (-.infinity, .infinity, .inconclusive), (.nan, .nan, .inconclusive), (0.01, .nan, .inconclusive),
        ] as [(Double, Double, GateVerdict)])
    func rule(low: Double, high: Double, expected: GateVerdict) {
        #expect(GateRule(tolerance: 0.02).verdict(low: low, high: high) == expected)
    }

    @Test("a verdict is written as its name")
    func names() {
        let names = ["faster", "same", "slower", "inconclusive", "noisyHost", "wrong", "failed"]
        #expect(GateVerdict.allCases.map(\.rawValue) == names)
    }

    @Test("the first that occurs of wrong, failed, slower, noisyHost, inconclusive, same and faster counts for all")
    func overall() {
        let order: [GateVerdict] = [.wrong, .failed, .slower, .noisyHost, .inconclusive, .same, .faster]
        for (index, verdict) in order.enumerated() {
            #expect(GateVerdict.overall(order[index...].reversed()) == verdict)
        }
        #expect(GateVerdict.overall([]) == nil)
        #expect(Set(order).count == GateVerdict.allCases.count)
    }

    @Test("half the interval takes four times the data, from what is true: no change where the interval holds that")
    func growth() throws {
        let rule = GateRule(tolerance: 0.02)
        func growth(_ estimate: Double, _ low: Double, _ high: Double) -> Double? {
            rule.growthToDecide(.init(estimate: estimate, low: low, high: high))
        }
        let tolerance = log(1.02)
        let wide = try #require(growth(exp(tolerance / 2), exp(-3 * tolerance), exp(2.5 * tolerance)))
        let wider = try #require(growth(exp(tolerance / 2), exp(-3 * tolerance), exp(4.5 * tolerance)))
        #expect(abs(wider / wide - 4) < 1e-9)
        // An estimate that noise has put upon the tolerance changes nothing.
        let unlucky = try #require(growth(exp(tolerance), exp(-3 * tolerance), exp(3 * tolerance)))
        #expect(abs(unlucky - wide) < 1e-9)
        // A change that is there to be seen is decided by its distance from the tolerance.
        #expect(try #require(growth(1.03, 1.01, 1.05)) > 3)
        #expect(growth(1.02, 1.01, 1.05) == nil)
        #expect(growth(1.03, 0, .infinity) == nil)
    }

    /// A gate's phase over blocks that are drawn: the ratio at its last look, and how many blocks it took.
    private func phase(
        _ count: Int, deviation: Double, using generator: inout SplitMix64
    ) -> (ratio: RatioEstimate, count: Int, isDecided: Bool)? {
        let rule = GateRule(tolerance: 0.02)
        let schedule = LookSchedule(largestCount: count, alpha: 0.025, comparisonCount: 6)
        var blocks: [Double] = []
        var earlier = 0
        var last: RatioEstimate?
        for look in schedule.counts {
            while blocks.count < look {
                // Box and Muller 1958.
                let radius = (-2 * log(1 - Double.random(in: 0..<1, using: &generator))).squareRoot()
                blocks.append(deviation * radius * cos(2 * .pi * Double.random(in: 0..<1, using: &generator)))
            }
            let alpha = schedule.alpha(at: look, after: earlier, isLast: look == count)
            earlier = look
            guard let interval = SignedRankInterval(blocks, alpha: alpha) else { return nil }
            last = RatioEstimate(interval)
            if let last, rule.isDecided(last) { return (last, look, true) }
        }
        return last.map { ($0, count, false) }
    }

    @Test(
        "the time that is said to settle an unchanged cell is right within a factor of two",
        arguments: [(16, 0.03), (40, 0.04), (78, 0.06)])
    func settles(count: Int, deviation: Double) throws {
        var generator = SplitMix64(seed: 42)
        var (tries, long, short) = (0, 0, 0)
        for _ in 0..<400 where tries < 100 {
            guard let first = phase(count, deviation: deviation, using: &generator), !first.isDecided,
                let growth = GateRule(tolerance: 0.02).growthToDecide(first.ratio)
            else { continue }
            tries += 1
            let needed = growth * Double(first.count)
            if phase(Int(2 * needed), deviation: deviation, using: &generator)?.isDecided == true { long += 1 }
            if phase(Int(needed / 2), deviation: deviation, using: &generator)?.isDecided == true { short += 1 }
        }
        #expect(tries == 100 && long >= 90 && short <= 60, "\(tries), \(long), \(short)")
    }

    @Test("no time narrows what is due to a stored ratio")
    func storedGrowth() throws {
        let rule = GateRule(tolerance: 0.02)
        let ratio = RatioEstimate(estimate: 1.05, low: 1.01, high: 1.1)
        let alone = try #require(rule.growthToDecide(ratio))
        let certain = try #require(rule.growthToDecide(ratio, over: .init(estimate: 1, low: 1, high: 1)))
        let stored = try #require(rule.growthToDecide(ratio, over: .init(estimate: 1, low: 0.99, high: 1.02)))
        #expect(alone == certain && stored > 2 * alone)
        #expect(rule.growthToDecide(ratio, over: .init(estimate: 1, low: 0.99, high: 1.05)) == nil)
    }

    @Test("of few blocks, their standard deviation says how many would decide")
    func blockCount() throws {
        let rule = GateRule(tolerance: 0.02)
        let spread = [-0.01, 0.01, -0.01, 0.01]
        let near = try #require(rule.blockCountToDecide(spread.map { 0.03 + 3 * $0 }, alpha: 0.0125))
        let far = try #require(rule.blockCountToDecide(spread.map { 0.3 + $0 }, alpha: 0.0125))
        #expect(near > far && far == 14)
        #expect(rule.blockCountToDecide(spread.map { 0.0198 + $0 }, alpha: 0.0125) == nil)
        #expect(rule.blockCountToDecide([0.1], alpha: 0.0125) == nil)
    }
}

@Suite("how a block's time is divided")
struct SlicePlanTests {
    @Test(
        "short iterations are put together, long ones stand alone, very long ones in few rounds",
        arguments: [
            // Nanoseconds an iteration, seconds a cell; iterations a slice, slices a turn, rounds.
            (0, 10.0, 2000, 1, 32), (1, 10, 2000, 1, 32), (1000, 10, 500, 1, 32), (240_000, 10, 2, 1, 32),
            (360_000, 10, 1, 1, 32), (1_000_000, 10, 1, 1, 32), (2_000_000, 10, 1, 1, 16), (9_999_999, 10, 1, 1, 3),
            (10_000_000, 10, 1, 3, 5), (30_000_000, 10, 1, 2, 2), (100_000_000, 10, 1, 1, 2),
            (30_000_000, 60, 1, 3, 2), (90_000_000, 60, 1, 1, 2), (499_999_999, 60, 1, 1, 2),
            (500_000_000, 60, 1, 1, 1), (10_000_000, 0, 1, 1, 3), (1 << 50, 10, 1, 1, 1), (.max, 10, 1, 1, 1),
        ] as [(UInt64, Double, UInt64, Int, Int)])
    func plan(iteration: UInt64, seconds: Double, iterations: UInt64, slices: Int, rounds: Int) {
        let plan = SlicePlan(iterationNanoseconds: iteration, secondsPerCell: seconds)
        #expect(plan.iterationCount == iterations && plan.slicesPerTurn == slices && plan.roundCount == rounds)
        #expect(plan.iterationsPerSide == 2 * iterations * UInt64(slices) * UInt64(rounds))
    }

    @Test("a phase has buffer for 16 blocks, or a block is as short as may be", arguments: [1.0, 5, 10, 60])
    func buffer(seconds: Double) {
        var iteration: UInt64 = 1000
        while iteration < 2_000_000_000 {
            let plan = SlicePlan(iterationNanoseconds: iteration, secondsPerCell: seconds)
            let block = Double(2 * plan.iterationsPerSide * iteration) / 1e9
            let isShortest = plan.iterationCount == 1 && plan.slicesPerTurn == 1 && plan.roundCount <= 2
            #expect(block <= max(0.128, seconds / 16) || isShortest, "\(iteration) ns: a block of \(block) s")
            iteration += iteration / 7
        }
    }
}
