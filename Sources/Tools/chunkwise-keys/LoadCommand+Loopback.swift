import KeyTesting
import Results

extension LoadCommand {
    /// Simulates plans and runs them, side by side.
    func compare(_ plans: [KeyLoadPlan]) throws {
        var cells: [KeyLoadRecord.Cell] = []
        var disagreements = 0
        var lag: UInt64 = 0
        for plan in plans {
            let run = try run(plan)
            let comparison = KeyLoadComparison(simulated: KeyLoadSimulation.run(plan), run: run.result)
            if !comparison.agrees { disagreements += 1 }
            lag = max(lag, run.lagNanoseconds)
            cells.append(
                KeyLoadRecord.Cell(
                    way: .init(plan.way), simulated: .init(comparison.simulated), run: .init(comparison.run),
                    agrees: comparison.agrees, lagNanoseconds: run.lagNanoseconds))
            guard format == .text else { continue }
            Self.show(plan.way, "simulated", comparison.simulated)
            Self.show(plan.way, "run", comparison.run)
            print(
                "\(plan.way.rawValue): \(comparison.agrees ? "they agree" : "they differ"); this machine adds "
                    + "\(run.lagNanoseconds / 1_000_000) ms")
        }
        try finish(cells)
        guard disagreements > 0 else { return }
        // What the machine adds is no fault of the simulation.
        guard lag < KeyLoadRecord.maxLagNanoseconds else {
            throw KeysFailure(
                .noAnswer,
                "this machine adds \(lag / 1_000_000) ms to times: expected less than 50, with less --speed or nothing "
                    + "else on it")
        }
        throw KeysFailure(.no, "\(disagreements) runs differ from their simulations: expected none")
    }

    private func run(_ plan: KeyLoadPlan) throws -> LoopbackRun {
        let speed = speed
        do {
            return try Waiting.wait { try await LoopbackRun.run(plan, speed: speed) }
        } catch let error as LoopbackError {
            throw KeysFailure(.noAnswer, "\(error)")
        }
    }

    private static func show(_ way: KeyLoadPlan.Way, _ what: String, _ result: KeyLoadResult) {
        print("\(way.rawValue), \(what): \(result.summary)")
    }
}

extension KeyLoadResult {
    /// The figures in a line.
    var summary: String {
        "peak \(peakPerSecond) requests/s, \(requestCount) requests, \(lateCount) clients late, \(gaveUpCount) gave up, "
            + "99.9th percentile "
            + (lateness(tenthsOfPercent: 999).map { "\($0 / 1_000_000) ms late" } ?? "without a key")
    }
}
