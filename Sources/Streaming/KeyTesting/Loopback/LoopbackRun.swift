#if Network
import Glibc
package import Keys
package import Results
import Statistics
import Synchronization

/// A real run of a plan, over connections on loopback and in a time that passes faster. It has a key server, and a
/// session for each client.
package struct LoopbackRun: Sendable {
    /// The result of the plan.
    package let result: KeyLoadRecord.Figures
    /// The delay that this machine adds, in nanoseconds of the plan. It is the larger of two 99.9th percentiles: the
    /// delay with which clients woke, and the time of exchanges beyond the time that the server held them back.
    package let lagNanoseconds: UInt64

    /// The result of a client.
    private struct Client: Sendable {
        let latenessNanoseconds: UInt64?
        let lagNanoseconds: UInt64
    }

    /// Runs a plan.
    ///
    /// - Parameters:
    ///   - plan: The clients and the server.
    ///   - speed: The number of the plan's seconds that pass in one of the machine's.
    /// - Returns: The result of the run.
    /// - Throws: `KeyLoadError` if the server cannot be started, or if there are not enough descriptors.
    package static func run(_ plan: KeyLoadPlan, speed: Int) async throws(KeyLoadError) -> LoopbackRun {
        guard (1...100_000).contains(speed) else { throw KeyLoadError("speed \(speed): expected 1 to 100000") }
        try OpenFiles.allow(2 * plan.clientCount + 200)
        let clock = ScaledKeyClock(speed: speed)
        let queue = ServerQueue(
            capacityPerSecond: plan.capacityPerSecond, roundTrip: plan.roundTrip, deadline: plan.policy.deadline)
        let server: LoopbackKeyServer
        do {
            server = try await LoopbackKeyServer(queue, clock: clock)
        } catch {
            throw KeyLoadError("no server on 127.0.0.1: \(error): expected a port that is free", .noAnswer)
        }
        // Making the sessions takes a moment, which must not count for any client.
        let announcement = clock.now().monotonic + .milliseconds(500 + plan.clientCount / 4) * speed
        let overhead = ExchangeOverhead()
        let exchange = LoopbackExchange(port: server.port, overhead: overhead)
        let clients = await withTaskGroup(of: Client.self) { group in
            for number in 0..<plan.clientCount {
                group.addTask { await client(number, plan, clock, announcement, exchange) }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        let arrivals = server.arrivals
        await server.stop()
        let added = overhead.nanoseconds.map { $0 * UInt64(speed) }
        return LoopbackRun(plan, clients, arrivals.map { $0 - announcement }, added)
    }

    private init(_ plan: KeyLoadPlan, _ clients: [Client], _ arrivals: [Duration], _ overheads: [UInt64]) {
        let bin = KeyLoadSimulation.binNanoseconds
        let bins = arrivals.map { Int(KeyTiming.nanoseconds($0) / bin) }
        var counts = [Int](repeating: 0, count: (bins.max() ?? 0) + 1)
        for bin in bins { counts[bin] += 1 }
        let late = clients.compactMap(\.latenessNanoseconds).map { Int($0 / bin) }
        var lateness = [Int](repeating: 0, count: (late.max() ?? 0) + 1)
        for bin in late { lateness[bin] += 1 }
        result = KeyLoadRecord.Figures(
            arrivals: counts, retryCount: arrivals.count - plan.clientCount, gaveUpCount: clients.count - late.count,
            lateness: lateness)
        let delays = [clients.map(\.lagNanoseconds), overheads]
        lagNanoseconds = delays.compactMap { percentile(tenthsOfPercent: 999, of: $0) }.max() ?? 0
    }

    /// Runs one client, from the key's announcement until it has the key or gives up.
    private static func client(
        _ number: Int, _ plan: KeyLoadPlan, _ clock: ScaledKeyClock, _ announcement: Duration,
        _ exchange: LoopbackExchange
    ) async -> Client {
        let seed = plan.clientSeed(number)
        let session = KeySession(
            exchange: exchange, policy: plan.policy, device: "client-\(number)", seed: seed,
            clock: clock)
        // The simulation draws the same first number.
        var random = SplitMix64(seed: seed)
        let first = KeyTiming.share(of: plan.refreshInterval, random.next())
        let second = KeyTiming.share(of: plan.refreshInterval, random.next())
        let appearance = announcement + plan.announcedBefore
        let need: Duration
        switch plan.mode {
        case .onDemand: need = appearance + first
        case .preloaded:
            try? await clock.sleep(until: announcement + first)
            await session.preload(["key"])
            need = appearance + second
        case .dispersed:
            // Times in the window count back from the key's appearance.
            await session.prepareRotation(to: "key", appearsIn: appearance - clock.now().monotonic)
            need = appearance + second
        }
        try? await clock.sleep(until: need)
        let lag = KeyTiming.nanoseconds(clock.now().monotonic - need)
        let key = try? await session.key(for: "key")
        let late = KeyTiming.nanoseconds(clock.now().monotonic - need)
        await session.close()
        return Client(latenessNanoseconds: key == nil ? nil : late, lagNanoseconds: lag)
    }
}

/// A clock that runs faster than the machine's, so that a minute of the plan passes in seconds.
package struct ScaledKeyClock: KeyClock {
    /// The number of this clock's seconds that pass in one of the machine's.
    package let speed: Int

    private let start = ContinuousClock.now

    /// The clock shows zero now.
    ///
    /// - Parameter speed: The number of its seconds that pass in one of the machine's, at least 1.
    package init(speed: Int) {
        precondition(speed >= 1, "a clock of speed \(speed)")
        self.speed = speed
    }

    /// Returns the clock's time; the wall clock starts at 2023-11-14 22:13:20 UTC. See `KeyClock.now()`.
    package func now() -> ClockSample {
        let time = start.duration(to: .now) * speed
        return ClockSample(monotonic: time, wall: .seconds(1_700_000_000) + time)
    }

    /// Waits; see `KeyClock.sleep(until:)`.
    package func sleep(until monotonic: Duration) async throws {
        try await Task.sleep(until: start + monotonic / speed, tolerance: .zero, clock: .continuous)
    }
}

/// The limit for this process's open files and connections.
enum OpenFiles {
    /// Raises the limit if it is too low. The corresponding C functions are `getrlimit` and `setrlimit`.
    ///
    /// - Throws: `KeyLoadError` if the limit cannot be raised far enough.
    static func allow(_ count: Int) throws(KeyLoadError) {
        var limits = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard getrlimit(resource, &limits) == 0, limits.rlim_cur < rlim_t(count) else { return }
        let maximum = limits.rlim_max
        limits.rlim_cur = min(rlim_t(count), maximum)
        guard maximum >= rlim_t(count), setrlimit(resource, &limits) == 0 else {
            throw KeyLoadError(
                "at most \(maximum) open files (ulimit -n): expected \(count) for this many clients", .noAnswer)
        }
    }
}
#endif
