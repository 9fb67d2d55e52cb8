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
            rest.forEach { place, buffer in
                buffer.copyMemory(
                    from: UnsafeRawBufferPointer(rebasing: bytes[start + place..<start + place + buffer.count]))
            }
        }
        return rest.byteCount
    }
}
