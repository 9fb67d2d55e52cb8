import Glibc
internal import RandomAccess

/// Hands out windows in order, with a buffer each, and has finished ones written in order.
///
/// The thread that finishes the window whose turn it is writes it and all finished ones that follow, while the others go on with
/// later windows: no thread waits for a single window, only for a free buffer.
final class WindowRing: @unchecked Sendable {
    private enum SlotState {
        case free
        case working
        case ready(UnsafeRawBufferPointer)
    }

    // All variables below are used under the lock only; a slot's buffer belongs to the thread that holds its window.
    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    private let slotFreed: UnsafeMutablePointer<pthread_cond_t>
    private let buffers: [UnsafeMutableRawBufferPointer]
    private var states: [SlotState]
    private var next: UInt64
    private var turn: UInt64
    private var isWriting = false
    private var waitingCount = 0
    private var firstFailure: DecryptionError?
    private let end: UInt64
    private let isOrdered: Bool

    /// Prepares a ring.
    ///
    /// - Parameters:
    ///   - windows: The windows' numbers.
    ///   - slotCount: How many windows are worked on or wait to be written at most.
    ///   - bufferByteCount: The longest window's length in bytes.
    ///   - isOrdered: Whether windows are written in order, one at a time.
    /// - Throws: `DecryptionError.io` if there is no memory for the windows.
    init(windows: Range<UInt64>, slotCount: Int, bufferByteCount: Int, isOrdered: Bool) throws(DecryptionError) {
        self.buffers = try UnsafeMutableRawBufferPointer.tryAllocate(
            byteCounts: Array(repeating: bufferByteCount, count: slotCount))
        self.next = windows.lowerBound
        self.turn = windows.lowerBound
        self.end = windows.upperBound
        self.isOrdered = isOrdered
        self.states = Array(repeating: .free, count: slotCount)
        self.lock = .allocate(capacity: 1)
        self.slotFreed = .allocate(capacity: 1)
        pthread_mutex_init(lock, nil)
        pthread_cond_init(slotFreed, nil)
    }

    deinit {
        for buffer in buffers {
            eraseBytes(buffer)
            buffer.deallocate()
        }
        pthread_cond_destroy(slotFreed)
        pthread_mutex_destroy(lock)
        slotFreed.deallocate()
        lock.deallocate()
    }

    /// The first failure of any thread.
    var failure: DecryptionError? { locked { firstFailure } }

    /// How many windows were written: all before the turn.
    var turnNumber: UInt64 { locked { turn } }

    /// The next window to work on and its buffer, or `nil` if there is none or something failed.
    func claim() -> (window: UInt64, buffer: UnsafeMutableRawBufferPointer)? {
        locked {
            while true {
                guard firstFailure == nil, next < end else { return nil }
                let slot = slot(next)
                if case .free = states[slot] {
                    states[slot] = .working
                    defer { next += 1 }
                    return (next, buffers[slot])
                }
                waitingCount += 1
                pthread_cond_wait(slotFreed, lock)
                waitingCount -= 1
            }
        }
    }

    /// Takes a finished window, and writes it and those behind it if it is their turn.
    ///
    /// - Parameters:
    ///   - window: A window that was claimed.
    ///   - bytes: Its plaintext, in its buffer.
    ///   - write: Writes one window; called without the lock, by one thread at a time if windows are ordered.
    func finish(
        _ window: UInt64, _ bytes: UnsafeRawBufferPointer,
        write: (UInt64, UnsafeRawBufferPointer) throws(DecryptionError) -> Void
    ) {
        guard isOrdered else {
            attempt(window, bytes, write)
            return locked { free(window) }
        }
        locked { states[slot(window)] = .ready(bytes) }
        while let (number, bytes) = takeTurn() {
            attempt(number, bytes, write)
            locked {
                isWriting = false
                free(number)
            }
        }
    }

    /// Notes a failure, and lets everybody stop.
    func fail(_ error: DecryptionError) {
        locked {
            firstFailure = firstFailure ?? error
            pthread_cond_broadcast(slotFreed)
        }
    }

    /// The window whose turn it is, if it is finished and no other thread writes.
    private func takeTurn() -> (UInt64, UnsafeRawBufferPointer)? {
        locked {
            guard !isWriting, firstFailure == nil, turn < end, case .ready(let bytes) = states[slot(turn)] else {
                return nil
            }
            isWriting = true
            return (turn, bytes)
        }
    }

    private func attempt(
        _ window: UInt64, _ bytes: UnsafeRawBufferPointer,
        _ write: (UInt64, UnsafeRawBufferPointer) throws(DecryptionError) -> Void
    ) {
        do throws(DecryptionError) {
            try write(window, bytes)
        } catch {
            fail(error)
        }
    }

    /// Under the lock: a window was written.
    private func free(_ window: UInt64) {
        states[slot(window)] = .free
        turn += 1
        if waitingCount > 0 { pthread_cond_broadcast(slotFreed) }
    }

    private func slot(_ window: UInt64) -> Int { Int(window % UInt64(states.count)) }

    private func locked<Value>(_ body: () -> Value) -> Value {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        return body()
    }
}
