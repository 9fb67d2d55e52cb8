#if Network
import NIOCore
import RandomAccess
import Synchronization

/// The plaintext of an answer, window by window.
///
/// One thread has it at a time. What it holds of the pool is given back with it.
final class PlaintextBody: Sendable {
    private let found: FoundContent
    private let range: Range<UInt64>
    private let pool: BufferPool
    private let report: @Sendable (String) -> Void
    private let onEnd: @Sendable (UInt64) -> Void
    nonisolated(unsafe) private var state: State

    private struct State {
        /// A reader goes on in its chunk. One that finds no space in the pool stays as long as its client takes windows at
        /// once; then the next one opens the chunk again: slower, but no client waits for another, and many of them take
        /// no more memory.
        var reader: (any RandomAccessDecryptor)?
        /// Whether the reader may stay while its client takes nothing.
        var isReserved = false
        /// The windows' lengths: of the one that is being sent, and of the one that is being filled.
        var windows = (sent: 0, filled: 0)
        /// Where the next window begins.
        var position: UInt64
        /// A window that is filled, or why it could not be.
        var ready: Result<ByteBuffer, DecryptionError>?
    }

    /// Creates a body.
    ///
    /// - Parameters:
    ///   - range: Plaintext bytes, within the content.
    ///   - found: What to send.
    ///   - pool: Where the windows come from.
    ///   - report: Told of what cannot be read.
    ///   - onEnd: Told in the end how many bytes were handed on.
    init(
        _ range: Range<UInt64>, of found: FoundContent, pool: BufferPool,
        report: @escaping @Sendable (String) -> Void = { _ in },
        onEnd: @escaping @Sendable (UInt64) -> Void = { _ in }
    ) {
        self.found = found
        self.range = range
        self.pool = pool
        self.report = report
        self.onEnd = onEnd
        state = State(position: range.lowerBound)
    }

    deinit {
        pool.leave(state.windows.sent + state.windows.filled)
        release()
        onEnd(state.position - range.lowerBound)
    }

    /// Whether everything was handed on.
    var isAtEnd: Bool { state.position == range.upperBound }

    /// Whether the next window may wait for a disk.
    func mayWait() -> Bool { state.ready == nil && found.content.mayWait(nextPart()) }

    /// Ranges up to this length are decrypted where their content is opened, and sent with their head.
    static let shortByteCount = 64 << 10

    /// Fills the only window of a short range. Nothing happens if the range is longer, there is no space, or the caller must
    /// not wait and would have to.
    ///
    /// - Throws: `DecryptionError` if it cannot be read.
    func fillIfShort(mayWait: Bool) throws(DecryptionError) {
        guard range.count <= Self.shortByteCount, mayWait || found.content.readAtOnce != nil,
            pool.enter(exactly: range.count)
        else { return }
        state.windows.filled = range.count
        if mayWait { fill(range) } else { fillAtOnce() }
        _ = try state.ready?.get()
    }

    private func fillAtOnce() {
        var buffer = pool.take(range.count)
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: range.count) { free in
            let window = UnsafeMutableRawBufferPointer(rebasing: free[..<range.count])
            return found.content.readAtOnce?(range.lowerBound, window) == true ? range.count : 0
        }
        if buffer.readableBytes > 0 {
            state.ready = .success(buffer)
        } else {
            pool.leave(state.windows.filled)
            state.windows.filled = 0
        }
    }

    /// Whether all of it is there, and is no more than some bytes.
    func isWhole(upTo byteCount: Int) -> Bool {
        guard case .success(let window) = state.ready else { return false }
        return window.readableBytes <= byteCount && UInt64(window.readableBytes) == range.upperBound - state.position
    }

    /// Fills the next window, if it is not.
    func fillNext() {
        if state.ready == nil { fill(nextPart()) }
    }

    /// The next window; the one before must have been sent but for the channel's last bytes of it.
    ///
    /// - Throws: `DecryptionError` if it cannot be read, of which no byte is to be sent.
    func next() throws(DecryptionError) -> ByteBuffer {
        fillNext()
        defer { state.ready = nil }
        switch state.ready {
        case .success(let window):
            state.position += UInt64(window.readableBytes)
            pool.leave(state.windows.sent)
            state.windows = (state.windows.filled, 0)
            return window
        case .failure(let error):
            report("\(found.name): \(error)")
            throw error
        case nil:
            preconditionFailure("a window that was filled is ready")
        }
    }

    /// The client takes no more at the moment.
    func pause() {
        if !state.isReserved { state.reader = nil }
    }

    /// The client has taken nothing for a while: the reader's space is for others.
    func release() {
        if state.isReserved { pool.unreserve(found.content.readerByteCount) }
        state.isReserved = false
        state.reader = nil
    }

    /// Gives a window back that was handed to the channel.
    func give(_ window: ByteBuffer) { pool.give(window) }

    /// The plaintext of the next window, which counts as used from now on.
    private func nextPart() -> Range<UInt64> {
        if state.windows.filled == 0 { state.windows.filled = pool.enter() }
        // Windows end at multiples of their length, and so where blocks do.
        let window = UInt64(state.windows.filled)
        return state.position..<min(range.upperBound, (state.position / window + 1) * window)
    }

    private func fill(_ part: Range<UInt64>) {
        var buffer = pool.take(part.count)
        do throws(DecryptionError) {
            let reader: any RandomAccessDecryptor
            if let kept = state.reader { reader = kept } else { reader = try found.content.makeReader() }
            state.reader = reader
            if !state.isReserved { state.isReserved = pool.reserve(found.content.readerByteCount) }
            try Self.read(part, from: reader, into: &buffer)
            state.ready = .success(buffer)
        } catch {
            state.ready = .failure(error)
        }
    }

    private static func read(
        _ part: Range<UInt64>, from reader: any RandomAccessDecryptor, into buffer: inout ByteBuffer
    ) throws(DecryptionError) {
        var result = Result<Int, DecryptionError>.success(0)
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: part.count) { free in
            let window = UnsafeMutableRawBufferPointer(rebasing: free[..<part.count])
            result = Result { () throws(DecryptionError) in try reader.read(at: part.lowerBound, into: window) }
            return (try? result.get()) ?? 0
        }
        let count = try result.get()
        guard count == part.count else {
            throw .truncatedCiphertext(
                byteCount: part.lowerBound + UInt64(count), expected: "\(part.upperBound) of plaintext")
        }
    }
}

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

    /// The max number of buffers that are kept.
    private static let keptCount = 16

    init(limits: ServerLimits) {
        self.limits = limits
    }

    /// Takes a window for an answer: a power of two or the longest, so that windows end where those of another length do.
    ///
    /// What is free is never given away at once: a later request finds windows of a half, a quarter and so on.
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

    /// Takes a window of some length, or says that there is no space for it.
    func enter(exactly byteCount: Int) -> Bool {
        state.withLock { state in
            guard byteCount <= (limits.bufferByteCount - state.usedByteCount) / 8 else { return false }
            state.usedByteCount += byteCount
            return true
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

    /// An empty buffer with space for `byteCount` bytes: one that is no longer in use, or a new one.
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
