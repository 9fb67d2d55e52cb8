#if Network
import HTTPTypes
import HummingbirdCore
import NIOCore
import NIOPosix
import RandomAccess
import Synchronization

/// Sends plaintext window by window: the next one is decrypted when the client has taken enough of those before.
struct BodyStream: Sendable {
    let pool: BufferPool
    /// Where windows are filled that may have to wait for a disk: other connections of the event loop do not.
    let waiting: NIOThreadPool

    /// Sends a range. No more than two windows of it are in memory at any time.
    ///
    /// - Parameters:
    ///   - range: Plaintext bytes, within the content.
    ///   - content: What to send.
    ///   - writer: The body's writer; the body is not finished.
    ///   - progress: Called with the bytes that were handed on so far.
    /// - Throws: `DecryptionError` if a window cannot be read, of which no byte is then sent; what the connection throws
    ///   if the client is gone.
    func send(
        _ range: Range<UInt64>, of content: ServedContent, to writer: inout some ResponseBodyWriter,
        progress: (UInt64) -> Void
    ) async throws {
        // A reader that is kept goes on in its chunk. One that finds no space for that is made for each window, and opens
        // the chunk again: slower, but no client waits for another, and many of them take no more memory.
        nonisolated(unsafe) var kept: (any RandomAccessDecryptor)?
        defer { if kept != nil { pool.unreserve(content.readerByteCount) } }
        // The window that is being sent, and the one that is being filled.
        var (sent, filled) = (0, 0)
        defer { pool.leave(sent + filled) }
        var position = range.lowerBound
        while position < range.upperBound {
            pool.leave(sent)
            (sent, filled) = (filled, pool.enter())
            // Windows end at multiples of their length, and so where blocks do.
            let window = UInt64(filled)
            let end = min(range.upperBound, (position / window + 1) * window)
            let part = position..<end
            // Used by one thread at a time: this one waits for the other.
            nonisolated(unsafe) var buffer = pool.take(part.count)
            if content.mayWait(part) {
                try await waiting.runIfActive { try fill(&buffer, from: content, keeping: &kept, part) }
            } else {
                try fill(&buffer, from: content, keeping: &kept, part)
            }
            try await writer.write(buffer)
            pool.give(buffer)
            position = end
            progress(position - range.lowerBound)
        }
    }

    /// Ranges up to this length are decrypted where their content is opened, and sent with their head.
    static let shortByteCount = 64 << 10

    /// A short range, decrypted on the caller's thread.
    ///
    /// - Returns: The plaintext, for which ``shortByteCount`` is to be left to the pool when it was sent; `nil` if the range is
    ///   longer, there is no space, or it cannot be read, which ``send(_:of:to:progress:)`` finds out again.
    func short(_ range: Range<UInt64>, of content: ServedContent) -> ByteBuffer? {
        guard range.count <= Self.shortByteCount, pool.enter(exactly: Self.shortByteCount) else { return nil }
        var kept: (any RandomAccessDecryptor)?
        defer { if kept != nil { pool.unreserve(content.readerByteCount) } }
        var buffer = ByteBufferAllocator().buffer(capacity: range.count)
        do {
            try fill(&buffer, from: content, keeping: &kept, range)
        } catch {
            pool.leave(Self.shortByteCount)
            return nil
        }
        return buffer
    }

    private func fill(
        _ buffer: inout ByteBuffer, from content: ServedContent, keeping kept: inout (any RandomAccessDecryptor)?,
        _ range: Range<UInt64>
    ) throws {
        let reader = try kept ?? content.makeReader()
        if kept == nil, pool.reserve(content.readerByteCount) { kept = reader }
        let count = range.count
        let delivered = try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { free in
            try reader.read(at: range.lowerBound, into: UnsafeMutableRawBufferPointer(rebasing: free[..<count]))
        }
        guard delivered == count else {
            throw DecryptionError.truncatedCiphertext(
                byteCount: range.lowerBound + UInt64(delivered), expected: "\(range.upperBound) of plaintext")
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

/// An answer that is ready to be sent.
struct Reply: Sendable {
    /// What follows the fields.
    enum Body: Sendable {
        case none
        /// A page that was made.
        case page(ByteBuffer)
        /// A part of some content, which is not empty, and the name it was asked for by.
        case plaintext(ServedContent, Range<UInt64>, name: String)
    }

    var status: HTTPResponse.Status
    var fields: HTTPFields
    var body: Body = .none

    /// An answer that is a page.
    static func page(
        _ page: ByteBuffer, type: String, status: HTTPResponse.Status = .ok, fields: HTTPFields = [:]
    ) -> Reply {
        var fields = fields
        fields[.contentType] = type
        fields[.contentLength] = "\(page.readableBytes)"
        return Reply(status: status, fields: fields, body: .page(page))
    }

    /// Sends an answer that is none of plaintext.
    func send(to request: Request, with writer: consuming ResponseWriter) async throws {
        guard case .page(let page) = body, request.method != .head else {
            return try await writer.writeResponse(head)
        }
        try await writer.write(response: head, body: ResponseBody(byteBuffer: page))
    }

    /// Source: Content Security Policy Level 3, W3C, section 6.
    private static let pagePolicy =
        "default-src 'self' 'unsafe-inline' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"

    /// The head, with the fields that every answer has.
    var head: HTTPResponse {
        var fields = fields
        fields[.date] = HTTPDate.text(HTTPDate.now)
        // What was decrypted should not end up in a browser's cache on a disk.
        fields[.cacheControl] = "no-store"
        // A page's URL may hold the token.
        fields[.referrerPolicy] = "no-referrer"
        // What is served may be anybody's. A page of it gets its scripts and pictures from here, and sends nothing elsewhere.
        fields[.contentTypeOptions] = "nosniff"
        fields[.contentSecurityPolicy] = Self.pagePolicy
        return HTTPResponse(status: status, headerFields: fields)
    }
}

extension HTTPField.Name {
    /// Source: Referrer Policy, W3C, section 4.1.
    fileprivate static let referrerPolicy = HTTPField.Name("Referrer-Policy") ?? .server
    /// Source: the Fetch Standard, section 3.5.
    fileprivate static let contentTypeOptions = HTTPField.Name("X-Content-Type-Options") ?? .server
}

/// A request that is refused, with the fields that the answer needs.
struct Refusal: Error {
    var status: HTTPResponse.Status
    /// What the client is told; the status and its name if it is nothing else.
    var reason: String?
    /// What the audit of keys says of it; `nil` where it has its lines already, or no keys were asked for.
    var result: String?
    var fields: HTTPFields = [:]

    /// The answer, with a line for people.
    var reply: Reply {
        let text = reason ?? "\(status.code) \(status.reasonPhrase)"
        return .page(
            ByteBuffer(string: text + "\n"), type: "text/plain; charset=utf-8", status: status, fields: fields)
    }
}
#endif
