import Keys
import Statistics

/// Runs a plan in bins of time, and counts: there is no object for a client, and none for a request.
///
/// Requests that arrive in one bin are answered in the order of arrival, as many a bin as the server can; what would be
/// answered after the clients' time limit is turned away at once, and comes again after the pause of the clients' policy.
/// So no request is answered in vain, and real servers, which do that too, do worse.
///
/// - Complexity: O(clients + retries) in time, O(bins) in memory.
package struct KeyLoadSimulation {
    /// The length of a bin: 10 ms.
    package static let binNanoseconds: UInt64 = 10_000_000
    private static let binsPerSecond = 100

    /// Clients that ask in one bin, and are alike.
    private struct Cohort {
        /// The bin from which on the key is needed; `nil` if that is drawn when the answer comes late.
        let need: Int?
        let attempt: Int
        var count: Int
    }

    private let plan: KeyLoadPlan
    private let appearance: Int
    /// First requests by bin; retries by bin.
    private var first: [Int] = []
    private var retries: [Int: [Cohort]] = [:]
    private var lateness: [Int] = [0]
    private var random: SplitMix64
    private var gaveUpCount = 0
    private var retryCount = 0
    private var arrivals: [Int] = []

    /// Runs a plan.
    ///
    /// - Returns: What became of it; the same for the same plan.
    package static func run(_ plan: KeyLoadPlan) -> KeyLoadResult {
        var simulation = KeyLoadSimulation(plan)
        simulation.ask()
        simulation.serve()
        return simulation.result()
    }

    /// When each client asks first, counted by bin from the key's announcement on.
    package static func firstRequests(_ plan: KeyLoadPlan) -> [Int] {
        var simulation = KeyLoadSimulation(plan)
        simulation.ask()
        return simulation.first
    }

    private init(_ plan: KeyLoadPlan) {
        self.plan = plan
        self.appearance = Self.bin(KeyTiming.nanoseconds(plan.announcedBefore))
        // Apart from the clients' own numbers.
        self.random = SplitMix64(seed: plan.seed ^ 0xA5A5_A5A5_5A5A_5A5A)
    }

    private static func bin(_ nanoseconds: UInt64) -> Int { Int(nanoseconds / binNanoseconds) }

    private mutating func ask() {
        let dispersal = KeyDispersal(appearsIn: plan.announcedBefore, policy: plan.policy)
        let refresh = KeyTiming.nanoseconds(plan.refreshInterval)
        let appears = KeyTiming.nanoseconds(plan.announcedBefore)
        let latest = appears + refresh
        first = Array(repeating: 0, count: Self.bin(latest) + 1)
        let firstSeed = plan.clientSeed(0)
        for client in 0..<plan.clientCount {
            var own = SplitMix64(seed: firstSeed &+ UInt64(client))
            let bits = own.next()
            let time =
                switch plan.way {
                case .onDemand: appears + refresh.multipliedFullWidth(by: bits).high
                case .preloaded: refresh.multipliedFullWidth(by: bits).high
                case .dispersed: dispersal.nanoseconds(bits: bits)
                }
            first[min(Self.bin(time), first.count - 1)] += 1
        }
    }

    private mutating func serve() {
        let rest = plan.policy.deadline - plan.roundTrip
        let limit = KeyTiming.nanoseconds(rest)
        let maximum = rest < .zero ? 0 : max(1, Int(UInt64(plan.capacityPerSecond) * (limit / 1_000_000) / 1000))
        var queue: [Cohort] = []
        var head = 0
        var waiting = 0
        // What the server can do in hundredths of a request, so that small capacities are exact.
        var credit = 0
        var bin = 0
        while bin < first.count || waiting > 0 || !retries.isEmpty {
            var arrived = retries.removeValue(forKey: bin) ?? []
            if bin < first.count, first[bin] > 0 {
                arrived.append(Cohort(need: plan.way == .onDemand ? bin : nil, attempt: 1, count: first[bin]))
            }
            arrivals.append(arrived.reduce(0) { $0 + $1.count })
            for cohort in arrived {
                let taken = min(cohort.count, maximum - waiting)
                waiting += taken
                if taken > 0 { queue.append(Cohort(need: cohort.need, attempt: cohort.attempt, count: taken)) }
                if taken < cohort.count { turnAway(cohort, cohort.count - taken, at: bin) }
            }
            credit += plan.capacityPerSecond
            var able = credit / Self.binsPerSecond
            credit -= able * Self.binsPerSecond
            while able > 0, head < queue.count {
                let count = min(able, queue[head].count)
                answer(queue[head], count, at: bin)
                able -= count
                waiting -= count
                queue[head].count -= count
                if queue[head].count == 0 { head += 1 }
            }
            if head > 4096 {
                queue.removeFirst(head)
                head = 0
            }
            bin += 1
        }
    }

    private mutating func turnAway(_ cohort: Cohort, _ count: Int, at bin: Int) {
        guard cohort.attempt < plan.policy.attempts else {
            gaveUpCount += count
            return
        }
        retryCount += count
        var later: [Int: Int] = [:]
        for _ in 0..<count {
            let pause = KeyTiming.pause(
                attempt: cohort.attempt, retryAfter: nil, policy: plan.policy, bits: random.next())
            later[bin + 1 + Self.bin(KeyTiming.nanoseconds(pause)), default: 0] += 1
        }
        for (next, number) in later.sorted(by: { $0.key < $1.key }) {
            retries[next, default: []].append(
                Cohort(need: cohort.need, attempt: cohort.attempt + 1, count: number))
        }
    }

    private mutating func answer(_ cohort: Cohort, _ count: Int, at bin: Int) {
        let trip = KeyTiming.nanoseconds(plan.roundTrip)
        let arrival = bin + Int((trip + Self.binNanoseconds - 1) / Self.binNanoseconds)
        if let need = cohort.need { return note(arrival - need, count) }
        guard arrival > appearance else { return note(0, count) }
        let refresh = KeyTiming.nanoseconds(plan.refreshInterval)
        for _ in 0..<count {
            let need = appearance + Self.bin(refresh.multipliedFullWidth(by: random.next()).high)
            note(arrival - need, 1)
        }
    }

    private mutating func note(_ late: Int, _ count: Int) {
        let late = max(late, 0)
        if late >= lateness.count {
            lateness.append(contentsOf: repeatElement(0, count: late + 1 - lateness.count))
        }
        lateness[late] += count
    }

    private func result() -> KeyLoadResult {
        KeyLoadResult(arrivals: arrivals, retryCount: retryCount, gaveUpCount: gaveUpCount, lateness: lateness)
    }
}
