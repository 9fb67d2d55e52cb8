package import Keys
package import Results
import Statistics
package import Support

/// A live stream whose key is rotated once, its clients, and the server that has the key.
///
/// Each client learns of the new key when it refreshes the playlist, at some time within ``refreshInterval`` after the
/// key appears. In the other two modes it learns of the key ``announcedBefore`` earlier. A client's random numbers are
/// those of a session with the seed ``clientSeed(_:)``.
package struct KeyLoadPlan: Hashable, Sendable {
    /// The max length of a plan in seconds.
    package static let maxSeconds = 86_400

    /// The number of clients.
    package var clientCount: Int
    /// The time at which they ask.
    package var mode: KeyLoadRecord.RequestMode
    /// The timing and limits of their requests: window, lead time, pauses, attempts, time limit.
    package var policy: KeyPolicy
    /// The time between the announcement of a key and its appearance.
    package var announcedBefore: Duration
    /// The time over which the clients' refreshes spread.
    package var refreshInterval: Duration
    /// The number of requests that the server answers in a second.
    package var capacityPerSecond: Int
    /// The time that an answer takes if the server is idle.
    package var roundTrip: Duration
    /// The seed of all jitter.
    package var seed: UInt64

    /// - Throws: `KeyLoadError` for an invalid plan: less than one client, no capacity, or times below zero or above
    ///   ``maxSeconds``.
    package init(
        clientCount: Int, mode: KeyLoadRecord.RequestMode, policy: KeyPolicy = KeyPolicy(),
        announcedBefore: Duration = .seconds(90), refreshInterval: Duration = .seconds(6),
        capacityPerSecond: Int = 200_000, roundTrip: Duration = .milliseconds(50), seed: UInt64 = 1
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
        self.mode = mode
        self.policy = policy
        self.announcedBefore = announcedBefore
        self.refreshInterval = refreshInterval
        self.capacityPerSecond = capacityPerSecond
        self.roundTrip = roundTrip
        self.seed = seed
    }

    /// Returns the seed of a client's session, which determines all its jitter.
    ///
    /// - Parameter client: The client's number, from 0.
    /// - Returns: The seed.
    package func clientSeed(_ client: Int) -> UInt64 {
        // Plans with consecutive seeds would otherwise have most clients in common.
        var generator = SplitMix64(seed: seed)
        return generator.next() &+ UInt64(client)
    }
}

/// The reason why a plan cannot be simulated, or cannot be run on this machine.
package struct KeyLoadError: Error, Hashable, Sendable, CustomStringConvertible, ExitStatusProviding {
    /// The value and the expectation.
    package let description: String
    /// `usage` for an invalid plan, `noAnswer` if this machine cannot run it.
    package let exitStatus: ExitStatus

    init(_ description: String, _ exitStatus: ExitStatus = .usage) {
        self.description = description
        self.exitStatus = exitStatus
    }
}

extension KeyLoadRecord.Figures {
    /// Sums up the counts of a run.
    ///
    /// Percentiles of lateness are nearest ranks, as for `percentile` in `Statistics`, rounded up to a bin. Clients
    /// that gave up come after all others.
    ///
    /// - Parameters:
    ///   - arrivals: The requests that reached the server, by bin of ``KeyLoadSimulation/binNanoseconds``, from the
    ///     key's announcement on.
    ///   - retryCount: The number of them that were sent again, because the server was overloaded.
    ///   - gaveUpCount: The number of clients that got no key.
    ///   - lateness: The numbers of clients that got the key, by the bins of its lateness. Index 0 is in time.
    package init(arrivals: [Int], retryCount: Int, gaveUpCount: Int, lateness: [Int]) {
        let binsPerSecond = Int(1_000_000_000 / KeyLoadSimulation.binNanoseconds)
        var (peak, sum) = (0, 0)
        for (bin, count) in arrivals.enumerated() {
            sum += count
            if bin >= binsPerSecond { sum -= arrivals[bin - binsPerSecond] }
            peak = max(peak, sum)
        }
        let answered = lateness.reduce(0, +)
        func late(tenthsOfPercent percent: Int) -> UInt64? {
            let rank = ((answered + gaveUpCount) * percent + 999) / 1000
            var seen = 0
            for (bin, count) in lateness.enumerated() {
                seen += count
                if seen >= rank { return UInt64(bin) * KeyLoadSimulation.binNanoseconds }
            }
            return nil
        }
        self.init(
            peakPerSecond: UInt64(peak), requestCount: UInt64(arrivals.reduce(0, +)),
            retryCount: UInt64(clamping: retryCount), answeredCount: UInt64(answered),
            lateCount: UInt64(answered - (lateness.first ?? 0)), gaveUpCount: UInt64(gaveUpCount),
            p50Nanoseconds: late(tenthsOfPercent: 500), p99Nanoseconds: late(tenthsOfPercent: 990),
            p999Nanoseconds: late(tenthsOfPercent: 999),
            perSecond: stride(from: 0, to: arrivals.count, by: binsPerSecond).map { start in
                UInt64(arrivals[start..<min(start + binsPerSecond, arrivals.count)].reduce(0, +))
            })
    }
}

/// A comparison that shows whether a simulation predicts a real run.
package struct KeyLoadComparison: Hashable, Sendable {
    /// The max relative difference of the peaks: a tenth of the simulated one. ``peakRequests`` are added to it,
    /// because chance alone makes such differences in small numbers.
    package static let peakShare = 0.1
    /// See ``peakShare``.
    package static let peakRequests = 5.0
    /// The max relative difference of the 99.9th percentiles of lateness: a tenth of the simulated one.
    /// ``latenessNanoseconds``, 100 ms, are added to it.
    package static let latenessShare = 0.1
    /// See ``latenessShare``.
    package static let latenessNanoseconds = 100_000_000.0

    /// The result of the simulation.
    package let simulated: KeyLoadRecord.Figures
    /// The result of the real run.
    package let run: KeyLoadRecord.Figures

    package init(simulated: KeyLoadRecord.Figures, run: KeyLoadRecord.Figures) {
        self.simulated = simulated
        self.run = run
    }

    /// True if the peaks are close enough.
    package var isPeakNear: Bool {
        let distance = abs(Double(simulated.peakPerSecond) - Double(run.peakPerSecond))
        return distance <= Self.peakShare * Double(simulated.peakPerSecond) + Self.peakRequests
    }

    /// True if the 99.9th percentiles of lateness are close enough. Two clients without a key are equally late.
    package var isLatenessNear: Bool {
        switch (simulated.p999Nanoseconds, run.p999Nanoseconds) {
        case (nil, nil): true
        case (let first?, let second?):
            abs(Double(first) - Double(second)) <= Self.latenessShare * Double(first) + Self.latenessNanoseconds
        default: false
        }
    }

    /// True if both are close enough.
    package var agrees: Bool { isPeakNear && isLatenessNear }
}
