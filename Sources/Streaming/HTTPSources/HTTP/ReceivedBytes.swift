#if Network
import ByteSources
import Dispatch
import NIOCore
import RandomAccess
import Synchronization

/// The bytes of one range as they arrive. Event loops add them; readers' threads wait for them and take them.
///
/// The bytes are copied out of the network buffers to memory where they stay until a reader wants them. The buffers are
/// then free for the next bytes, still in the processor's cache. The memory holds only the requested bytes.
final class ReceivedBytes: Sendable {
    /// The result of a wait.
    enum Outcome: Hashable, Sendable {
        /// This number of bytes was copied.
        case copied(Int)
        /// The bytes will not arrive any more.
        case missing
        /// Nothing arrived in time.
        case late
    }

    private struct Waiter {
        /// The number of bytes that the thread waits for.
        var count: Int
        var semaphore: DispatchSemaphore
    }

    private struct State {
        /// The memory of the bytes. Bytes that arrived are not written again, and others are not read.
        var memory: RangeMemory?
        /// The number of bytes that arrived.
        var count = 0
        /// The number of bytes that will arrive; `nil` until it is known.
        var expected: Int?
        /// True if bytes may be taken before the last one arrived.
        var isFramed = false
        var isOver = false
        var hasFailed = false
        var waiters: [Waiter] = []

        /// The number of bytes that may be taken.
        var usableCount: Int { isFramed || isOver && !hasFailed ? count : 0 }
    }

    /// The min number of bytes for which a thread that wants more is woken.
    static let wakingByteCount = RangeReading.wakingByteCount

    private let pool: RangeMemoryPool?
    private let state = Mutex(State())

    /// Expects nothing yet.
    ///
    /// - Parameter pool: The pool for ranges that fit into its memory; `nil` for memory of its own.
    init(pool: RangeMemoryPool? = nil) {
        self.pool = pool
    }

    /// The number of bytes that arrived so far.
    var count: Int { state.withLock { $0.count } }

    /// Prepares for bytes.
    ///
    /// - Parameters:
    ///   - count: Their number.
    ///   - isFramed: True if no more can follow, so that each byte may be taken as it arrives.
    func expect(_ count: Int, isFramed: Bool) {
        let pool = pool.flatMap { count <= $0.byteCount ? $0 : nil }
        let memory = pool?.take() ?? RangeMemory(byteCount: count)
        state.withLock { state in
            state.memory = memory
            state.expected = count
            state.isFramed = isFramed
        }
    }

    /// Adds bytes, on one event loop. Returns false if there are more than expected, and then adds none of them.
    func append(_ piece: ByteBuffer) -> Bool {
        let count = piece.readableBytes
        let target: (memory: RangeMemory, position: Int)? = state.withLock { state in
            guard let memory = state.memory, count <= (state.expected ?? 0) - state.count else { return nil }
            return (memory, state.count)
        }
        guard let target else { return count == 0 }
        piece.withUnsafeReadableBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            (target.memory.start + target.position).copyMemory(from: start, byteCount: count)
        }
        let woken = state.withLock { state in
            state.count += count
            return Self.wakeable(&state)
        }
        woken.forEach { $0.semaphore.signal() }
        return true
    }

    /// Ends the bytes: no more will arrive.
    func finish(hasFailed: Bool) {
        let woken = state.withLock { state in
            state.isOver = true
            state.hasFailed = hasFailed
            return Self.wakeable(&state)
        }
        woken.forEach { $0.semaphore.signal() }
    }

    private static func wakeable(_ state: inout State) -> [Waiter] {
        guard !state.waiters.isEmpty else { return [] }
        guard !state.isOver else {
            defer { state.waiters = [] }
            return state.waiters
        }
        let count = state.usableCount
        let woken = state.waiters.filter { $0.count <= count }
        if !woken.isEmpty { state.waiters.removeAll { $0.count <= count } }
        return woken
    }

    /// Waits until there are bytes, and copies them.
    ///
    /// - Parameters:
    ///   - position: The position of the first byte within the range.
    ///   - buffers: The destination.
    ///   - until: The end of the wait.
    /// - Returns: The result.
    func read(at position: Int, into buffers: FetchBuffers, until: NIODeadline) -> Outcome {
        enum Step {
            case copy(RangeMemory, upTo: Int)
            case wait(DispatchSemaphore)
            case stop
        }
        while true {
            let step: Step = state.withLock { state in
                let end = min(position + buffers.byteCount, state.expected ?? .max)
                let wanted = min(end, position + Self.wakingByteCount)
                if let memory = state.memory, state.usableCount > position,
                    state.usableCount >= wanted || state.isOver
                {
                    return .copy(memory, upTo: state.usableCount)
                }
                guard !state.isOver else { return .stop }
                let semaphore = DispatchSemaphore(value: 0)
                state.waiters.append(Waiter(count: max(wanted, position + 1), semaphore: semaphore))
                return .wait(semaphore)
            }
            switch step {
            case .copy(let memory, let end):
                return .copied(Self.copy(memory, from: position, upTo: end, to: buffers))
            case .stop: return .missing
            case .wait(let semaphore):
                let left = max(until - NIODeadline.now(), .zero)
                guard semaphore.wait(timeout: .now() + .nanoseconds(Int(left.nanoseconds))) == .success else {
                    return copyAll(at: position, into: buffers) ?? .late
                }
            }
        }
    }

    /// Copies bytes if all wanted ones arrived, even if the end of the answer is still missing.
    private func copyAll(at position: Int, into buffers: FetchBuffers) -> Outcome? {
        let found: (memory: RangeMemory, end: Int)? = state.withLock { state in
            guard let memory = state.memory, let expected = state.expected else { return nil }
            let end = min(position + buffers.byteCount, expected)
            guard end > position, state.count >= end, state.isFramed || state.count == expected else { return nil }
            return (memory, end)
        }
        return found.map { .copied(Self.copy($0.memory, from: position, upTo: $0.end, to: buffers)) }
    }

    /// Waits for the end of the bytes, and returns whether it came in time.
    func waitForEnd(until: NIODeadline) -> Bool {
        let semaphore: DispatchSemaphore? = state.withLock { state in
            guard !state.isOver else { return nil }
            let semaphore = DispatchSemaphore(value: 0)
            state.waiters.append(Waiter(count: .max, semaphore: semaphore))
            return semaphore
        }
        guard let semaphore else { return true }
        let left = max(until - NIODeadline.now(), .zero)
        return semaphore.wait(timeout: .now() + .nanoseconds(Int(left.nanoseconds))) == .success
    }

    /// All bytes that arrived.
    var bytes: [UInt8] {
        let (memory, count) = state.withLock { ($0.memory, $0.count) }
        guard let memory else { return [] }
        return [UInt8](unsafeUninitializedCapacity: count) { array, filled in
            filled = Self.copy(memory, from: 0, upTo: count, to: FetchBuffers(UnsafeMutableRawBufferPointer(array)))
        }
    }

    private static func copy(
        _ memory: RangeMemory, from position: Int, upTo end: Int, to buffers: FetchBuffers
    ) -> Int {
        let count = min(buffers.byteCount, end - position)
        buffers.prefix(count).forEach { offset, buffer in
            let bytes = UnsafeRawBufferPointer(start: memory.start + position + offset, count: buffer.count)
            buffer.copyMemory(from: bytes)
        }
        return count
    }
}

/// Memory for the bytes of one range.
final class RangeMemory: @unchecked Sendable {
    /// The first byte. The owner decides who writes and who reads each byte.
    let start: UnsafeMutableRawPointer

    private let pool: RangeMemoryPool?

    /// Allocates memory of its own.
    init(byteCount: Int) {
        start = .allocate(byteCount: max(1, byteCount), alignment: 64)
        pool = nil
    }

    fileprivate init(_ start: UnsafeMutableRawPointer, of pool: RangeMemoryPool) {
        self.start = start
        self.pool = pool
    }

    deinit {
        if let pool { pool.takeBack(start) } else { start.deallocate() }
    }
}

/// Memory of finished ranges, for the next ones. Fresh memory from the system costs a page fault for every 4 KiB, which
/// takes longer than decrypting them.
final class RangeMemoryPool: Sendable {
    private struct State: @unchecked Sendable {
        var free: [UnsafeMutableRawPointer] = []
    }

    /// The length of each piece in bytes.
    let byteCount: Int

    private let maxCount: Int
    private let state = Mutex(State())

    /// Prepares a pool without allocating memory.
    ///
    /// - Parameters:
    ///   - byteCount: The length of the longest range in bytes.
    ///   - maxCount: The max number of idle pieces.
    init(byteCount: Int, maxCount: Int) {
        self.byteCount = byteCount
        self.maxCount = maxCount
    }

    deinit {
        state.withLock { $0.free.forEach { $0.deallocate() } }
    }

    /// Returns memory for one range.
    func take() -> RangeMemory {
        let known = state.withLock { State(free: $0.free.popLast().map { [$0] } ?? []) }
        return RangeMemory(known.free.first ?? .allocate(byteCount: byteCount, alignment: 4096), of: self)
    }

    fileprivate func takeBack(_ start: UnsafeMutableRawPointer) {
        nonisolated(unsafe) let start = start
        let isKept = state.withLock { state in
            guard state.free.count < maxCount else { return false }
            state.free.append(start)
            return true
        }
        if !isKept { start.deallocate() }
    }
}
#endif
