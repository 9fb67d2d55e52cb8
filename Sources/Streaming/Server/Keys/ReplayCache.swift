#if Network
import Synchronization

/// Remembers the numbers of requests for as long as they could be sent again.
final class ReplayCache: Sendable {
    /// What is said about a request.
    enum Verdict: Hashable {
        case fresh
        case seen
        /// Its time is not this server's, and by how much in milliseconds.
        case untimely(UInt64)
        /// There have been too many in too short a time.
        case full
    }

    private struct State {
        /// Numbers of the current period and of the one before.
        var newer: Set<[UInt8]> = []
        var older: Set<[UInt8]> = []
        var start: UInt64 = 0
    }

    /// The most numbers of a period, some 50 MB of them. Where one could not be remembered, its request could be answered
    /// twice, and so is not answered at all.
    static let maxNumbers = 500_000

    private let tolerance: UInt64
    private let state = Mutex(State())

    /// Creates an empty memory.
    ///
    /// - Parameter tolerance: How far a request's time may be from this server's, in milliseconds.
    init(toleranceMilliseconds tolerance: UInt64) {
        self.tolerance = tolerance
    }

    /// Looks at a request and remembers it.
    ///
    /// - Parameters:
    ///   - number: Its number.
    ///   - askedAt: Its time, in milliseconds since 1970-01-01 00:00 UTC.
    ///   - now: The server's.
    /// - Returns: Whether it is to be answered.
    func judge(_ number: [UInt8], askedAt: UInt64, now: UInt64) -> Verdict {
        let difference = askedAt > now ? askedAt - now : now - askedAt
        guard difference <= tolerance else { return .untimely(difference) }
        return state.withLock { state in
            // What comes early by the tolerance could come again until it is late by the tolerance.
            let period = 2 * tolerance + 1
            let elapsed = now - min(state.start, now)
            if elapsed >= period {
                state.older = elapsed < 2 * period ? state.newer : []
                state.newer = []
                state.start = now
            }
            guard !state.newer.contains(number), !state.older.contains(number) else { return .seen }
            guard state.newer.count < Self.maxNumbers else { return .full }
            state.newer.insert(number)
            return .fresh
        }
    }
}
#endif
