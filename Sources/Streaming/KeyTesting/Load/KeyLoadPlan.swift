package import Keys
import Statistics
package import Support

/// A live stream whose key is rotated once, its clients, and the server that has the key.
///
/// Each client knows of the new key by refreshing the playlist, some time within ``refreshInterval`` after it appears; in
/// the other two ways it is told ``announcedBefore`` that. A client's random numbers are those of a session with the seed
/// ``clientSeed(_:)``.
package struct KeyLoadPlan: Hashable, Sendable {
    /// When clients ask.
    package enum Way: String, CaseIterable, Hashable, Sendable {
        /// When their playlist names the key.
        case onDemand
        /// When their playlist announces it.
        case preloaded
        /// At a time of their own between the two.
        case dispersed
    }

    /// The longest plan that is simulated.
    package static let maxSeconds = 86_400

    /// How many clients there are.
    package var clientCount: Int
    /// When they ask.
    package var way: Way
    /// How they ask: window, lead time, pauses, attempts, time limit.
    package var policy: KeyPolicy
    /// How long before it appears a key is announced.
    package var announcedBefore: Duration
    /// Over how long the clients' refreshes spread.
    package var refreshInterval: Duration
    /// How many requests the server answers in a second.
    package var capacityPerSecond: Int
    /// How long an answer takes if the server is idle.
    package var roundTrip: Duration
    /// What all jitter follows from.
    package var seed: UInt64

    /// Creates a plan.
    ///
    /// - Throws: `KeyLoadError` for a plan that cannot be: less than one client, no capacity, times below zero or more than
    ///   ``maxSeconds``.
    package init(
        clientCount: Int, way: Way, policy: KeyPolicy = KeyPolicy(), announcedBefore: Duration = .seconds(90),
        refreshInterval: Duration = .seconds(6), capacityPerSecond: Int = 200_000,
        roundTrip: Duration = .milliseconds(50), seed: UInt64 = 1
    ) throws(KeyLoadError) {
        guard (1...1_000_000_000).contains(clientCount) else {
            throw KeyLoadError("\(clientCount) clients: expected 1 to 1000000000")
        }
        guard (1...1_000_000_000).contains(capacityPerSecond) else {
            throw KeyLoadError("a capacity of \(capacityPerSecond) requests a second: expected 1 to 1000000000")
        }
        let times = [
            announcedBefore, refreshInterval, roundTrip, policy.deadline, policy.longestPause, policy.dispersalWindow,
            policy.leadTime,
        ]
        for time in times where time < .zero || time > .seconds(Self.maxSeconds) {
            throw KeyLoadError("a time of \(time): expected from zero to \(Self.maxSeconds) seconds")
        }
        self.clientCount = clientCount
        self.way = way
        self.policy = policy
        self.announcedBefore = announcedBefore
        self.refreshInterval = refreshInterval
        self.capacityPerSecond = capacityPerSecond
        self.roundTrip = roundTrip
        self.seed = seed
    }

    /// The seed of a client's session.
    ///
    /// - Parameter client: The client's number, from 0.
    /// - Returns: What all its jitter follows from.
    package func clientSeed(_ client: Int) -> UInt64 {
        // Seeds that follow each other would have most clients in common.
        var generator = SplitMix64(seed: seed)
        return generator.next() &+ UInt64(client)
    }
}

/// Why a plan cannot be simulated, or not be run on this machine.
package struct KeyLoadError: Error, Hashable, Sendable, CustomStringConvertible, ExitStatusProviding {
    /// The value, and what was expected.
    package let description: String
    /// Usage for a plan that cannot be, no answer where this machine cannot run it.
    package let exitStatus: ExitStatus

    init(_ description: String, _ exitStatus: ExitStatus = .usage) {
        self.description = description
        self.exitStatus = exitStatus
    }
}

/// What became of a plan.
package struct KeyLoadResult: Hashable, Sendable {
    /// The max number of requests that reached the server within any second, retries included.
    package let peakPerSecond: Int
    /// All requests.
    package let requestCount: Int
    /// Those that were sent again, since the server had too much to do.
    package let retryCount: Int
    /// Clients that got the key.
    package let answeredCount: Int
    /// Clients that asked as often as they may, and got none.
    package let gaveUpCount: Int
    /// Clients that had to wait for the key with a picture to show.
    package let lateCount: Int
    /// How late keys were, as clients got them, in bins of ``KeyLoadSimulation/binNanoseconds``; index 0 is in time.
    package let lateness: [Int]
    /// Requests that reached the server in each second from the key's announcement on.
    package let requestsPerSecond: [Int]

    /// Sums up what was counted.
    ///
    /// - Parameters:
    ///   - arrivals: Requests that reached the server, by bin.
    ///   - retryCount: How many of them were sent again.
    ///   - gaveUpCount: Clients that got no key.
    ///   - lateness: Clients that got it, by the bins that it was late.
    package init(arrivals: [Int], retryCount: Int, gaveUpCount: Int, lateness: [Int]) {
        let binsPerSecond = Int(1_000_000_000 / KeyLoadSimulation.binNanoseconds)
        var (peak, sum) = (0, 0)
        for (bin, count) in arrivals.enumerated() {
            sum += count
            if bin >= binsPerSecond { sum -= arrivals[bin - binsPerSecond] }
            peak = max(peak, sum)
        }
        let answered = lateness.reduce(0, +)
        self.peakPerSecond = peak
        self.requestCount = arrivals.reduce(0, +)
        self.retryCount = retryCount
        self.answeredCount = answered
        self.gaveUpCount = gaveUpCount
        self.lateCount = answered - (lateness.first ?? 0)
        self.lateness = lateness
        self.requestsPerSecond = stride(from: 0, to: arrivals.count, by: binsPerSecond).map { start in
            arrivals[start..<min(start + binsPerSecond, arrivals.count)].reduce(0, +)
        }
    }

    /// How late the key was for the client that is that far down in the order, in nanoseconds, rounded up to a bin.
    ///
    /// Clients that gave up are behind all others. By nearest rank, as `percentile` in `Statistics`.
    /// - Parameter percent: In tenths of a percent, from 1 to 1000.
    /// - Returns: The lateness, or `nil` if that client got no key.
    package func lateness(tenthsOfPercent percent: Int) -> UInt64? {
        precondition((1...1000).contains(percent), "a percentile lies between 1 and 1000 tenths of a percent")
        let rank = ((answeredCount + gaveUpCount) * percent + 999) / 1000
        var seen = 0
        for (bin, count) in lateness.enumerated() {
            seen += count
            if seen >= rank { return UInt64(bin) * KeyLoadSimulation.binNanoseconds }
        }
        return nil
    }
}

/// Whether a simulation foretells what a real run does.
package struct KeyLoadComparison: Hashable, Sendable {
    /// How far the peaks may be apart: a tenth of the simulated one, and five requests, which chance alone makes of small
    /// numbers.
    package static let peakShare = 0.1
    /// See ``peakShare``.
    package static let peakRequests = 5.0
    /// How far the 99.9th percentiles of lateness may be apart: a tenth of the simulated one, and 100 ms.
    package static let latenessShare = 0.1
    /// See ``latenessShare``.
    package static let latenessNanoseconds = 100_000_000.0

    /// What was simulated.
    package let simulated: KeyLoadResult
    /// What was run.
    package let run: KeyLoadResult

    /// Compares two results of one plan.
    package init(simulated: KeyLoadResult, run: KeyLoadResult) {
        self.simulated = simulated
        self.run = run
    }

    /// Whether the peaks are as near to each other as they must be.
    package var isPeakNear: Bool {
        let distance = Double(abs(simulated.peakPerSecond - run.peakPerSecond))
        return distance <= Self.peakShare * Double(simulated.peakPerSecond) + Self.peakRequests
    }

    /// Whether the 99.9th percentiles of lateness are. Two clients without a key are equally late.
    package var isLatenessNear: Bool {
        switch (simulated.lateness(tenthsOfPercent: 999), run.lateness(tenthsOfPercent: 999)) {
        case (nil, nil): true
        case (let first?, let second?):
            abs(Double(first) - Double(second)) <= Self.latenessShare * Double(first) + Self.latenessNanoseconds
        default: false
        }
    }

    /// Whether both are.
    package var agrees: Bool { isPeakNear && isLatenessNear }
}
