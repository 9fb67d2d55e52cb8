import Gate
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

    @Test("the first that occurs of wrong, hostUnfit, slower, inconclusive, same and faster counts for all")
    func overall() {
        let order: [GateVerdict] = [.wrong, .noisyHost, .slower, .inconclusive, .same, .faster]
        for (index, verdict) in order.enumerated() {
            #expect(GateVerdict.overall(order[index...].reversed()) == verdict)
        }
        #expect(GateVerdict.overall([]) == nil)
        #expect(Set(order).count == GateVerdict.allCases.count)
    }

    @Test("half the interval takes four times the data, and an estimate on the tolerance no amount of it")
    func growth() throws {
        let rule = GateRule(tolerance: 0.02)
        let growth = try #require(rule.growthToDecide(.init(estimate: 1.03, low: 1.01, high: 1.05)))
        #expect(abs(growth - 4.8) < 1e-6)
        #expect(rule.growthToDecide(.init(estimate: 1.02, low: 1.01, high: 1.05)) == nil)
        #expect(rule.growthToDecide(.init(estimate: 1.03, low: 0, high: .infinity)) == nil)
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
