import Keys
import Synchronization

/// A clock that stands still until a test moves it.
final class ManualClock: KeyClock {
    private struct State {
        var time = Duration.zero
        var shift = Duration.zero
        var lastSleeper = 0
        var sleepers: [Int: (until: Duration, continuation: CheckedContinuation<Void, any Error>)] = [:]
        var isCancelled: Set<Int> = []
    }

    static let start = Duration.seconds(1_700_000_000)

    private let state = Mutex(State())

    func now() -> ClockSample {
        state.withLock { ClockSample(monotonic: $0.time, wall: Self.start + $0.time + $0.shift) }
    }

    func sleep(until monotonic: Duration) async throws {
        let sleeper = state.withLock { state in
            state.lastSleeper += 1
            return state.lastSleeper
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let isOver = state.withLock { state -> Bool? in
                    if state.isCancelled.remove(sleeper) != nil { return nil }
                    if state.time >= monotonic { return true }
                    state.sleepers[sleeper] = (monotonic, continuation)
                    return false
                }
                if isOver == nil { continuation.resume(throwing: CancellationError()) }
                if isOver == true { continuation.resume() }
            }
        } onCancel: {
            let continuation = state.withLock { state -> CheckedContinuation<Void, any Error>? in
                if let sleeping = state.sleepers.removeValue(forKey: sleeper) { return sleeping.continuation }
                state.isCancelled.insert(sleeper)
                return nil
            }
            continuation?.resume(throwing: CancellationError())
        }
    }

    /// Moves the clock on, and wakes who waited for it.
    func advance(by time: Duration) {
        let woken = state.withLock { state in
            state.time += time
            let due = state.sleepers.filter { $0.value.until <= state.time }
            for sleeper in due.keys { state.sleepers[sleeper] = nil }
            return due.values.map { $0.continuation }
        }
        for continuation in woken { continuation.resume() }
    }

    /// Sets the clock on the wall.
    func set(by time: Duration) {
        state.withLock { $0.shift += time }
    }
}
