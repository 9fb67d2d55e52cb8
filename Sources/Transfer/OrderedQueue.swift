internal import RandomAccess

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Hands out windows in order, and lets threads wait until it is their window's turn to be written.
final class OrderedQueue: @unchecked Sendable {
    // All members below are used under the lock only.
    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    private let turnChanged: UnsafeMutablePointer<pthread_cond_t>
    private var next: UInt64
    private let end: UInt64
    private var turn: UInt64
    private var finished: UInt64 = 0
    private var firstFailure: DecryptionError?

    init(windows: Range<UInt64>) {
        self.next = windows.lowerBound
        self.turn = windows.lowerBound
        self.end = windows.upperBound
        self.lock = .allocate(capacity: 1)
        self.turnChanged = .allocate(capacity: 1)
        pthread_mutex_init(lock, nil)
        pthread_cond_init(turnChanged, nil)
    }

    deinit {
        pthread_cond_destroy(turnChanged)
        pthread_mutex_destroy(lock)
        turnChanged.deallocate()
        lock.deallocate()
    }

    /// The first failure of any thread.
    var failure: DecryptionError? { locked { firstFailure } }

    /// How many windows were written.
    var finishedCount: UInt64 { locked { finished } }

    /// The next window to work on, or `nil` if there is none or something failed.
    func claim() -> UInt64? {
        locked {
            guard firstFailure == nil, next < end else { return nil }
            defer { next += 1 }
            return next
        }
    }

    /// Waits until all windows before this one were written.
    ///
    /// - Returns: Whether to go on; `false` if something failed meanwhile.
    func waitForTurn(of window: UInt64) -> Bool {
        locked {
            while turn != window, firstFailure == nil { pthread_cond_wait(turnChanged, lock) }
            return firstFailure == nil
        }
    }

    /// Notes that a window was written.
    func finish(_ window: UInt64) {
        locked {
            finished += 1
            turn = window + 1
            pthread_cond_broadcast(turnChanged)
        }
    }

    /// Notes a failure, and lets everybody stop.
    func fail(_ error: DecryptionError) {
        locked {
            firstFailure = firstFailure ?? error
            pthread_cond_broadcast(turnChanged)
        }
    }

    private func locked<Value>(_ body: () -> Value) -> Value {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        return body()
    }
}
