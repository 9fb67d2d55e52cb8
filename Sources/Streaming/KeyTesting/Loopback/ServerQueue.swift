#if Network
import Keys

/// What a key server of limited speed does with requests: as the simulation has it, for single requests.
///
/// Requests are answered in the order of arrival, so many a second; one that would be answered after the clients' time
/// limit is turned away at once.
package struct ServerQueue: Sendable {
    /// What becomes of a request.
    package enum Fate: Hashable, Sendable {
        /// It is answered at this time.
        case answered(Duration)
        /// It is turned away at once.
        case turnedAway
    }

    /// When each request arrived, in order.
    package private(set) var arrivals: [Duration] = []

    private let interval: Duration
    private let roundTrip: Duration
    private let deadline: Duration
    private var nextFree = Duration.zero

    /// Creates a queue in which nobody waits.
    ///
    /// - Parameters:
    ///   - capacityPerSecond: How many requests are answered in a second, at least 1.
    ///   - roundTrip: How long an answer takes if nobody else asks.
    ///   - deadline: How long clients wait.
    package init(capacityPerSecond: Int, roundTrip: Duration, deadline: Duration) {
        self.interval = .seconds(1) / max(capacityPerSecond, 1)
        self.roundTrip = roundTrip
        self.deadline = deadline
    }

    /// Takes in a request.
    ///
    /// - Parameter time: When it arrived; no earlier than the one before.
    /// - Returns: What becomes of it.
    package mutating func arrive(at time: Duration) -> Fate {
        arrivals.append(time)
        let start = max(time, nextFree)
        guard start - time + roundTrip <= deadline else { return .turnedAway }
        nextFree = start + interval
        return .answered(start + roundTrip)
    }
}
#endif
