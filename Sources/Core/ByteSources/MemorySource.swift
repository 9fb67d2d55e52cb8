public import RandomAccess

/// Ciphertext that is held in memory.
public struct MemorySource: ByteSource {
    private let bytes: [UInt8]

    /// Creates a source.
    public init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The number of bytes held.
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

/// A part of another source, as a source of its own.
public struct SlicedSource: WrappingSource {
    /// The wrapped source.
    public let base: any ByteSource
    /// The part, in offsets of the source.
    public let range: Range<UInt64>

    /// Cuts a part out of a source.
    ///
    /// - Parameters:
    ///   - base: The source.
    ///   - range: The part, in offsets of the source.
    /// - Throws: `DecryptionError.truncatedCiphertext` if the source ends before.
    public init(_ base: any ByteSource, _ range: Range<UInt64>) throws(DecryptionError) {
        guard range.upperBound <= base.byteCount else {
            throw .truncatedCiphertext(
                byteCount: base.byteCount,
                expected: "at least \(range.upperBound), the end of the byte range from \(range.lowerBound) on")
        }
        self.base = base
        self.range = range
    }

    /// The part's length in bytes.
    public var byteCount: UInt64 { range.upperBound - range.lowerBound }

    /// Reads bytes; see `ByteSource.read(at:into:)`.
    public func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        guard offset < byteCount else { return 0 }
        let maximum = Int(min(UInt64(buffers.byteCount), byteCount - offset))
        return try base.read(at: range.lowerBound + offset, into: buffers.prefix(maximum))
    }

    /// Tells the whole source; see `ByteSource.adviseSequential(_:)`.
    public func adviseSequential(_ range: Range<UInt64>) {
        base.adviseSequential(self.range.lowerBound + range.lowerBound..<self.range.lowerBound + range.upperBound)
    }
}

/// A source whose every read is checked to be of the version that was opened, and not only the end of all reads: for bytes
/// that are handed on at once.
public struct PinnedSource: WrappingSource {
    /// The wrapped source.
    public let base: any ByteSource

    /// Wraps a source.
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
