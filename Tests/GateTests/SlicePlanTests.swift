import Gate
import Testing

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

    @Test("a phase has room for 16 blocks, or a block is as short as may be", arguments: [1.0, 5, 10, 60])
    func room(seconds: Double) {
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
