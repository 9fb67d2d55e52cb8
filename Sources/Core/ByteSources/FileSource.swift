import CLinux
import Glibc
public import RandomAccess
public import SystemPackage

/// A file that is read with `pread`, so that any number of threads can share one descriptor.
public final class FileSource: ByteSource {
    /// The file's length in bytes when it was opened.
    public let byteCount: UInt64

    /// The path that errors name.
    let path: FilePath

    private let descriptor: FileDescriptor
    /// The file and its version when it was opened.
    package let opened: FileIdentity

    /// Opens a file for reading. Waits up to two seconds for other programs to stop writing to it.
    ///
    /// - Throws: `DecryptionError.io` if the file cannot be opened, cannot be read at an offset (a directory, a pipe),
    ///   or is still changing after the wait.
    public convenience init(path: FilePath) throws(DecryptionError) { try self.init(path: path, waits: true) }

    /// Opens a file for reading.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - waits: True to wait, as ``init(path:)`` does; false for a file that this process writes itself.
    /// - Throws: `DecryptionError.io`; see ``init(path:)``.
    package convenience init(path: FilePath, waits: Bool) throws(DecryptionError) {
        let descriptor = try SystemCall.check("open \(path)") {
            // Without `nonBlocking`, opening a pipe blocks until a program writes to it. Files and disks ignore the
            // flag.
            try FileDescriptor.open(path, .readOnly, options: [.closeOnExec, .nonBlocking])
        }
        try self.init(adopting: descriptor, path: path, waits: waits)
    }

    /// Takes over an open file. The descriptor is closed with this source, or at once if this fails.
    ///
    /// - Parameters:
    ///   - descriptor: The file, open for reading.
    ///   - path: The name of the file in errors.
    ///   - waits: True to wait, as ``init(path:)`` does.
    /// - Throws: `DecryptionError.io` if the file cannot be read at an offset, or is still changing.
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

    /// Returns the file's current version. The corresponding C functions are `fstat`, and `lseek` for the length,
    /// because `fstat` reports no length of a block device.
    ///
    /// - Throws: `DecryptionError.io`.
    package func identity() throws(DecryptionError) -> FileIdentity {
        try Self.identity(of: descriptor, path: path)
    }

    /// The identity, the length and the times of the file when it was opened.
    public var openedVersion: String { "\(opened)" }

    /// Fails unless the file, its length and its times are those of the opened version. The corresponding C function is
    /// `fstat`.
    ///
    /// A write sets the times when it begins, before it changes a byte. So bytes that were read before a successful
    /// check are of the opened version, with two exceptions. A write may have begun before the file was opened
    /// (`canBePinned(now:)` finds out). Or two writes may fall within one step of the file system's clock.
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

    /// Tells the system that the file is read in order. The system then reads further ahead, while earlier bytes are
    /// decrypted. The corresponding C function is `posix_fadvise` with `POSIX_FADV_SEQUENTIAL`.
    public func adviseSequential(_ range: Range<UInt64>) {
        // Linux applies it to the whole file in any case. The result is ignored: a file system that takes no advice can
        // still be read.
        _ = posix_fadvise(descriptor.rawValue, 0, 0, POSIX_FADV_SEQUENTIAL)
    }

    /// Returns whether bytes are in memory. It looks at one byte in every 128 KiB, the length that Linux reads ahead at
    /// once. If the file system cannot tell, the answer is `false`. The corresponding C function is `preadv2` with
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

    /// Reads bytes that are in memory, and stops where ``read(at:into:)`` would wait for the disk. The corresponding C
    /// function is `preadv2` with `RWF_NOWAIT`.
    ///
    /// - Throws: `DecryptionError.io` with `EAGAIN` if the first byte is not in memory, or another code if the file
    ///   system cannot tell.
    fileprivate func readAtOnce(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        guard let position = Int64(exactly: offset) else { return 0 }
        let buffer = buffers.head.count > 0 ? buffers.head : buffers.body.count > 0 ? buffers.body : buffers.tail
        return try SystemCall.retrying("read \(path)") {
            chunkwise_read_at_once(descriptor.rawValue, buffer.baseAddress, buffer.count, position)
        }
    }

    /// Maps pages for reading; the caller unmaps them. The corresponding C function is `mmap`.
    ///
    /// - Parameters:
    ///   - offset: A multiple of the page size.
    ///   - count: The number of bytes, more than 0.
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

    /// The length of a block device is its end: its status says 0.
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
    /// The longest write that the check waits for, in seconds.
    private static let writeSeconds = 2.0
    /// The longest step of a file system's clock, in seconds: ten milliseconds on kernels with 100 ticks, doubled.
    private static let stepSeconds = 0.02

    /// Returns whether bytes that are read from now on are of one version as long as the file's times do not change.
    ///
    /// A lease tells that no program has the file open for writing. If the system grants no lease, two seconds without
    /// a change must do; a longer write goes unnoticed.
    /// - Parameter now: The time, in seconds since 1970.
    /// - Returns: `false` if an earlier write may still be under way, or if a write that begins now may give the file
    ///   the same times.
    package func canBePinned(now: Double = FileIdentity.now) -> Bool {
        Self.isSettled(opened, descriptor, now: now) && opened.age(at: now) >= Self.stepSeconds
    }

    private static func isSettled(_ identity: FileIdentity, _ descriptor: FileDescriptor, now: Double) -> Bool {
        identity.age(at: now) >= writeSeconds || chunkwise_has_no_writer(descriptor.rawValue)
    }

    /// Waits until no earlier write changes a file any more, and returns the file's version.
    ///
    /// - Parameters:
    ///   - descriptor: The file.
    ///   - path: The name of the file in errors.
    ///   - now: Returns the time, in seconds since 1970.
    ///   - pause: Waits for a hundredth of the time that a write may take.
    /// - Returns: The version.
    /// - Throws: `DecryptionError.io`, also if the file changes all the time.
    package static func settledIdentity(
        of descriptor: FileDescriptor, path: FilePath, now: () -> Double = { FileIdentity.now },
        pause: () -> Void = { usleep(UInt32(writeSeconds * 10_000)) }
    ) throws(DecryptionError) -> FileIdentity {
        let first = try identity(of: descriptor, path: path)
        // The version comes before the lease: a write that begins after the lease changes the times.
        var last = first
        for _ in 0..<100 {
            if isSettled(last, descriptor, now: now()) { return last }
            pause()
            last = try identity(of: descriptor, path: path)
        }
        // The clock behind the file's times may differ from ours.
        guard last == first else {
            throw .io(
                operation: "open \(path)", code: 0,
                reason: "it is being written: expected a file that does not change while it is read")
        }
        return last
    }
}

/// The part of a file that is in memory: reads fail rather than wait for a disk.
package struct PageCacheSource: WrappingSource {
    private let file: FileSource
    /// The file.
    package var base: any ByteSource { file }

    /// A source over an open file.
    package init(_ file: FileSource) { self.file = file }

    /// Reads bytes; see `ByteSource.read(at:into:)`.
    package func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        try file.readAtOnce(at: offset, into: buffers)
    }

    /// Does nothing: this source never reads ahead.
    package func adviseSequential(_ range: Range<UInt64>) {}
}

/// The identity of a file and of its version; different bytes have different identities.
package struct FileIdentity: Hashable, Sendable {
    /// The device that the file is on.
    package var device: UInt64
    /// The file's inode number on that device.
    package var node: UInt64
    /// The file's length in bytes.
    package var byteCount: UInt64
    /// The seconds since 1970 at which the file's bytes were last changed.
    package var modifiedSeconds: Int64
    /// The rest of that time, in nanoseconds. On many kernels the clock moves in steps of some milliseconds: two
    /// changes within a step look like one.
    package var modifiedNanoseconds: Int64
    /// The seconds since 1970 at which the file's bytes or its metadata were last changed; no program can set it.
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

    /// The time, in seconds since 1970, on the clock that stamps files.
    package static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// The seconds since the last change; negative if another clock is ahead.
    func age(at now: Double) -> Double { now - Double(changedSeconds) - Double(changedNanoseconds) / 1e9 }
}

extension FileIdentity {
    /// Looks up the version of a file; `nil` if the file does not exist or cannot be examined. The corresponding C
    /// function is `fstatat`.
    ///
    /// - Parameters:
    ///   - path: The file's path.
    ///   - folder: The descriptor of the folder that a relative path starts from.
    ///   - followsLinks: True to examine the target of a link instead of the link.
    package init?(ofFile path: String, in folder: Int32 = AT_FDCWD, followsLinks: Bool = true) {
        var status = stat()
        guard fstatat(folder, path, &status, followsLinks ? 0 : AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
        self.init(status, byteCount: UInt64(clamping: status.st_size))
    }
}

extension FileIdentity: CustomStringConvertible {
    /// The whole identity in one line: equal for equal identities only.
    package var description: String {
        "\(byteCount) bytes, device \(device), inode \(node), modified \(modifiedSeconds).\(modifiedNanoseconds), "
            + "changed \(changedSeconds).\(changedNanoseconds)"
    }
}
