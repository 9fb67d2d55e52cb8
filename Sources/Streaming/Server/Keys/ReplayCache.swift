#if Network
import Synchronization

/// Remembers the numbers of requests for as long as a request could be sent again.
///
/// The server answers a request only if its number is known to be new. A request may be a repetition if it is from
/// before the server's start, or from before a request that was forgotten. This holds however the clocks were set
/// meanwhile.
final class ReplayCache: Sendable {
    /// The judgement of a request.
    enum Verdict: Hashable {
        case fresh
        case seen
        /// The request's time differs from the server's by this number of milliseconds.
        case untimely(UInt64)
        /// The request is this number of milliseconds too old for the server's memory.
        case forgotten(UInt64)
        /// There were too many requests in too short a time.
        case full
    }

    private struct Period {
        var numbers: Set<[UInt8]> = []
        /// The latest time of the period's requests.
        var latest: UInt64 = 0
    }

    private struct State {
        var newer = Period()
        var older = Period()
        /// The start of the newer period.
        var start: Duration
        /// Requests up to this time are not remembered.
        var forgotten: UInt64
    }

    /// The max number of requests in a period; their numbers take some 50 MB. If a number could not be remembered, its
    /// request could be answered twice, so it is not answered at all.
    static let maxNumbers = 500_000

    private let tolerance: UInt64
    private let state: Mutex<State>

    /// - Parameters:
    ///   - tolerance: The max difference between a request's time and the server's, in milliseconds.
    ///   - time: The current time, in milliseconds since 1970-01-01 00:00 UTC.
    ///   - monotonic: The same moment by a monotonic clock.
    init(toleranceMilliseconds tolerance: UInt64, startedAt time: UInt64, _ monotonic: Duration) {
        self.tolerance = tolerance
        // Another server process may have answered requests within this millisecond.
        state = Mutex(State(start: monotonic, forgotten: time))
    }

    /// Judges a request, and remembers its number.
    ///
    /// - Parameters:
    ///   - number: The request's number.
    ///   - askedAt: The request's time, in milliseconds since 1970-01-01 00:00 UTC.
    ///   - now: The server's time, in the same unit.
    ///   - monotonic: The time by a monotonic clock.
    /// - Returns: The judgement; only a fresh request is answered.
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

    /// Starts a new period when the current one is over.
    private func turn(_ state: inout State, _ now: Duration) {
        // A request that is early by the tolerance could be repeated until it is late by the tolerance.
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
