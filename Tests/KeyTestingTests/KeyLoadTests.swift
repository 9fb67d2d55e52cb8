import KeyTesting
import Keys
import Testing

@Suite("key-server load")
struct KeyLoadTests {
    private static func plan(
        _ clients: Int, _ way: KeyLoadPlan.Way, capacity: Int = 1_000_000, seed: UInt64 = 7
    ) throws -> KeyLoadPlan {
        try KeyLoadPlan(clientCount: clients, way: way, capacityPerSecond: capacity, seed: seed)
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
        #expect(onDemand.lateness(tenthsOfPercent: 999) == 50_000_000)
        #expect(preloaded.lateCount == 0)
        #expect(preloaded.lateness(tenthsOfPercent: 999) == 0)
    }

    @Test("a server that is too small makes clients late, and then turns them away")
    func overload() throws {
        let result = KeyLoadSimulation.run(try Self.plan(120_000, .onDemand, capacity: 2000))
        #expect(result.answeredCount + result.gaveUpCount == 120_000)
        #expect(result.gaveUpCount > 0)
        #expect(result.requestCount == 120_000 + result.retryCount)
        #expect(result.lateness(tenthsOfPercent: 999) == nil)
        let enough = KeyLoadSimulation.run(try Self.plan(120_000, .dispersed, capacity: 2400))
        #expect(enough.gaveUpCount == 0)
        #expect(enough.lateness(tenthsOfPercent: 999) == 0)
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
        #expect(throws: KeyLoadError.self) { try KeyLoadPlan(clientCount: 0, way: .onDemand) }
        #expect(throws: KeyLoadError.self) { try KeyLoadPlan(clientCount: 1, way: .onDemand, capacityPerSecond: 0) }
        #expect(throws: KeyLoadError.self) {
            try KeyLoadPlan(clientCount: 1, way: .onDemand, roundTrip: .seconds(-1))
        }
    }
}
