#if Network
import NIOCore
import Synchronization

/// Buffers that are used again, and windows that shrink before all of them together take too much; what readers keep
/// counts, too.
final class BufferPool: Sendable {
    private struct State {
        var usedByteCount = 0
        /// How many of these bytes are readers'.
        var readerByteCount: UInt64 = 0
        var free: [ByteBuffer] = []
    }

    private let limits: ServerLimits
    private let state = Mutex(State())

    /// The most buffers that are kept.
    private static let keptCount = 16

    init(limits: ServerLimits) {
        self.limits = limits
    }

    /// Takes a window for an answer: a power of two or the longest, so that windows end where those of another length do.
    ///
    /// What is free is never given away at once: whoever comes later finds windows of a half, a quarter and so on.
    ///
    /// - Returns: The window's length in bytes, which counts as used until it is left.
    func enter() -> Int {
        state.withLock { state in
            let maximum = max((limits.bufferByteCount - state.usedByteCount) / 8, ServerLimits.minWindowByteCount)
            let window =
                maximum < limits.windowByteCount
                ? 1 << (Int.bitWidth - 1 - maximum.leadingZeroBitCount) : limits.windowByteCount
            state.usedByteCount += window
            return window
        }
    }

    /// Gives a window back.
    func leave(_ window: Int) { state.withLock { $0.usedByteCount -= window } }

    /// Asks for the memory of a reader that stays between windows. All of them together get a half of what there is.
    ///
    /// - Returns: Whether it may stay; its bytes then count as used until they are left.
    func reserve(_ byteCount: UInt64) -> Bool {
        state.withLock { state in
            guard byteCount <= UInt64(limits.bufferByteCount / 2) - state.readerByteCount else { return false }
            state.readerByteCount += byteCount
            state.usedByteCount += Int(byteCount)
            return true
        }
    }

    /// Gives back what a reader had.
    func unreserve(_ byteCount: UInt64) {
        state.withLock { state in
            state.readerByteCount -= byteCount
            state.usedByteCount -= Int(byteCount)
        }
    }

    /// An empty buffer with space for `byteCount` bytes: one that nobody else holds any longer, or a new one.
    func take(_ byteCount: Int) -> ByteBuffer {
        // Sent bytes are still held by the channel for a while after they were given back.
        let kept = state.withLock { state -> ByteBuffer? in
            for index in state.free.indices.reversed() {
                let isFree = state.free[index].modifyIfUniquelyOwned { buffer -> Bool in
                    guard buffer.capacity >= byteCount else { return false }
                    buffer.clear()
                    return true
                }
                if isFree == true { return state.free.remove(at: index) }
            }
            return nil
        }
        return kept ?? ByteBufferAllocator().buffer(capacity: byteCount)
    }

    /// Gives a buffer back, which may still be being sent.
    func give(_ buffer: ByteBuffer) {
        // Small ones are quickly made, and would be in the way.
        guard buffer.capacity >= ServerLimits.minWindowByteCount else { return }
        state.withLock { state in
            state.free.append(buffer)
            if state.free.count > Self.keptCount { state.free.removeFirst() }
        }
    }
}
#endif
