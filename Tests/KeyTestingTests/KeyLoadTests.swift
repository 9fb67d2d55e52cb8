import KeyTesting
import Keys
import Results
import Testing

@Suite("key-server load")
struct KeyLoadTests {
    private static func plan(
        _ clients: Int, _ mode: KeyLoadRecord.RequestMode, capacity: Int = 1_000_000, seed: UInt64 = 7
    ) throws -> KeyLoadPlan {
        try KeyLoadPlan(clientCount: clients, mode: mode, capacityPerSecond: capacity, seed: seed)
    }

    @Test("dispersed requests peak within 1.2 times clients by window", arguments: [1, 2, 3] as [UInt64])
    func dispersed(_ seed: UInt64) throws {
        let plan = try Self.plan(120_000, .dispersed, seed: seed)
        let result = KeyLoadSimulation.run(plan)
        // 60 seconds of window, as the policy has it.
        #expect(plan.policy.dispersalWindow == .seconds(60))
        #expect(result.peakPerSecond >= 2000)
        #expect(result.peakPerSecond <= 2400)
        #expect(result.answeredCount == 120_000)
        #expect(result.lateCount == 0)
    }

    @Test("on demand and preloaded, all ask while they refresh; only the first are late")
    func together() throws {
        let onDemand = KeyLoadSimulation.run(try Self.plan(120_000, .onDemand))
        let preloaded = KeyLoadSimulation.run(try Self.plan(120_000, .preloaded))
        #expect(onDemand.peakPerSecond >= 20_000)
        #expect(preloaded.peakPerSecond >= 20_000)
        #expect(onDemand.lateCount == 120_000)
        #expect(onDemand.p999Nanoseconds == 50_000_000)
        #expect(preloaded.lateCount == 0)
        #expect(preloaded.p999Nanoseconds == 0)
    }

    @Test("a server that is too small makes clients late, and then turns them away")
    func overload() throws {
        let result = KeyLoadSimulation.run(try Self.plan(120_000, .onDemand, capacity: 2000))
        #expect(result.answeredCount + result.gaveUpCount == 120_000)
        #expect(result.gaveUpCount > 0)
        #expect(result.requestCount == 120_000 + result.retryCount)
        #expect(result.p999Nanoseconds == nil)
        let enough = KeyLoadSimulation.run(try Self.plan(120_000, .dispersed, capacity: 2400))
        #expect(enough.gaveUpCount == 0)
        #expect(enough.p999Nanoseconds == 0)
    }

    @Test("clients of the simulation ask when sessions with their seeds do")
    func sessions() throws {
        let plan = try Self.plan(2000, .dispersed)
        var counts = [Int](repeating: 0, count: KeyLoadSimulation.firstRequests(plan).count)
        for client in 0..<plan.clientCount {
            var machine = KeyMachine(policy: plan.policy, device: "d", seed: plan.clientSeed(client))
            let start = ClockSample(monotonic: .zero, wall: .seconds(1_700_000_000))
            let none = machine.handle(
                .rotation(identifier: "next", appearsIn: plan.announcedBefore), at: start)
            #expect(none.isEmpty)
            let deadline = try #require(machine.nextDeadline)
            let asked = machine.handle(.tick, at: ClockSample(monotonic: deadline, wall: start.wall + deadline))
            #expect(asked.count == 1)
            counts[Int(KeyTiming.nanoseconds(deadline) / KeyLoadSimulation.binNanoseconds)] += 1
        }
        #expect(counts == KeyLoadSimulation.firstRequests(plan))
    }

    @Test("the same seed gives the same figures, another one others")
    func seeds() throws {
        let first = KeyLoadSimulation.run(try Self.plan(50_000, .dispersed, seed: 1))
        #expect(first == KeyLoadSimulation.run(try Self.plan(50_000, .dispersed, seed: 1)))
        #expect(
            KeyLoadSimulation.firstRequests(try Self.plan(50_000, .dispersed, seed: 1))
                != KeyLoadSimulation.firstRequests(try Self.plan(50_000, .dispersed, seed: 2)))
    }

    @Test("plans that cannot be are errors")
    func errors() {
        #expect(throws: KeyLoadError.self) { try KeyLoadPlan(clientCount: 0, mode: .onDemand) }
        #expect(throws: KeyLoadError.self) { try KeyLoadPlan(clientCount: 1, mode: .onDemand, capacityPerSecond: 0) }
        #expect(throws: KeyLoadError.self) {
            try KeyLoadPlan(clientCount: 1, mode: .onDemand, roundTrip: .seconds(-1))
        }
    }
}

/// No verdict here depends on how fast this machine is: time limits are hours of the plan, which no run takes.
@Suite("key-server load on loopback", .serialized)
struct KeyLoopbackTests {
    private static func plan(
        _ clients: Int, _ mode: KeyLoadRecord.RequestMode, capacity: Int = 1_000_000
    ) throws -> KeyLoadPlan {
        let policy = KeyPolicy(deadline: .seconds(36_000), idleTimeout: .seconds(36_000))
        return try KeyLoadPlan(clientCount: clients, mode: mode, policy: policy, capacityPerSecond: capacity, seed: 3)
    }

    @Test("each client asks once and gets its key, as simulated", arguments: KeyLoadRecord.RequestMode.allCases)
    func all(_ mode: KeyLoadRecord.RequestMode) async throws {
        let plan = try Self.plan(48, mode)
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
            clientCount: 24, mode: .onDemand, policy: policy, announcedBefore: .seconds(1), roundTrip: .seconds(2),
            seed: 3)
        let run = try await LoopbackRun.run(plan, speed: 20).result
        #expect(run.gaveUpCount == 24 && run.answeredCount == 0)
        // Where the machine is so slow that a client's time is over before it asks, it asks less often.
        #expect(run.requestCount <= 48)
        #expect(run.p999Nanoseconds == nil)
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
        await #expect(throws: KeyLoadError.self) { try await LoopbackRun.run(plan, speed: 0) }
        let large = try Self.plan(1_000_000_000, .onDemand)
        await #expect(throws: KeyLoadError.self) { try await LoopbackRun.run(large, speed: 1) }
    }
}

@Suite("a run and its simulation")
struct KeyLoadComparisonTests {
    private static func result(peak: Int, late: Int?) -> KeyLoadRecord.Figures {
        KeyLoadRecord.Figures(
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
