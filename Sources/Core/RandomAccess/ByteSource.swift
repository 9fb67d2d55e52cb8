/// A source of ciphertext.
///
/// Threads share a source. It has a fixed length, and reads at any offset without a position of its own.
public protocol ByteSource: Sendable {
    /// The source's length in bytes when it was opened.
    var byteCount: UInt64 { get }

    /// Reads bytes from `offset` on into up to three buffers, in order.
    ///
    /// - Returns: The number of bytes read: at least 1, and possibly fewer than asked for; 0 only at the source's end.
    /// - Throws: `DecryptionError.io`.
    func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int

    /// The number of bytes that a reader requests at once into a buffer of its own, if a read needs as many. Beyond
    /// this length, the cost of another request is small compared with that of its bytes.
    var requestByteCount: Int { get }

    /// A description of the opened version that differs from other versions, as far as the source can tell.
    var openedVersion: String { get }

    /// Checks that all bytes that were read since the source was opened are of that version. It is meant for the end of
    /// an operation and not for each read, since it may take longer than a read.
    ///
    /// - Throws: `DecryptionError.sourceChanged` if the length has changed; `.io` if the bytes may be of several
    ///   versions, or the source cannot tell.
    func checkVersion() throws(DecryptionError)

    /// Tells the source that a range will be read whole and roughly in order, by one thread or several, so that the
    /// source can read ahead.
    ///
    /// - Parameter range: The bytes, within the source.
    func adviseSequential(_ range: Range<UInt64>)
}

extension ByteSource {
    /// 256 KiB, for a source on this machine: these bytes stay in a core's cache until they are decrypted.
    public var requestByteCount: Int { DistantSource.nearRequestByteCount }

    /// Does nothing.
    public func adviseSequential(_ range: Range<UInt64>) {}

    /// The length, if the source knows nothing else about its version.
    public var openedVersion: String { "\(byteCount) bytes" }

    /// Does nothing: the source's bytes cannot change.
    public func checkVersion() throws(DecryptionError) {}

    /// Reads exactly as many bytes as the buffers hold, with as many short reads as it takes.
    ///
    /// - Throws: `DecryptionError.truncatedCiphertext` if the source ends earlier, `.io` if it fails.
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

    /// Refuses an impossible length, which a server may claim and a file with holes may have.
    ///
    /// - Parameters:
    ///   - byteCount: The length of the source being opened.
    ///   - name: The source's name in errors.
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
        // The first read delivers everything in nearly every case.
        if count == buffer.count { return }
        try fetch(
            at: offset + UInt64(count), into: FetchBuffers(UnsafeMutableRawBufferPointer(rebasing: buffer[count...])))
    }
}

/// A source around another one, with that one's length and version unless it overrides them.
public protocol WrappingSource: ByteSource {
    /// The wrapped source.
    var base: any ByteSource { get }
}

extension WrappingSource {
    /// The wrapped source's length in bytes.
    public var byteCount: UInt64 { base.byteCount }

    /// The request size of the wrapped source.
    public var requestByteCount: Int { base.requestByteCount }

    /// The wrapped source's version.
    public var openedVersion: String { base.openedVersion }

    /// Fails if the wrapped source has changed.
    public func checkVersion() throws(DecryptionError) { try base.checkVersion() }
}

/// The request sizes for a source behind a network, and for any source that reads into the caller's buffer.
package enum DistantSource {
    /// 8 MiB: at 20 ms and 100 MB/s, waiting for the first byte takes a fifth of the transfer time.
    package static let requestByteCount = 8 << 20
    /// The request size for a source on this machine.
    package static let nearRequestByteCount = 256 << 10
}

/// The max length of a file or an object on a server.
package enum SourceLength {
    /// 1 EiB: no disk is as large, and sums of lengths stay far below the limits of integers and result files.
    package static let max: UInt64 = 1 << 60

    /// Returns the message for a length beyond the limit.
    package static func refusal(_ byteCount: UInt64) -> String {
        "it has \(byteCount) bytes: expected at most \(max) (1 EiB)"
    }
}

/// Up to three buffers that one fetch fills in order.
///
/// A range that starts and ends inside blocks is fetched in one go (one system call, one HTTP request). The block
/// before it and its first block go into the cursor's own buffer, the whole blocks directly into the caller's buffer,
/// and the last block into the cursor's buffer again.
public struct FetchBuffers {
    /// The first bytes.
    public var head: UnsafeMutableRawBufferPointer
    /// The bytes after those.
    public var body: UnsafeMutableRawBufferPointer
    /// The last bytes.
    public var tail: UnsafeMutableRawBufferPointer

    /// Three buffers, any of which may be empty.
    @inlinable
    public init(
        head: UnsafeMutableRawBufferPointer, body: UnsafeMutableRawBufferPointer, tail: UnsafeMutableRawBufferPointer
    ) {
        self.head = head
        self.body = body
        self.tail = tail
    }

    /// A single buffer.
    @inlinable
    public init(_ buffer: UnsafeMutableRawBufferPointer) {
        let nothing = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        self.init(head: nothing, body: buffer, tail: nothing)
    }

    /// The length of all buffers together.
    @inlinable public var byteCount: Int { head.count + body.count + tail.count }

    /// Drops the first `count` bytes, which have been filled.
    @inlinable
    public mutating func removeFirst(_ count: Int) {
        precondition(count <= byteCount, "\(count) of \(byteCount) bytes")
        var count = count
        Self.removeFirst(&count, of: &head)
        Self.removeFirst(&count, of: &body)
        Self.removeFirst(&count, of: &tail)
    }

    /// Returns the buffers with only the first `count` bytes.
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

    /// Calls `fill` for each buffer that is not empty, with the offset of its bytes in the fetch.
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

/// A source whose ciphertext can be decrypted in place, without a copy to the reader.
public protocol ViewableSource: ByteSource {
    /// Returns a view for one thread at a time.
    ///
    /// - Throws: `DecryptionError.io` if the source cannot make a view.
    func makeView() throws(DecryptionError) -> any SourceView
}

/// A view of a source's own bytes; belongs to one thread at a time.
///
/// The bytes may vanish at any moment. So a caller reads the view, decrypts into memory of its own, and then calls
/// ``check()`` to see whether the bytes were the source's.
public protocol SourceView: AnyObject {
    /// The max number of bytes of one view, at least 64.
    var largestByteCount: Int { get }

    /// Returns bytes of the source.
    ///
    /// - Parameter range: Offsets in the source, within its length and at most ``largestByteCount`` long.
    /// - Returns: `range.count` bytes, valid until the next call of `bytes` or `check`.
    /// - Throws: `DecryptionError.io`.
    func bytes(_ range: Range<UInt64>) throws(DecryptionError) -> UnsafeRawBufferPointer

    /// Checks that all bytes that were returned since the last call were the source's.
    ///
    /// - Throws: `DecryptionError.truncatedCiphertext` if the source had become shorter, `.io` if it failed.
    func check() throws(DecryptionError)
}
