package import Keys
import Statistics

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
    /// How long an answer takes if nobody else asks.
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

/// Why a plan cannot be simulated.
package struct KeyLoadError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The value, and what was expected.
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}
