#if Network
import Synchronization

/// Remembers the numbers of requests for as long as they could be sent again.
///
/// A request is answered only if its number is known to be new: what was asked before this server started, or before
/// something that is forgotten, could be a repetition, whatever the clocks were set to meanwhile.
final class ReplayCache: Sendable {
    /// What is said about a request.
    enum Verdict: Hashable {
        case fresh
        case seen
        /// Its time is not this server's, and by how much in milliseconds.
        case untimely(UInt64)
        /// It is as old as what is not remembered, and by how much in milliseconds.
        case forgotten(UInt64)
        /// There have been too many in too short a time.
        case full
    }

    private struct Period {
        var numbers: Set<[UInt8]> = []
        /// The latest time that one of the requests has.
        var latest: UInt64 = 0
    }

    private struct State {
        var newer = Period()
        var older = Period()
        /// When the newer period began.
        var start: Duration
        /// Requests up to this time are not remembered.
        var forgotten: UInt64
    }

    /// How many numbers a period may have, some 50 MB of them. Where one could not be remembered, its request could
    /// be answered twice, and so is not answered at all.
    static let maxNumbers = 500_000

    private let tolerance: UInt64
    private let state: Mutex<State>

    /// Creates an empty memory.
    ///
    /// - Parameters:
    ///   - tolerance: How far a request's time may be from this server's, in milliseconds.
    ///   - time: The time now, in milliseconds since 1970-01-01 00:00 UTC.
    ///   - monotonic: The same by a monotonic clock.
    init(toleranceMilliseconds tolerance: UInt64, startedAt time: UInt64, _ monotonic: Duration) {
        self.tolerance = tolerance
        // What another server answered within this millisecond is not known.
        state = Mutex(State(start: monotonic, forgotten: time))
    }

    /// Looks at a request and remembers it.
    ///
    /// - Parameters:
    ///   - number: Its number.
    ///   - askedAt: Its time, in milliseconds since 1970-01-01 00:00 UTC.
    ///   - now: The server's.
    ///   - monotonic: The time by a monotonic clock.
    /// - Returns: Whether it is to be answered.
    func judge(_ number: [UInt8], askedAt: UInt64, now: UInt64, _ monotonic: Duration) -> Verdict {
        let difference = askedAt > now ? askedAt - now : now - askedAt
        guard difference <= tolerance else { return .untimely(difference) }
        return state.withLock { state in
            turn(&state, monotonic)
            guard !state.newer.numbers.contains(number), !state.older.numbers.contains(number) else { return .seen }
            guard askedAt > state.forgotten else { return .forgotten(state.forgotten - askedAt) }
            guard state.newer.numbers.count < Self.maxNumbers else { return .full }
            state.newer.numbers.insert(number)
            state.newer.latest = max(state.newer.latest, askedAt)
            return .fresh
        }
    }

    /// Begins another period when the one before is over.
    private func turn(_ state: inout State, _ now: Duration) {
        // What comes early by the tolerance could come again until it is late by the tolerance.
        let period = Duration.milliseconds(2 * Int64(clamping: tolerance) + 1)
        let elapsed = now - state.start
        guard elapsed >= period else { return }
        state.forgotten = max(state.forgotten, state.older.latest)
        state.older = state.newer
        state.newer = Period()
        state.start = now
        guard elapsed >= period * 2 else { return }
        state.forgotten = max(state.forgotten, state.older.latest)
        state.older = Period()
    }
}
#endif
