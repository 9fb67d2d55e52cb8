import Glibc
internal import RandomAccess

/// Hands out windows in order, with a buffer for each, and writes finished ones in order.
///
/// A thread that finishes the next window to write writes it and all finished ones that follow, while other threads
/// work on later windows. No thread waits for a particular window, only for a free buffer.
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

    /// - Parameters:
    ///   - windows: The windows' numbers.
    ///   - slotCount: The max number of windows in work or waiting to be written.
    ///   - bufferByteCount: The longest window's length in bytes.
    ///   - isOrdered: True to write windows in order, one at a time.
    /// - Throws: `DecryptionError.io` if there is not enough memory for the windows.
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

    /// The number of the window to write next; all windows before it are written.
    var turnNumber: UInt64 { locked { turn } }

    /// Returns the next window to work on and its buffer; `nil` if there is none or a thread has failed.
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

    /// Takes a finished window, and writes it and the finished ones behind it if it is the next to write.
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

    /// Records a failure, and stops all threads.
    func fail(_ error: DecryptionError) {
        locked {
            firstFailure = firstFailure ?? error
            pthread_cond_broadcast(slotFreed)
        }
    }

    /// Returns the next window to write if it is finished and no other thread is writing.
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

    /// Frees the buffer of a written window; called under the lock.
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
