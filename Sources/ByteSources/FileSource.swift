public import RandomAccess
public import SystemPackage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A file that is read with `pread`, so that any number of threads share one descriptor.
public final class FileSource: ByteSource {
    /// The file's length in bytes when it was opened.
    public let byteCount: UInt64

    private let descriptor: FileDescriptor
    private let path: FilePath

    /// Opens a file for reading.
    ///
    /// - Throws: `DecryptionError.io` if it cannot be opened, or is something that cannot be read at an offset: a
    ///   directory, a pipe.
    public init(path: FilePath) throws(DecryptionError) {
        let descriptor = try SystemCall.check("open \(path)") {
            // Without `nonBlocking`, opening a pipe waits for someone to write to it; files and disks ignore it.
            try FileDescriptor.open(path, .readOnly, options: [.closeOnExec, .nonBlocking])
        }
        do {
            self.byteCount = try FileSource.length(of: descriptor, path: path)
        } catch {
            try? descriptor.close()
            throw error
        }
        self.descriptor = descriptor
        self.path = path
    }

    deinit {
        try? descriptor.close()
    }

    /// Reads bytes; see ``ByteSource/read(at:into:)``. The corresponding C functions are `pread` and `preadv`.
    public func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        guard let position = off_t(exactly: offset) else { return 0 }
        let onlyBody = buffers.head.count == 0 && buffers.tail.count == 0
        return try SystemCall.retrying("read \(path)") {
            onlyBody
                ? pread(descriptor.rawValue, buffers.body.baseAddress, buffers.body.count, position)
                : FileSource.readScattered(descriptor.rawValue, buffers, position)
        }
    }

    /// Compares the file's length with what it was. The corresponding C function is `fstat`.
    public func checkUnchanged() throws(DecryptionError) {
        let now = try FileSource.length(of: descriptor, path: path)
        guard now == byteCount else { throw .sourceChanged(byteCount: now, expected: byteCount) }
    }

    private static func readScattered(_ descriptor: Int32, _ buffers: FetchBuffers, _ position: off_t) -> Int {
        withUnsafeTemporaryAllocation(of: iovec.self, capacity: 3) { vectors in
            var count = 0
            buffers.forEach { _, buffer in
                vectors[count] = iovec(iov_base: buffer.baseAddress, iov_len: buffer.count)
                count += 1
            }
            return preadv(descriptor, vectors.baseAddress, Int32(count), position)
        }
    }

    private static func length(of descriptor: FileDescriptor, path: FilePath) throws(DecryptionError) -> UInt64 {
        var status = stat()
        _ = try SystemCall.retrying("stat \(path)") { Int(fstat(descriptor.rawValue, &status)) }
        switch status.st_mode & S_IFMT {
        case S_IFREG:
            return UInt64(status.st_size)
        case S_IFBLK:
            return UInt64(try SystemCall.check("seek \(path)") { try descriptor.seek(offset: 0, from: .end) })
        case S_IFDIR:
            throw .io(operation: "open \(path)", code: EISDIR, reason: "it is a directory")
        default:
            throw .io(
                operation: "open \(path)", code: ESPIPE,
                reason: "it is a pipe or device: expected a file that can be read at any offset")
        }
    }
}
