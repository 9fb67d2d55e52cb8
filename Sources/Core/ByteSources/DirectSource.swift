import CLinux
import Glibc
public import RandomAccess
import Synchronization
public import SystemPackage

/// A file that is read past the system's page cache, so that each read reaches the storage.
///
/// Reads are widened to the device's alignment, into a buffer that belongs to one reader, and decrypted from there. It
/// is meant for measuring storage: a file that is read again is faster with a ``FileSource``.
public final class DirectSource: ViewableSource {
    /// The way that reads reach the kernel.
    public enum Engine: String, CaseIterable, Sendable {
        /// One call per read. The corresponding C function is `pread`.
        case direct
        /// A ring per reader, for one read at a time. The corresponding C functions are `io_uring_setup` and
        /// `io_uring_enter`.
        case uring
    }

    /// The max number of bytes of a reader's buffer.
    public static let boundByteCount = UInt64(DirectReader.maxByteCount)

    private let reads: DirectFile
    /// Readers for reads that come without a view.
    private let readers = Mutex<[DirectReader]>([])

    /// Opens a file for reading. The corresponding C functions are `open` with `O_DIRECT`, and `statx`.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - engine: The way that reads reach the kernel.
    /// - Throws: `DecryptionError.io` as ``FileSource/init(path:)`` does, and if the file system does not support
    ///   direct reads; `.unsupported` if the kernel has no rings, or forbids them here.
    public init(path: FilePath, engine: Engine = .direct) throws(DecryptionError) {
        reads = try DirectFile(path: path, engine: engine)
        // Fail now rather than at the first read.
        let first = try DirectReader(reads)
        readers.withLock { $0.append(first) }
    }

    /// The file's length in bytes when it was opened.
    public var byteCount: UInt64 { reads.file.byteCount }

    /// Reads bytes through an aligned buffer; see `ByteSource.read(at:into:)`.
    public func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        guard offset < byteCount, buffers.byteCount > 0 else { return 0 }
        let count = min(UInt64(min(buffers.byteCount, DirectReader.maxViewByteCount)), byteCount - offset)
        let known = readers.withLock { $0.popLast() }
        let reader = if let known { known } else { try DirectReader(reads) }
        defer { readers.withLock { $0.append(reader) } }
        let bytes = try reader.read(offset..<offset + count)
        buffers.prefix(bytes.count).forEach { position, buffer in
            buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[position..<position + buffer.count]))
        }
        return bytes.count
    }

    /// The file's version.
    public var openedVersion: String { reads.file.openedVersion }

    /// Fails if the file has changed; see ``FileSource/checkVersion()``.
    public func checkVersion() throws(DecryptionError) { try reads.file.checkVersion() }

    /// Makes a view for one thread at a time, with a buffer and a ring of its own.
    public func makeView() throws(DecryptionError) -> any SourceView { try DirectView(reads) }
}

/// A file that is open for direct reads.
private final class DirectFile: Sendable {
    let file: FileSource
    let descriptor: Int32
    let engine: DirectSource.Engine
    /// The alignment in bytes of offsets, lengths and addresses.
    let alignment: UInt64

    init(path: FilePath, engine: DirectSource.Engine) throws(DecryptionError) {
        self.engine = engine
        var options: FileDescriptor.OpenOptions = [.closeOnExec, .nonBlocking]
        options.insert(.init(rawValue: chunkwise_direct_flag()))
        let opened: FileDescriptor
        do {
            opened = try SystemCall.check("open \(path)") { try .open(path, .readOnly, options: options) }
        } catch .io(let operation, EINVAL, _) {
            throw Self.refusal(operation)
        }
        descriptor = opened.rawValue
        file = try FileSource(adopting: opened, path: path, waits: true)
        alignment = UInt64(chunkwise_direct_alignment(descriptor))
        guard alignment > 0 else { throw Self.refusal("open \(path)") }
    }

    private static func refusal(_ operation: String) -> DecryptionError {
        .io(
            operation: operation, code: EINVAL,
            reason: "its file system reads through the page cache only: expected one on a disk, such as ext4 or xfs")
    }
}

/// An aligned buffer, and a ring if reads use one; for one thread at a time.
private final class DirectReader: @unchecked Sendable {
    /// The max number of bytes of one read, before it is widened.
    static let maxViewByteCount = (1 << 20) + 4096
    /// The size of the buffer: a device may read 64 KiB at once, so a read grows by at most that at each end.
    static let maxByteCount = maxViewByteCount + (2 << 16)

    let file: DirectFile
    private let buffer: UnsafeMutableRawBufferPointer
    private let ring: OpaquePointer?

    init(_ file: DirectFile) throws(DecryptionError) {
        guard file.alignment <= 1 << 16 else {
            throw .unsupported("direct reads of at least \(file.alignment) bytes: expected at most 64 KiB")
        }
        self.file = file
        let count = Self.maxByteCount
        buffer = .allocate(byteCount: count, alignment: max(4096, Int(file.alignment)))
        guard file.engine == .uring else {
            ring = nil
            return
        }
        ring = chunkwise_ring_open(buffer.baseAddress, count)
        guard ring == nil else { return }
        let code = errno
        buffer.deallocate()
        if [ENOSYS, EPERM, EACCES].contains(code) {
            let reason = String(cString: strerror(code))
            throw .unsupported(
                "io_uring, which this kernel does not have or forbids here, as containers do (\(reason))")
        }
        throw .io(operation: "io_uring_setup", code: code, reason: String(cString: strerror(code)))
    }

    deinit {
        chunkwise_ring_close(ring)
        buffer.deallocate()
    }

    /// Reads a range of at most ``maxViewByteCount`` bytes within the file's length.
    ///
    /// - Returns: The bytes, valid until the next call.
    /// - Throws: `DecryptionError.truncatedCiphertext` if the file ends earlier, `.io`.
    func read(_ range: Range<UInt64>) throws(DecryptionError) -> UnsafeRawBufferPointer {
        let alignment = file.alignment
        let start = range.lowerBound / alignment * alignment
        let stop = (range.upperBound + alignment - 1) / alignment * alignment
        let skipped = Int(range.lowerBound - start)
        var count = 0
        // A read of many pages may end early. The rest then starts at a multiple of the alignment, or the file ends
        // there.
        while count < skipped + range.count {
            let step = try read(at: start + UInt64(count), count: Int(stop - start) - count, into: count)
            count += step
            guard step > 0, count >= skipped + range.count || count % Int(alignment) == 0 else {
                throw .truncatedCiphertext(
                    byteCount: start + UInt64(count), expected: "\(range.upperBound) for this read")
            }
        }
        return UnsafeRawBufferPointer(rebasing: buffer[skipped..<skipped + range.count])
    }

    private func read(at offset: UInt64, count: Int, into position: Int) throws(DecryptionError) -> Int {
        let target = buffer.baseAddress?.advanced(by: position)
        return try SystemCall.retrying("read \(file.file.path)") {
            guard let ring else { return pread(file.descriptor, target, count, off_t(clamping: offset)) }
            return Int(chunkwise_ring_read(ring, file.descriptor, target, UInt32(clamping: count), offset))
        }
    }
}

/// A view of a reader's buffer.
private final class DirectView: SourceView {
    let largestByteCount = DirectReader.maxViewByteCount
    private let reader: DirectReader

    init(_ file: DirectFile) throws(DecryptionError) { reader = try DirectReader(file) }

    func bytes(_ range: Range<UInt64>) throws(DecryptionError) -> UnsafeRawBufferPointer {
        precondition(
            range.upperBound <= reader.file.file.byteCount && range.count <= largestByteCount, "a view of \(range)")
        return try reader.read(range)
    }

    /// Does nothing: the bytes are in the reader's own memory.
    func check() throws(DecryptionError) {}
}
