import Glibc
internal import RandomAccess

/// Hands out windows in order, with a buffer for each, and writes finished ones in order.
///
/// The buffer that was freed last is handed out first, as it is most likely still in the cache.
/// A thread that finishes the next window to write writes it and all finished ones that follow, while other threads
/// work on later windows. No thread waits for a particular window, only for a free buffer.
final class WindowRing: @unchecked Sendable {
    /// A buffer, and what was written into it.
    private typealias Finished = (buffer: UnsafeMutableRawBufferPointer, bytes: UnsafeRawBufferPointer)

    // All variables below are used under the lock only; a buffer belongs to the thread that holds its window.
    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    private let bufferFreed: UnsafeMutablePointer<pthread_cond_t>
    private let buffers: [UnsafeMutableRawBufferPointer]
    private var freeBuffers: [UnsafeMutableRawBufferPointer]
    /// The finished windows that wait for their turn, each at its number modulo the number of buffers. As many windows
    /// as there are buffers can be on the way.
    private var finished: [Finished?]
    private var next: UInt64
    private var turn: UInt64
    private var isWriting = false
    private var waitingCount = 0
    private var firstFailure: DecryptionError?
    private let end: UInt64
    private let isOrdered: Bool

    /// - Parameters:
    ///   - windows: The windows' numbers.
    ///   - bufferCount: The max number of windows in work or waiting to be written.
    ///   - bufferByteCount: The longest window's length in bytes.
    ///   - isOrdered: True to write windows in order, one at a time.
    /// - Throws: `DecryptionError.io` if there is not enough memory for the windows.
    init(windows: Range<UInt64>, bufferCount: Int, bufferByteCount: Int, isOrdered: Bool) throws(DecryptionError) {
        self.buffers = try UnsafeMutableRawBufferPointer.tryAllocate(
            byteCounts: Array(repeating: bufferByteCount, count: bufferCount))
        self.freeBuffers = buffers.reversed()
        self.next = windows.lowerBound
        self.turn = windows.lowerBound
        self.end = windows.upperBound
        self.isOrdered = isOrdered
        self.finished = Array(repeating: nil, count: bufferCount)
        self.lock = .allocate(capacity: 1)
        self.bufferFreed = .allocate(capacity: 1)
        pthread_mutex_init(lock, nil)
        pthread_cond_init(bufferFreed, nil)
    }

    deinit {
        for buffer in buffers {
            eraseBytes(buffer)
            buffer.deallocate()
        }
        pthread_cond_destroy(bufferFreed)
        pthread_mutex_destroy(lock)
        bufferFreed.deallocate()
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
                if let buffer = freeBuffers.popLast() {
                    defer { next += 1 }
                    return (next, buffer)
                }
                waitingCount += 1
                pthread_cond_wait(bufferFreed, lock)
                waitingCount -= 1
            }
        }
    }

    /// Takes a finished window, and writes it and the finished ones behind it if it is the next to write.
    ///
    /// - Parameters:
    ///   - window: A window that was claimed.
    ///   - buffer: The buffer that was handed out with it.
    ///   - bytes: The part of it to write.
    ///   - write: Writes one window; called without the lock, by one thread at a time if windows are ordered.
    func finish(
        _ window: UInt64, in buffer: UnsafeMutableRawBufferPointer, _ bytes: UnsafeRawBufferPointer,
        write: (UInt64, UnsafeRawBufferPointer) throws(DecryptionError) -> Void
    ) {
        guard isOrdered else {
            attempt(window, bytes, write)
            return locked { free(buffer) }
        }
        locked { finished[place(window)] = (buffer, bytes) }
        while let (number, done) = takeTurn() {
            attempt(number, done.bytes, write)
            locked {
                isWriting = false
                free(done.buffer)
            }
        }
    }

    /// Records a failure, and stops all threads.
    func fail(_ error: DecryptionError) {
        locked {
            firstFailure = firstFailure ?? error
            pthread_cond_broadcast(bufferFreed)
        }
    }

    /// Returns the next window to write if it is finished and no other thread is writing.
    private func takeTurn() -> (UInt64, Finished)? {
        locked {
            guard !isWriting, firstFailure == nil, turn < end, let done = finished[place(turn)] else { return nil }
            finished[place(turn)] = nil
            isWriting = true
            return (turn, done)
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
    private func free(_ buffer: UnsafeMutableRawBufferPointer) {
        freeBuffers.append(buffer)
        turn += 1
        if waitingCount > 0 { pthread_cond_broadcast(bufferFreed) }
    }

    private func place(_ window: UInt64) -> Int { Int(window % UInt64(finished.count)) }

    private func locked<Value>(_ body: () -> Value) -> Value {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        return body()
    }
}
