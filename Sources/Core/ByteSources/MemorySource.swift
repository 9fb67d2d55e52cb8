public import RandomAccess

/// Ciphertext in memory.
public struct MemorySource: ByteSource {
    private let bytes: [UInt8]

    /// A source over the given bytes.
    public init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The number of bytes.
    public var byteCount: UInt64 { UInt64(bytes.count) }

    /// Reads bytes; see `ByteSource.read(at:into:)`.
    public func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        guard offset < byteCount else { return 0 }
        let start = Int(offset)
        let rest = buffers.prefix(bytes.count - start)
        bytes.withUnsafeBytes { bytes in
            rest.forEach { position, buffer in
                buffer.copyMemory(
                    from: UnsafeRawBufferPointer(rebasing: bytes[start + position..<start + position + buffer.count]))
            }
        }
        return rest.byteCount
    }
}

/// A source that checks the version after each read, and not only at the end of all reads: for bytes that are handed on
/// at once.
public struct PinnedSource: WrappingSource {
    /// The wrapped source.
    public let base: any ByteSource

    /// A source that checks the version of `base`.
    public init(_ base: any ByteSource) {
        self.base = base
    }

    /// Reads bytes and checks their version; see `ByteSource.read(at:into:)` and `ByteSource.checkVersion()`.
    public func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        let count = try base.read(at: offset, into: buffers)
        try base.checkVersion()
        return count
    }

    /// Tells the wrapped source; see `ByteSource.adviseSequential(_:)`.
    public func adviseSequential(_ range: Range<UInt64>) { base.adviseSequential(range) }
}
