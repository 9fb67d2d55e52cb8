import CLinux
import Glibc
public import RandomAccess
public import SystemPackage

/// A file that is read with `pread`, so that any number of threads share one descriptor.
public final class FileSource: ByteSource {
    /// The file's length in bytes when it was opened.
    public let byteCount: UInt64

    /// The path that errors name.
    let path: FilePath

    private let descriptor: FileDescriptor
    /// The file and its version when it was opened.
    package let opened: FileIdentity

    /// Opens a file for reading, and waits two seconds at most until nobody writes to it.
    ///
    /// - Throws: `DecryptionError.io` if it cannot be opened, is something that cannot be read at an offset (a directory,
    ///   a pipe), or is still changing then.
    public convenience init(path: FilePath) throws(DecryptionError) { try self.init(path: path, waits: true) }

    /// Opens a file for reading.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - waits: Whether to wait, as ``init(path:)`` does; not for a file that this process writes itself.
    /// - Throws: `DecryptionError.io`; see ``init(path:)``.
    package convenience init(path: FilePath, waits: Bool) throws(DecryptionError) {
        let descriptor = try SystemCall.check("open \(path)") {
            // Without `nonBlocking`, opening a pipe waits for someone to write to it; files and disks ignore it.
            try FileDescriptor.open(path, .readOnly, options: [.closeOnExec, .nonBlocking])
        }
        try self.init(adopting: descriptor, path: path, waits: waits)
    }

    /// Takes over an open file, which is closed with this source, or at once if this fails.
    ///
    /// - Parameters:
    ///   - descriptor: The file, open for reading.
    ///   - path: What errors call it.
    ///   - waits: Whether to wait, as ``init(path:)`` does.
    /// - Throws: `DecryptionError.io` if it is something that cannot be read at an offset, or is still changing.
    package init(adopting descriptor: FileDescriptor, path: FilePath, waits: Bool = false) throws(DecryptionError) {
        do {
            let opened =
                try waits
                ? FileSource.settledIdentity(of: descriptor, path: path)
                : FileSource.identity(of: descriptor, path: path)
            try Self.checkLength(opened.byteCount, of: "\(path)")
            self.opened = opened
            self.byteCount = opened.byteCount
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

    /// Reads bytes; see `ByteSource.read(at:into:)`. The corresponding C functions are `pread` and `preadv`.
    public func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        guard let position = off_t(exactly: offset) else { return 0 }
        let onlyBody = buffers.head.count == 0 && buffers.tail.count == 0
        return try SystemCall.retrying("read \(path)") {
            onlyBody
                ? pread(descriptor.rawValue, buffers.body.baseAddress, buffers.body.count, position)
                : FileSource.readScattered(descriptor.rawValue, buffers, position)
        }
    }

    /// Which version of the file this is now. The corresponding C functions are `fstat`, and `lseek` for the length: the
    /// former has none of a block device.
    ///
    /// - Throws: `DecryptionError.io`.
    package func identity() throws(DecryptionError) -> FileIdentity {
        try Self.identity(of: descriptor, path: path)
    }

    /// The file, its length and its times when it was opened.
    public var openedVersion: String { "\(opened)" }

    /// Compares the file, its length and its times with what they were. The corresponding C function is `fstat`.
    ///
    /// A write sets the times when it begins, before it changes a byte. So bytes that are read before this call, which finds
    /// the times unchanged, are those of the version, unless a write had begun before the file was opened
    /// (`canBePinned(now:)` tells), or two of them within a step of the file system's clock.
    public func checkVersion() throws(DecryptionError) {
        let now = try identity()
        guard now.byteCount == byteCount else {
            throw .sourceChanged(byteCount: now.byteCount, expected: byteCount)
        }
        guard now == opened else {
            throw .io(
                operation: "read \(path)", code: 0,
                reason: "it was changed while it was read: expected one version from start to end")
        }
    }

    /// Tells the system that the file is read in order, so that it reads further ahead while what came before is
    /// decrypted. The corresponding C function is `posix_fadvise` with `POSIX_FADV_SEQUENTIAL`.
    public func adviseSequential(_ range: Range<UInt64>) {
        // Linux takes it for the whole file in any case. Advice only: a file system that takes none is read all the same.
        _ = posix_fadvise(descriptor.rawValue, 0, 0, POSIX_FADV_SEQUENTIAL)
    }

    /// Whether bytes are in memory, as far as a look every 128 KiB tells, which is what Linux reads ahead at once; where
    /// the file system cannot tell, they are not. The corresponding C function is `preadv2` with
    /// `RWF_NOWAIT`.
    package func isInMemory(_ range: Range<UInt64>) -> Bool {
        var offsets = Array(stride(from: range.lowerBound, to: range.upperBound, by: 128 << 10))
        if let last = range.last { offsets.append(last) }
        return offsets.allSatisfy { offset in
            withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { byte in
                chunkwise_read_at_once(descriptor.rawValue, byte.baseAddress, 1, Int64(clamping: offset)) >= 0
            }
        }
    }

    /// Reads bytes that are in memory, where ``read(at:into:)`` would wait for others. The corresponding C function is
    /// `preadv2` with `RWF_NOWAIT`.
    ///
    /// - Throws: `DecryptionError.io` with `EAGAIN` if the first one is not, or another code where the file system cannot
    ///   tell.
    fileprivate func readAtOnce(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        guard let position = Int64(exactly: offset) else { return 0 }
        let buffer = buffers.head.count > 0 ? buffers.head : buffers.body.count > 0 ? buffers.body : buffers.tail
        return try SystemCall.retrying("read \(path)") {
            chunkwise_read_at_once(descriptor.rawValue, buffer.baseAddress, buffer.count, position)
        }
    }

    /// Maps pages for reading, which the caller unmaps. The corresponding C function is `mmap`.
    ///
    /// - Parameters:
    ///   - offset: A multiple of the page's length.
    ///   - count: How many bytes, more than 0.
    /// - Returns: The bytes; those past the file's end raise SIGBUS.
    /// - Throws: `DecryptionError.io`.
    func map(from offset: UInt64, count: Int) throws(DecryptionError) -> UnsafeMutableRawBufferPointer {
        guard let position = off_t(exactly: offset),
            let start = mmap(nil, count, PROT_READ, MAP_SHARED, descriptor.rawValue, position), start != MAP_FAILED
        else {
            let code = Errno(rawValue: errno)
            throw .io(operation: "map \(path)", code: code.rawValue, reason: code.description)
        }
        return UnsafeMutableRawBufferPointer(start: start, count: count)
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

    /// A block device has its length where a file has its end, and says 0 in its status.
    private static func identity(
        of descriptor: FileDescriptor, path: FilePath
    ) throws(DecryptionError) -> FileIdentity {
        var status = stat()
        _ = try SystemCall.retrying("stat \(path)") { Int(fstat(descriptor.rawValue, &status)) }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return FileIdentity(status, byteCount: UInt64(status.st_size))
        case S_IFBLK:
            let byteCount = try SystemCall.check("seek \(path)") { try descriptor.seek(offset: 0, from: .end) }
            return FileIdentity(status, byteCount: UInt64(byteCount))
        case S_IFDIR:
            throw .io(operation: "open \(path)", code: EISDIR, reason: "it is a directory")
        default:
            throw .io(
                operation: "open \(path)", code: ESPIPE,
                reason: "it is a pipe or device: expected a file that can be read at any offset")
        }
    }
}

extension FileSource {
    /// The longest write that is looked for, in seconds.
    private static let writeSeconds = 2.0
    /// The longest step of a file system's clock, in seconds: ten milliseconds on kernels with 100 ticks, doubled.
    private static let stepSeconds = 0.02

    /// Finds out whether bytes that are read from now on are of one version for as long as the file's times stay what they
    /// were when it was opened.
    ///
    /// A lease tells that nobody has the file open for writing. Where there is none to be had, two seconds without a change
    /// have to do: a write that takes longer is not noticed.
    /// - Parameter now: The time, in seconds since 1970.
    /// - Returns: `false` where a write may have begun before and still go on, or one that begins now may give the file the
    ///   same times.
    package func canBePinned(now: Double = FileIdentity.now) -> Bool {
        Self.isSettled(opened, descriptor, now: now) && opened.age(at: now) >= Self.stepSeconds
    }

    private static func isSettled(_ identity: FileIdentity, _ descriptor: FileDescriptor, now: Double) -> Bool {
        identity.age(at: now) >= writeSeconds || chunkwise_has_no_writer(descriptor.rawValue)
    }

    /// The version of a file that no write changes any more that had begun before.
    ///
    /// - Parameters:
    ///   - descriptor: The file.
    ///   - path: What errors call it.
    ///   - now: Returns the time, in seconds since 1970.
    ///   - pause: Waits for the hundredth part of the time that a write may take.
    /// - Returns: The version.
    /// - Throws: `DecryptionError.io` also if it changes all the time.
    package static func settledIdentity(
        of descriptor: FileDescriptor, path: FilePath, now: () -> Double = { FileIdentity.now },
        pause: () -> Void = { usleep(UInt32(writeSeconds * 10_000)) }
    ) throws(DecryptionError) -> FileIdentity {
        let first = try identity(of: descriptor, path: path)
        // Before the lease: what begins after it gives the file other times than these.
        var last = first
        for _ in 0..<100 {
            if isSettled(last, descriptor, now: now()) { return last }
            pause()
            last = try identity(of: descriptor, path: path)
        }
        // The clock that the times are from may be another one than ours.
        guard last == first else {
            throw .io(
                operation: "open \(path)", code: 0,
                reason: "it is being written: expected a file that does not change while it is read")
        }
        return last
    }
}

/// What is in memory of a file: reading fails rather than wait for a disk.
package struct PageCacheSource: WrappingSource {
    private let file: FileSource
    /// The file.
    package var base: any ByteSource { file }

    /// Looks at an open file.
    package init(_ file: FileSource) { self.file = file }

    /// Reads bytes; see `ByteSource.read(at:into:)`.
    package func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        try file.readAtOnce(at: offset, into: buffers)
    }

    /// Nothing is read ahead.
    package func adviseSequential(_ range: Range<UInt64>) {}
}

/// Which file, and which version of it, a descriptor stands for: another identity for other bytes.
package struct FileIdentity: Hashable, Sendable {
    /// The device that the file is on.
    package var device: UInt64
    /// The file's number on that device.
    package var node: UInt64
    /// The file's length in bytes.
    package var byteCount: UInt64
    /// When its bytes were changed last, in seconds since 1970.
    package var modifiedSeconds: Int64
    /// The rest of that time, in nanoseconds. The system counts in steps, of some milliseconds on many kernels: two
    /// changes within a step look like one.
    package var modifiedNanoseconds: Int64
    /// When its bytes, or what the system says about it, were changed last, in seconds since 1970; no program can set it.
    package var changedSeconds: Int64
    /// The rest of that time, in nanoseconds.
    package var changedNanoseconds: Int64

    init(_ status: stat, byteCount: UInt64) {
        device = UInt64(status.st_dev)
        node = UInt64(status.st_ino)
        self.byteCount = byteCount
        modifiedSeconds = Int64(status.st_mtim.tv_sec)
        modifiedNanoseconds = Int64(status.st_mtim.tv_nsec)
        changedSeconds = Int64(status.st_ctim.tv_sec)
        changedNanoseconds = Int64(status.st_ctim.tv_nsec)
    }

    /// The time, in seconds since 1970, by the clock that files have their times from.
    package static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// The seconds since it was changed last; less than 0 where another clock is ahead.
    func age(at now: Double) -> Double { now - Double(changedSeconds) - Double(changedNanoseconds) / 1e9 }
}

extension FileIdentity {
    /// Finds out which version of a file is there; `nil` if there is none, or it cannot be looked at. The corresponding C
    /// function is `fstatat`.
    ///
    /// - Parameters:
    ///   - path: The file's path.
    ///   - folder: The descriptor of the folder that a relative path starts from.
    ///   - followsLinks: Whether the file that a link names is meant, and not the link.
    package init?(ofFile path: String, in folder: Int32 = AT_FDCWD, followsLinks: Bool = true) {
        var status = stat()
        guard fstatat(folder, path, &status, followsLinks ? 0 : AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
        self.init(status, byteCount: UInt64(clamping: status.st_size))
    }
}

extension FileIdentity: CustomStringConvertible {
    /// All of it in a line: equal for equal identities only.
    package var description: String {
        "\(byteCount) bytes, device \(device), inode \(node), modified \(modifiedSeconds).\(modifiedNanoseconds), "
            + "changed \(changedSeconds).\(changedNanoseconds)"
    }
}
