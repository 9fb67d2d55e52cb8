#if Network
package import ByteSources
package import RandomAccess
package import SystemPackage

/// A file that is read as the version that it was when it was opened, or not at all.
///
/// A `FileSource` notices another length; a server also has to notice other bytes, since the parts that a client puts
/// together come from many requests.
package final class PinnedFile: ByteSource {
    /// The version.
    package let identity: FileIdentity

    private let file: FileSource
    private let name: String

    /// Takes over an open file; see `FileSource`.
    ///
    /// - Parameters:
    ///   - descriptor: The file, open for reading.
    ///   - path: What errors call it.
    /// - Throws: `DecryptionError.io`.
    package init(adopting descriptor: FileDescriptor, path: FilePath) throws(DecryptionError) {
        self.file = try FileSource(adopting: descriptor, path: path)
        self.name = path.string
        self.identity = try file.identity()
    }

    /// The file's length in bytes when it was opened.
    package var byteCount: UInt64 { file.byteCount }

    /// Reads bytes; see `ByteSource`.
    package func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        try file.read(at: offset, into: buffers)
    }

    /// Compares length and time of change with what they were.
    ///
    /// A write sets the time before it changes a byte, so that bytes which are read before this call, and before a time
    /// that this call finds unchanged, are those of the version.
    package func checkUnchanged() throws(DecryptionError) {
        let now = try file.identity()
        guard now.byteCount == byteCount else {
            throw .sourceChanged(byteCount: now.byteCount, expected: byteCount)
        }
        guard now == identity else {
            throw .io(
                operation: "read \(name)", code: 0,
                reason: "it was changed since it was opened: expected the version that was asked for")
        }
    }

    /// Tells the system that a range is read in order.
    package func adviseSequential(_ range: Range<UInt64>) { file.adviseSequential(range) }
}
#endif
