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

    /// Notices a source that is no longer what was opened.
    ///
    /// - Throws: `DecryptionError.sourceChanged` if its length is another one, `.io` if that cannot be told.
    func checkUnchanged() throws(DecryptionError)

    /// Takes note that a range will be read whole and about in order, by one thread or several, so that it may be read
    /// ahead.
    ///
    /// - Parameter range: The bytes, within the source.
    func adviseSequential(_ range: Range<UInt64>)
}

extension ByteSource {
    /// A source that gains nothing from knowing.
    public func adviseSequential(_ range: Range<UInt64>) {}

    /// A source whose bytes cannot change has nothing to notice.
    public func checkUnchanged() throws(DecryptionError) {}

    /// Reads exactly as many bytes as the buffers hold, however short the single reads are.
    ///
    /// - Throws: `DecryptionError.truncatedCiphertext` if the source ends before, `.io` if it fails.
    public func fetch(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) {
        var rest = buffers
        var position = offset
        while rest.byteCount > 0 {
            let count = try read(at: position, into: rest)
            guard count > 0 else {
                throw .truncatedCiphertext(
                    byteCount: position, expected: "\(offset + UInt64(buffers.byteCount)) for this read")
            }
            position += UInt64(count)
            rest.removeFirst(count)
        }
    }

    /// Reads exactly `buffer.count` bytes. See ``fetch(at:into:)-(_,FetchBuffers)``.
    public func fetch(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(DecryptionError) {
        try fetch(at: offset, into: FetchBuffers(buffer))
    }
}
