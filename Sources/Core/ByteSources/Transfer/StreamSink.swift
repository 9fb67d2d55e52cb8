import Glibc
package import RandomAccess
package import SystemPackage

/// Standard output, a pipe or a device: bytes leave in order and cannot be taken back.
package final class StreamSink: ByteSink {
    /// Bytes must come in order.
    package let isSeekable = false

    private let descriptor: FileDescriptor
    private let name: String
    private let closesAtEnd: Bool

    /// Wraps a descriptor.
    ///
    /// - Parameters:
    ///   - descriptor: Where to write.
    ///   - name: What errors call it.
    ///   - closesAtEnd: Whether the descriptor is this object's to close.
    package init(descriptor: FileDescriptor, name: String, closesAtEnd: Bool) {
        self.descriptor = descriptor
        self.name = name
        self.closesAtEnd = closesAtEnd
    }

    deinit {
        if closesAtEnd { try? descriptor.close() }
    }

    /// Writes all bytes. The corresponding C function is `write`.
    package func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(DecryptionError) {
        _ = try SystemCall.check("write to \(name)") { try descriptor.writeAll(bytes) }
    }

    /// What was written is final already.
    package func commit() throws(DecryptionError) {}
}
