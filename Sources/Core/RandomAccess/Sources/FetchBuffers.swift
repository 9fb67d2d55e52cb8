/// Up to three buffers that one fetch fills in order.
///
/// A range that starts and ends inside blocks is fetched in one go (one system call, one HTTP request): the block
/// before it and its first block into the cursor's own room, the whole blocks straight to where the caller wants the
/// plaintext, the last block aside again.
public struct FetchBuffers {
    /// The first bytes.
    public var head: UnsafeMutableRawBufferPointer
    /// The bytes after those.
    public var body: UnsafeMutableRawBufferPointer
    /// The last bytes.
    public var tail: UnsafeMutableRawBufferPointer

    /// Creates three buffers, any of which may be empty.
    public init(
        head: UnsafeMutableRawBufferPointer, body: UnsafeMutableRawBufferPointer, tail: UnsafeMutableRawBufferPointer
    ) {
        self.head = head
        self.body = body
        self.tail = tail
    }

    /// Creates a single buffer.
    public init(_ buffer: UnsafeMutableRawBufferPointer) {
        let nothing = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        self.init(head: nothing, body: buffer, tail: nothing)
    }

    /// The bytes that all buffers hold together.
    public var byteCount: Int { head.count + body.count + tail.count }

    /// Forgets the first `count` bytes, which have been filled.
    public mutating func removeFirst(_ count: Int) {
        precondition(count <= byteCount, "\(count) of \(byteCount) bytes")
        var count = count
        Self.removeFirst(&count, of: &head)
        Self.removeFirst(&count, of: &body)
        Self.removeFirst(&count, of: &tail)
    }

    /// Forgets all but the first `count` bytes.
    public func prefix(_ count: Int) -> FetchBuffers {
        let inHead = min(count, head.count)
        let inBody = min(count - inHead, body.count)
        let inTail = min(count - inHead - inBody, tail.count)
        return FetchBuffers(
            head: UnsafeMutableRawBufferPointer(rebasing: head[..<inHead]),
            body: UnsafeMutableRawBufferPointer(rebasing: body[..<inBody]),
            tail: UnsafeMutableRawBufferPointer(rebasing: tail[..<inTail]))
    }

    /// Fills each buffer that is not empty with a call of `fill`, which gets the bytes' place in the fetch.
    public func forEach<Failure: Error>(
        _ fill: (_ place: Int, _ buffer: UnsafeMutableRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        if head.count > 0 { try fill(0, head) }
        if body.count > 0 { try fill(head.count, body) }
        if tail.count > 0 { try fill(head.count + body.count, tail) }
    }

    private static func removeFirst(_ count: inout Int, of buffer: inout UnsafeMutableRawBufferPointer) {
        let taken = min(count, buffer.count)
        buffer = UnsafeMutableRawBufferPointer(rebasing: buffer[taken...])
        count -= taken
    }
}
