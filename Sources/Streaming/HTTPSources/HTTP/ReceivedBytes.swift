#if Network
import ByteSources
import Dispatch
import NIOCore
import RandomAccess
import Synchronization

/// The bytes of one range as they come: event loops add them, threads that read wait for them and take them.
///
/// They are copied out of the buffers that they come in, to where they stay until they are wanted: those buffers are then
/// free for what comes next, still in the processor's cache, and what is held is what was asked for and no more.
final class ReceivedBytes: Sendable {
    /// What a thread that waits gets.
    enum Outcome: Hashable, Sendable {
        /// So many bytes were copied.
        case copied(Int)
        /// The bytes will not come any more.
        case missing
        /// Nothing came in time.
        case late
    }

    private struct Waiter {
        /// How many bytes must be there.
        var count: Int
        var semaphore: DispatchSemaphore
    }

    private struct State {
        /// Where the bytes are: those that came are no longer written, the others are not read.
        var memory: RangeMemory?
        /// How many bytes came.
        var count = 0
        /// How many will come; `nil` until that is known.
        var expected: Int?
        /// Whether bytes may be taken before the last one came.
        var isFramed = false
        var isOver = false
        var hasFailed = false
        var waiters: [Waiter] = []

        /// The bytes that may be taken.
        var usableCount: Int { isFramed || isOver && !hasFailed ? count : 0 }
    }

    /// How many bytes are worth waking a thread for that wants more.
    static let wakingByteCount = RangeReading.wakingByteCount

    private let pool: RangeMemoryPool?
    private let state = Mutex(State())

    /// Expects nothing yet.
    ///
    /// - Parameter pool: Where memory comes from that is long enough; `nil` for memory of its own.
    init(pool: RangeMemoryPool? = nil) {
        self.pool = pool
    }

    /// How many bytes came so far.
    var count: Int { state.withLock { $0.count } }

    /// Expects bytes.
    ///
    /// - Parameters:
    ///   - count: How many.
    ///   - isFramed: Whether no more can come, so that each may be taken as it comes.
    func expect(_ count: Int, isFramed: Bool) {
        let pool = pool.flatMap { count <= $0.byteCount ? $0 : nil }
        let memory = pool?.take() ?? RangeMemory(byteCount: count)
        state.withLock { state in
            state.memory = memory
            state.expected = count
            state.isFramed = isFramed
        }
    }

    /// Adds bytes, on one event loop; returns false if there are more than were expected, and then takes none of them.
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

    /// No more bytes will come.
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
    ///   - position: Where they start, within the range.
    ///   - buffers: Where they go.
    ///   - until: When waiting ends.
    /// - Returns: What came of it.
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

    /// Copies bytes if all that are wanted came, whatever is still to come that may not: the answer's own end.
    private func copyAll(at position: Int, into buffers: FetchBuffers) -> Outcome? {
        let found: (memory: RangeMemory, end: Int)? = state.withLock { state in
            guard let memory = state.memory, let expected = state.expected else { return nil }
            let end = min(position + buffers.byteCount, expected)
            guard end > position, state.count >= end, state.isFramed || state.count == expected else { return nil }
            return (memory, end)
        }
        return found.map { .copied(Self.copy($0.memory, from: position, upTo: $0.end, to: buffers)) }
    }

    /// Waits for the last byte; returns whether it came in time.
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

    /// All bytes that came.
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
    /// Its length in bytes.
    let byteCount: Int
    /// Where it starts. Who writes and who reads which of its bytes is for the owner to say.
    let start: UnsafeMutableRawPointer

    private let pool: RangeMemoryPool?

    /// Allocates memory of its own.
    init(byteCount: Int) {
        self.byteCount = byteCount
        start = .allocate(byteCount: max(1, byteCount), alignment: 64)
        pool = nil
    }

    fileprivate init(_ start: UnsafeMutableRawPointer, of pool: RangeMemoryPool) {
        self.start = start
        self.pool = pool
        byteCount = pool.byteCount
    }

    deinit {
        if let pool { pool.takeBack(start) } else { start.deallocate() }
    }
}

/// Memory of ranges that are over, for those that come: what comes fresh from the system costs a page fault for every
/// 4 KiB, which takes longer than to decrypt them.
final class RangeMemoryPool: Sendable {
    private struct State: @unchecked Sendable {
        var free: [UnsafeMutableRawPointer] = []
    }

    /// The length in bytes of each.
    let byteCount: Int

    private let maxCount: Int
    private let state = Mutex(State())

    /// Prepares a pool; nothing is allocated yet.
    ///
    /// - Parameters:
    ///   - byteCount: The longest range's length in bytes.
    ///   - maxCount: How many pieces are kept at most.
    init(byteCount: Int, maxCount: Int) {
        self.byteCount = byteCount
        self.maxCount = maxCount
    }

    deinit {
        state.withLock { $0.free.forEach { $0.deallocate() } }
    }

    /// Memory for one range.
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
