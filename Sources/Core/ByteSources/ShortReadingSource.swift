public import RandomAccess

/// Delivers fewer bytes than asked for, as the standard allows and few programs expect.
public struct ShortReadingSource: ByteSource {
    private let base: any ByteSource
    private let largestRead: Int

    /// Wraps a source.
    ///
    /// - Parameters:
    ///   - base: The source.
    ///   - largestRead: The most bytes of one read, at least 1.
    public init(_ base: any ByteSource, largestRead: Int) {
        precondition(largestRead > 0, "reads of \(largestRead) bytes")
        self.base = base
        self.largestRead = largestRead
    }

    /// The wrapped source's length in bytes.
    public var byteCount: UInt64 { base.byteCount }

    /// Reads bytes; see `ByteSource.read(at:into:)`.
    public func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        try base.read(at: offset, into: buffers.prefix(min(largestRead, buffers.byteCount)))
    }

    /// Notices a change; see `ByteSource.checkUnchanged()`.
    public func checkUnchanged() throws(DecryptionError) {
        try base.checkUnchanged()
    }
}
