import KeyTesting
import Keys
import Testing

/// No verdict here depends on how fast this machine is: time limits are hours of the plan, which no run takes.
@Suite("key-server load on loopback", .serialized)
struct KeyLoopbackTests {
    private static func plan(
        _ clients: Int, _ way: KeyLoadPlan.Way, capacity: Int = 1_000_000
    ) throws -> KeyLoadPlan {
        let policy = KeyPolicy(deadline: .seconds(36_000), idleTimeout: .seconds(36_000))
        return try KeyLoadPlan(clientCount: clients, way: way, policy: policy, capacityPerSecond: capacity, seed: 3)
    }

    @Test("each client asks once and gets its key, as simulated", arguments: KeyLoadPlan.Way.allCases)
    func all(_ way: KeyLoadPlan.Way) async throws {
        let plan = try Self.plan(48, way)
        let run = try await LoopbackRun.run(plan, speed: 200).result
        let simulated = KeyLoadSimulation.run(plan)
        #expect(run.requestCount == 48 && simulated.requestCount == 48)
        #expect(run.answeredCount == 48 && simulated.answeredCount == 48)
        #expect(run.retryCount == 0 && run.gaveUpCount == 0)
        #expect((1...48).contains(run.peakPerSecond))
    }

    @Test("clients that are turned away without end give up, and none is lost")
    func overload() async throws {
        // No answer comes within the clients' time limit, which is shorter than the round trip.
        let policy = KeyPolicy(deadline: .seconds(1), attempts: 2, firstPause: .milliseconds(100))
        let plan = try KeyLoadPlan(
            clientCount: 24, way: .onDemand, policy: policy, announcedBefore: .seconds(1), roundTrip: .seconds(2),
            seed: 3)
        let run = try await LoopbackRun.run(plan, speed: 20).result
        #expect(run.gaveUpCount == 24 && run.answeredCount == 0)
        #expect(run.requestCount <= 48 && run.requestCount >= 24)
        #expect(run.lateness(tenthsOfPercent: 999) == nil)
        let simulated = KeyLoadSimulation.run(plan)
        #expect(simulated.gaveUpCount == 24 && simulated.requestCount == 48)
    }

    @Test("a server's queue answers in order, so many a second, and turns away what would be too late")
    func queue() {
        var queue = ServerQueue(capacityPerSecond: 2, roundTrip: .milliseconds(100), deadline: .seconds(1))
        let fates = [0, 0, 100, 100, 5000].map { queue.arrive(at: .milliseconds($0)) }
        #expect(
            fates == [
                .answered(.milliseconds(100)), .answered(.milliseconds(600)), .answered(.milliseconds(1100)),
                .turnedAway, .answered(.milliseconds(5100)),
            ])
        #expect(queue.arrivals.count == 5)
    }

    @Test("plans that this machine cannot run are errors")
    func errors() async throws {
        let plan = try Self.plan(1, .onDemand)
        await #expect(throws: LoopbackError.self) { try await LoopbackRun.run(plan, speed: 0) }
        let large = try Self.plan(1_000_000_000, .onDemand)
        await #expect(throws: LoopbackError.self) { try await LoopbackRun.run(large, speed: 1) }
    }
}

@Suite("a run and its simulation")
struct KeyLoadComparisonTests {
    private static func result(peak: Int, late: Int?) -> KeyLoadResult {
        KeyLoadResult(
            arrivals: [peak], retryCount: 0, gaveUpCount: late == nil ? 1 : 0,
            lateness: late.map { [Int](repeating: 0, count: $0 / 10) + [1] } ?? [0])
    }

    @Test(
        "are near each other within the tolerance, and only within it",
        arguments: [
            (100, 100, 0, 0, true), (100, 115, 0, 0, true), (100, 116, 0, 0, false), (100, 85, 0, 0, true),
            (100, 84, 0, 0, false), (10, 16, 0, 0, true), (10, 17, 0, 0, false), (10, 10, 0, 100, true),
            (10, 10, 0, 110, false), (10, 10, 1000, 1200, true), (10, 10, 1000, 1210, false),
            (10, 10, 1000, 800, true), (10, 10, 1000, 790, false), (10, 10, 0, nil, false), (10, 10, nil, nil, true),
            (10, 10, nil, 50, false),
        ] as [(Int, Int, Int?, Int?, Bool)])
    func tolerance(_ simulated: Int, _ run: Int, _ simulatedLate: Int?, _ runLate: Int?, _ agrees: Bool) {
        let comparison = KeyLoadComparison(
            simulated: Self.result(peak: simulated, late: simulatedLate), run: Self.result(peak: run, late: runLate))
        #expect(comparison.agrees == agrees)
    }
}
