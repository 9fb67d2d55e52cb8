/// Where ciphertext comes from.
///
/// A source is shared between threads; it has a fixed length, and reads at any offset without a position of its own.
public protocol ByteSource: Sendable {
    /// The source's length in bytes when it was opened.
    var byteCount: UInt64 { get }

    /// Reads bytes from `offset` on into up to three buffers, in order.
    ///
    /// - Returns: How many bytes were read: at least 1, and possibly fewer than asked for; 0 only at the source's end.
    /// - Throws: `DecryptionError.io`.
    func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int

    /// How many bytes a reader asks for at once where they go into a buffer of its own, if a read needs as many: from there
    /// on, another request costs little beside the bytes.
    var requestByteCount: Int { get }

    /// What tells the version that was opened from others, as far as can be told.
    var openedVersion: String { get }

    /// Checks that all bytes that were read since the source was opened are of that version: for the end of an operation,
    /// not for each read, since it may take longer than one.
    ///
    /// - Throws: `DecryptionError.sourceChanged` if the length is another one; `.io` if the bytes may be of several
    ///   versions, or that cannot be told.
    func checkVersion() throws(DecryptionError)

    /// Tells the source that a range will be read whole and about in order, by one thread or several, so that it may be read
    /// ahead.
    ///
    /// - Parameter range: The bytes, within the source.
    func adviseSequential(_ range: Range<UInt64>)
}

extension ByteSource {
    /// 256 KiB, of a source that is near: they stay in a core's cache until they are decrypted.
    public var requestByteCount: Int { DistantSource.nearRequestByteCount }

    /// A source that gains nothing from knowing.
    public func adviseSequential(_ range: Range<UInt64>) {}

    /// The length, of a source that knows no more.
    public var openedVersion: String { "\(byteCount) bytes" }

    /// A source whose bytes cannot change has nothing to notice.
    public func checkVersion() throws(DecryptionError) {}

    /// Reads exactly as many bytes as the buffers hold, however short the single reads are.
    ///
    /// - Throws: `DecryptionError.truncatedCiphertext` if the source ends before, `.io` if it fails.
    public func fetch(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) {
        var (rest, position) = (buffers, offset)
        let end = offset + UInt64(buffers.byteCount)
        while position != end {
            let count = try read(at: position, into: rest)
            guard count > 0 else { throw .truncatedCiphertext(byteCount: position, expected: "\(end) for this read") }
            position += UInt64(count)
            if position != end { rest.removeFirst(count) }
        }
    }

    /// Refuses a length that nothing has, as a server may claim it and a file with holes may have it.
    ///
    /// - Parameters:
    ///   - byteCount: The length of what is being opened.
    ///   - name: What errors call it.
    /// - Throws: `DecryptionError.io` for more than ``SourceLength/max``.
    package static func checkLength(_ byteCount: UInt64, of name: @autoclosure () -> String) throws(DecryptionError) {
        guard byteCount <= SourceLength.max else {
            throw .io(operation: "open \(name())", code: 0, reason: SourceLength.refusal(byteCount))
        }
    }

    /// Reads exactly `buffer.count` bytes. See ``fetch(at:into:)-(_,FetchBuffers)``.
    @inline(__always)
    public func fetch(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(DecryptionError) {
        guard !buffer.isEmpty else { return }
        let count = try read(at: offset, into: FetchBuffers(buffer))
        // All of it, in nearly every case.
        if count == buffer.count { return }
        try fetch(
            at: offset + UInt64(count), into: FetchBuffers(UnsafeMutableRawBufferPointer(rebasing: buffer[count...])))
    }
}

/// A source that stands before another, whose length and version are its own unless it says otherwise.
public protocol WrappingSource: ByteSource {
    /// The wrapped source.
    var base: any ByteSource { get }
}

extension WrappingSource {
    /// The wrapped source's length in bytes.
    public var byteCount: UInt64 { base.byteCount }

    /// The wrapped source's.
    public var requestByteCount: Int { base.requestByteCount }

    /// The wrapped source's version.
    public var openedVersion: String { base.openedVersion }

    /// Notices another version of the wrapped source.
    public func checkVersion() throws(DecryptionError) { try base.checkVersion() }
}

/// What a reader asks of a source behind a network, and of any where the bytes go into the caller's buffer.
package enum DistantSource {
    /// 8 MiB: at 20 ms and 100 MB/s, waiting for the first byte is a fifth of the time that they take.
    package static let requestByteCount = 8 << 20
    /// What a reader asks of a source that is near.
    package static let nearRequestByteCount = 256 << 10
}

/// How long a file or an object on a server may be.
package enum SourceLength {
    /// 1 EiB: no disk is as large, and sums of lengths stay far below where integers and result files end.
    package static let max: UInt64 = 1 << 60

    /// What is wrong with a length beyond it.
    package static func refusal(_ byteCount: UInt64) -> String {
        "it has \(byteCount) bytes: expected at most \(max) (1 EiB)"
    }
}

/// Up to three buffers that one fetch fills in order.
///
/// A range that starts and ends inside blocks is fetched in one go (one system call, one HTTP request): the block
/// before it and its first block into the cursor's own buffer, the whole blocks straight to where the caller wants the
/// plaintext, the last block aside again.
public struct FetchBuffers {
    /// The first bytes.
    public var head: UnsafeMutableRawBufferPointer
    /// The bytes after those.
    public var body: UnsafeMutableRawBufferPointer
    /// The last bytes.
    public var tail: UnsafeMutableRawBufferPointer

    /// Creates three buffers, any of which may be empty.
    @inlinable
    public init(
        head: UnsafeMutableRawBufferPointer, body: UnsafeMutableRawBufferPointer, tail: UnsafeMutableRawBufferPointer
    ) {
        self.head = head
        self.body = body
        self.tail = tail
    }

    /// Creates a single buffer.
    @inlinable
    public init(_ buffer: UnsafeMutableRawBufferPointer) {
        let nothing = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        self.init(head: nothing, body: buffer, tail: nothing)
    }

    /// The bytes that all buffers hold together.
    @inlinable public var byteCount: Int { head.count + body.count + tail.count }

    /// Forgets the first `count` bytes, which have been filled.
    @inlinable
    public mutating func removeFirst(_ count: Int) {
        precondition(count <= byteCount, "\(count) of \(byteCount) bytes")
        var count = count
        Self.removeFirst(&count, of: &head)
        Self.removeFirst(&count, of: &body)
        Self.removeFirst(&count, of: &tail)
    }

    /// Forgets all but the first `count` bytes.
    @inlinable
    public func prefix(_ count: Int) -> FetchBuffers {
        guard count < byteCount else { return self }
        let inHead = min(count, head.count)
        let inBody = min(count - inHead, body.count)
        let inTail = min(count - inHead - inBody, tail.count)
        return FetchBuffers(
            head: UnsafeMutableRawBufferPointer(rebasing: head[..<inHead]),
            body: UnsafeMutableRawBufferPointer(rebasing: body[..<inBody]),
            tail: UnsafeMutableRawBufferPointer(rebasing: tail[..<inTail]))
    }

    /// Fills each buffer that is not empty with a call of `fill`, which gets the offset of the bytes in the fetch.
    @inlinable
    public func forEach<Failure: Error>(
        _ fill: (_ offset: Int, _ buffer: UnsafeMutableRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        if head.count > 0 { try fill(0, head) }
        if body.count > 0 { try fill(head.count, body) }
        if tail.count > 0 { try fill(head.count + body.count, tail) }
    }

    @inlinable
    static func removeFirst(_ count: inout Int, of buffer: inout UnsafeMutableRawBufferPointer) {
        let taken = min(count, buffer.count)
        buffer = UnsafeMutableRawBufferPointer(rebasing: buffer[taken...])
        count -= taken
    }
}

/// A source whose ciphertext can be decrypted where it lies, without being copied to the reader first.
public protocol ViewableSource: ByteSource {
    /// Makes a view for one thread at a time.
    ///
    /// - Throws: `DecryptionError.io` if none can be made.
    func makeView() throws(DecryptionError) -> any SourceView
}

/// A view of a source's bytes where they lie; belongs to one thread at a time.
///
/// What is seen may be gone the moment after, so that a caller looks, decrypts into memory of its own, and then asks
/// ``check()`` whether that was the source.
public protocol SourceView: AnyObject {
    /// The max number of bytes of one view, at least 64.
    var largestByteCount: Int { get }

    /// Shows some bytes.
    ///
    /// - Parameter range: Offsets in the source, within its length and at most ``largestByteCount`` of them.
    /// - Returns: The bytes, `range.count` of them, until the next call of `bytes` or `check`.
    /// - Throws: `DecryptionError.io`.
    func bytes(_ range: Range<UInt64>) throws(DecryptionError) -> UnsafeRawBufferPointer

    /// Checks that all bytes that were seen since the last call were the source's.
    ///
    /// - Throws: `DecryptionError.truncatedCiphertext` if the source had become shorter, `.io` if it failed.
    func check() throws(DecryptionError)
}
