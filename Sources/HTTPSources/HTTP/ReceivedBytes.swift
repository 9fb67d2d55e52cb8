import Dispatch
import NIOCore
import RandomAccess
import Synchronization

/// The bytes of one range as they come: event loops add them, threads that read wait for them and take them.
///
/// They stay in the buffers that they came in, and are copied once, to where they are wanted.
final class ReceivedBytes: Sendable {
    /// What a thread that waits gets.
    enum Outcome: Hashable, Sendable {
        /// So many bytes were copied.
        case copied(Int)
        /// The bytes will not come any more, or were there and are gone.
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
        var pieces: [ByteBuffer] = []
        /// Where the first piece that is still there starts.
        var start = 0
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
    private static let wakingByteCount = 256 << 10
    /// How far back a read may start from where the last one did.
    static let slackByteCount = 4096

    private let state = Mutex(State())

    /// How many bytes came so far.
    var count: Int { state.withLock { $0.count } }

    /// Expects bytes.
    ///
    /// - Parameters:
    ///   - count: How many.
    ///   - isFramed: Whether no more can come, so that each may be taken as it comes.
    func expect(_ count: Int, isFramed: Bool) {
        state.withLock { state in
            state.expected = count
            state.isFramed = isFramed
        }
    }

    /// Adds bytes; returns false if there are more than were expected, and then takes none of them.
    func append(_ piece: ByteBuffer) -> Bool {
        let woken: [Waiter]? = state.withLock { state in
            guard piece.readableBytes <= (state.expected ?? 0) - state.count else { return nil }
            state.pieces.append(piece)
            state.count += piece.readableBytes
            return Self.wakeable(&state)
        }
        woken?.forEach { $0.semaphore.signal() }
        return woken != nil
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
    ///   - buffers: Where they go; bytes before ``slackByteCount`` before `position` are forgotten.
    ///   - until: When waiting ends.
    /// - Returns: What came of it.
    func read(at position: Int, into buffers: FetchBuffers, until: NIODeadline) -> Outcome {
        enum Step {
            case copy([ByteBuffer], start: Int)
            case wait(DispatchSemaphore)
            case stop
        }
        while true {
            let step: Step = state.withLock { state in
                guard position >= state.start else { return .stop }
                let end = min(position + buffers.byteCount, state.expected ?? .max)
                let wanted = min(end, position + Self.wakingByteCount)
                if state.usableCount > position, state.usableCount >= wanted || state.isOver {
                    Self.forget(before: position - Self.slackByteCount, &state)
                    return .copy(state.pieces, start: state.start)
                }
                guard !state.isOver else { return .stop }
                let semaphore = DispatchSemaphore(value: 0)
                state.waiters.append(Waiter(count: max(wanted, position + 1), semaphore: semaphore))
                return .wait(semaphore)
            }
            switch step {
            case .copy(let pieces, let start):
                return .copied(Self.copy(pieces, start: start, from: position, to: buffers))
            case .stop: return .missing
            case .wait(let semaphore):
                let left = max(until - NIODeadline.now(), .zero)
                guard semaphore.wait(timeout: .now() + .nanoseconds(Int(left.nanoseconds))) == .success else {
                    return .late
                }
            }
        }
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

    /// All bytes that came, of a range that nothing was read from.
    var bytes: [UInt8] {
        let (pieces, count) = state.withLock { ($0.pieces, $0.count) }
        return [UInt8](unsafeUninitializedCapacity: count) { room, filled in
            let target = FetchBuffers(UnsafeMutableRawBufferPointer(room))
            filled = Self.copy(pieces, start: 0, from: 0, to: target)
        }
    }

    private static func forget(before position: Int, _ state: inout State) {
        var dropped = 0
        while dropped < state.pieces.count, state.start + state.pieces[dropped].readableBytes <= position {
            state.start += state.pieces[dropped].readableBytes
            dropped += 1
        }
        if dropped > 0 { state.pieces.removeFirst(dropped) }
    }

    private static func copy(
        _ pieces: [ByteBuffer], start: Int, from position: Int, to buffers: FetchBuffers
    ) -> Int {
        var rest = buffers
        var (place, copied) = (start, 0)
        for piece in pieces where rest.byteCount > 0 {
            let skipped = max(0, position - place)
            place += piece.readableBytes
            guard skipped < piece.readableBytes else { continue }
            piece.withUnsafeReadableBytes { bytes in
                let part = UnsafeRawBufferPointer(rebasing: bytes[skipped...].prefix(rest.byteCount))
                rest.prefix(part.count).forEach { place, buffer in
                    buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: part[place..<place + buffer.count]))
                }
                rest.removeFirst(part.count)
                copied += part.count
            }
        }
        return copied
    }
}
