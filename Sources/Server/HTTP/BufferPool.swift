import NIOCore
import Synchronization

/// Buffers that are used again, and a window for each answer that keeps all of them within bounds.
final class BufferPool: Sendable {
    private struct State {
        var answerCount = 0
        var free: [ByteBuffer] = []
    }

    private let limits: ServerLimits
    private let state = Mutex(State())

    /// The most buffers that are kept: two for each of a few answers.
    private static let keptCount = 16

    init(limits: ServerLimits) {
        self.limits = limits
    }

    /// Counts an answer in.
    func enter() { state.withLock { $0.answerCount += 1 } }

    /// Counts an answer out.
    func leave() { state.withLock { $0.answerCount -= 1 } }

    /// The window now, in bytes: a power of two, so that windows end where those of another length do.
    ///
    /// An answer has two buffers: the one that is being sent, and the one that is being filled.
    var windowByteCount: Int {
        let share = state.withLock { limits.bufferByteCount / (2 * max(1, $0.answerCount)) }
        let most = max(share, ServerLimits.leastWindowByteCount)
        guard most < limits.windowByteCount else { return limits.windowByteCount }
        return 1 << (Int.bitWidth - 1 - most.leadingZeroBitCount)
    }

    /// An empty buffer with room for `byteCount` bytes: one that nobody else holds any longer, or a new one.
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
        guard buffer.capacity >= ServerLimits.leastWindowByteCount else { return }
        state.withLock { state in
            state.free.append(buffer)
            if state.free.count > Self.keptCount { state.free.removeFirst() }
        }
    }
}
