import Keys
package import Results
import Statistics

/// Simulates a plan in bins of time. It only counts, and has no object for a client or a request.
///
/// The server answers the requests of a bin in the order of arrival, as many as its capacity allows. It turns away at
/// once a request whose answer would come after the clients' time limit; the client sends it again after the pause of
/// its policy. No request is therefore answered in vain. Real servers also answer some in vain, and do worse.
///
/// - Complexity: O(clients + retries) in time, O(bins) in memory.
package struct KeyLoadSimulation {
    /// The length of a bin: 10 ms.
    package static let binNanoseconds: UInt64 = 10_000_000
    private static let binsPerSecond = 100

    /// Equal clients that ask in the same bin.
    private struct Cohort {
        /// The first bin in which the key is needed; `nil` to draw it when the answer comes late.
        let need: Int?
        let attempt: Int
        var count: Int
    }

    private let plan: KeyLoadPlan
    private let appearance: Int
    /// The first requests by bin, and the retries by bin.
    private var first: [Int] = []
    private var retries: [Int: [Cohort]] = [:]
    private var lateness: [Int] = [0]
    private var random: SplitMix64
    private var gaveUpCount = 0
    private var retryCount = 0
    private var arrivals: [Int] = []

    /// Runs a plan.
    ///
    /// - Returns: The result; it is the same for the same plan.
    package static func run(_ plan: KeyLoadPlan) -> KeyLoadRecord.Figures {
        var simulation = KeyLoadSimulation(plan)
        simulation.ask()
        simulation.serve()
        return simulation.result()
    }

    /// Returns the numbers of first requests by bin, from the key's announcement on.
    package static func firstRequests(_ plan: KeyLoadPlan) -> [Int] {
        var simulation = KeyLoadSimulation(plan)
        simulation.ask()
        return simulation.first
    }

    private init(_ plan: KeyLoadPlan) {
        self.plan = plan
        self.appearance = Self.bin(KeyTiming.nanoseconds(plan.announcedBefore))
        // Independent of the clients' own random numbers.
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
                switch plan.mode {
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
        // The server's capacity in hundredths of a request, so that small capacities are exact.
        var credit = 0
        var bin = 0
        while bin < first.count || waiting > 0 || !retries.isEmpty {
            var arrived = retries.removeValue(forKey: bin) ?? []
            if bin < first.count, first[bin] > 0 {
                arrived.append(Cohort(need: plan.mode == .onDemand ? bin : nil, attempt: 1, count: first[bin]))
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

    private func result() -> KeyLoadRecord.Figures {
        KeyLoadRecord.Figures(arrivals: arrivals, retryCount: retryCount, gaveUpCount: gaveUpCount, lateness: lateness)
    }
}
