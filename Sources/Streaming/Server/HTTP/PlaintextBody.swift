#if Network
import NIOCore
import RandomAccess
import Synchronization

/// The plaintext of an answer, window by window.
///
/// One thread uses it at a time. It gives its share of the pool back when it is freed.
final class PlaintextBody: Sendable {
    private let found: FoundContent
    private let range: Range<UInt64>
    private let pool: BufferPool
    private let report: @Sendable (String) -> Void
    private let onEnd: @Sendable (UInt64) -> Void
    nonisolated(unsafe) private var state: State

    private struct State {
        /// The reader. It keeps its chunk open from window to window. If the pool has no space for it, it stays only
        /// while its client takes windows at once, and a later reader opens the chunk again. That is slower, but no
        /// client waits for another, and many such clients take no more memory.
        var reader: (any RandomAccessDecryptor)?
        /// True if the reader may stay while its client takes nothing.
        var isReserved = false
        /// The lengths of two windows: the one that is being sent, and the one that is being filled.
        var windows = (sent: 0, filled: 0)
        /// The offset of the next window.
        var position: UInt64
        /// A filled window, or the reason why it could not be filled.
        var ready: Result<ByteBuffer, DecryptionError>?
    }

    /// - Parameters:
    ///   - range: A plaintext range within the content.
    ///   - found: The content to send.
    ///   - pool: The pool of the windows' buffers.
    ///   - report: Called with each failure to read.
    ///   - onEnd: Called at the end with the number of bytes that were handed on.
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

    /// True if all bytes were handed on.
    var isAtEnd: Bool { state.position == range.upperBound }

    /// Returns whether filling the next window may wait for a disk.
    func mayWait() -> Bool { state.ready == nil && found.content.mayWait(nextPart()) }

    /// The max length of a range that is decrypted before the answer's head is sent.
    static let shortByteCount = 64 << 10

    /// Fills the only window of a short range. Does nothing if the range is longer, if there is no space, or if the
    /// caller must not wait and the read would have to.
    ///
    /// - Throws: `DecryptionError` if the range cannot be read.
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

    /// Returns whether the ready window holds all bytes that are left, and is not longer than a limit.
    func isWhole(upTo byteCount: Int) -> Bool {
        guard case .success(let window) = state.ready else { return false }
        return window.readableBytes <= byteCount && UInt64(window.readableBytes) == range.upperBound - state.position
    }

    /// Fills the next window, unless it is ready.
    func fillNext() {
        if state.ready == nil { fill(nextPart()) }
    }

    /// Returns the next window. The window before it must have been sent, except for its last bytes in the channel.
    ///
    /// - Throws: `DecryptionError` if the window cannot be read. None of its bytes may then be sent.
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

    /// Drops a reader without reserved space, because the client takes no more at the moment.
    func pause() {
        if !state.isReserved { state.reader = nil }
    }

    /// Gives the reader's space to others, because the client has taken nothing for a while.
    func release() {
        if state.isReserved { pool.unreserve(found.content.readerByteCount) }
        state.isReserved = false
        state.reader = nil
    }

    /// Gives back a window that was handed to the channel.
    func give(_ window: ByteBuffer) { pool.give(window) }

    /// Returns the plaintext range of the next window, and takes that window from the pool.
    private func nextPart() -> Range<UInt64> {
        if state.windows.filled == 0 { state.windows.filled = pool.enter() }
        // Windows end at multiples of their length, and therefore at the ends of blocks.
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

/// The buffers of all answers, for reuse. Windows shrink before all of them together take too much memory; the memory
/// of readers counts, too.
final class BufferPool: Sendable {
    private struct State {
        var usedByteCount = 0
        /// The share of these bytes that belongs to readers.
        var readerByteCount: UInt64 = 0
        var free: [ByteBuffer] = []
    }

    private let limits: ServerLimits
    private let state = Mutex(State())

    /// The max number of idle buffers.
    private static let keptCount = 16

    init(limits: ServerLimits) {
        self.limits = limits
    }

    /// Takes a window for an answer. Its length is a power of two or the max length, so that windows end where windows
    /// of other lengths end.
    ///
    /// The pool never gives away all its space at once: later requests find windows of a half, a quarter and so on.
    ///
    /// - Returns: The window's length in bytes. It counts as used until ``leave(_:)``.
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

    /// Takes a window of a given length, and returns whether there was space for it.
    func enter(exactly byteCount: Int) -> Bool {
        state.withLock { state in
            guard byteCount <= (limits.bufferByteCount - state.usedByteCount) / 8 else { return false }
            state.usedByteCount += byteCount
            return true
        }
    }

    /// Gives a window back.
    func leave(_ window: Int) { state.withLock { $0.usedByteCount -= window } }

    /// Reserves the memory of a reader that stays between windows. All readers together get at most half of the pool.
    ///
    /// - Returns: True if the reader may stay. Its bytes then count as used until ``unreserve(_:)``.
    func reserve(_ byteCount: UInt64) -> Bool {
        state.withLock { state in
            guard byteCount <= UInt64(limits.bufferByteCount / 2) - state.readerByteCount else { return false }
            state.readerByteCount += byteCount
            state.usedByteCount += Int(byteCount)
            return true
        }
    }

    /// Gives back the memory of a reader.
    func unreserve(_ byteCount: UInt64) {
        state.withLock { state in
            state.readerByteCount -= byteCount
            state.usedByteCount -= Int(byteCount)
        }
    }

    /// Returns an empty buffer with a capacity of `byteCount` bytes, either an idle one or a new one.
    func take(_ byteCount: Int) -> ByteBuffer {
        // The channel holds sent bytes for a while after their buffer was given back.
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

    /// Gives back a buffer. The channel may still be sending it.
    func give(_ buffer: ByteBuffer) {
        // Small buffers are cheap to make, and would displace larger ones.
        guard buffer.capacity >= ServerLimits.minWindowByteCount else { return }
        state.withLock { state in
            state.free.append(buffer)
            if state.free.count > Self.keptCount { state.free.removeFirst() }
        }
    }
}
#endif
