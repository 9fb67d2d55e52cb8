import Glibc
package import RandomAccess
import Support
import Synchronization
package import SystemPackage

/// A file to which the program appends whole lines: a line is in it with its end, on the disk, or not at all.
///
/// A regular file belongs to one process at a time. The log cuts off what a killed process or a full disk left of a
/// line. A pipe or the standard error cannot be cut; there, the next line begins with a line break.
package final class LineLog: Sendable {
    private let path: FilePath
    private let descriptor: FileDescriptor
    /// True if the descriptor is closed with the log.
    private let isOpened: Bool
    /// True if the file belongs to this process, which may then cut it.
    private let isOwned: Bool
    /// True if the last line has no end. The lock also lets one thread write at a time.
    private let isTorn: Mutex<Bool>

    /// Opens or creates a file, and locks it if it is a regular one.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - permissions: The permissions of a file that is created.
    /// - Throws: `DecryptionError.io`, also if another process writes to the file.
    package init(
        path: FilePath, permissions: FilePermissions = [.ownerReadWrite, .groupRead, .otherRead]
    ) throws(DecryptionError) {
        let descriptor = try Self.open(path, permissions)
        // `deinit` does not run for an instance whose `init` threw, and the lock would stay.
        do throws(DecryptionError) {
            isOwned = try Self.status(descriptor, path).isRegular
            if isOwned { try Self.lock(descriptor, path: path) }
        } catch {
            try? descriptor.close()
            throw error
        }
        isOpened = true
        isTorn = Mutex(false)
        self.path = path
        self.descriptor = descriptor
    }

    /// Writes to an open stream to which other code may write as well.
    ///
    /// - Parameters:
    ///   - stream: The stream, which stays open.
    ///   - name: The name of the stream in errors.
    package init(stream: FileDescriptor, name: String) {
        (path, descriptor, isOpened, isOwned) = (FilePath(name), stream, false, false)
        isTorn = Mutex(Self.endsWithinLine(stream))
    }

    /// Returns whether a stream leads to a file in which an earlier process left a partial line.
    private static func endsWithinLine(_ stream: FileDescriptor) -> Bool {
        guard let status = try? status(stream, ""), status.isRegular, status.byteCount > 0 else { return false }
        // The stream itself may not be readable.
        guard
            let file = try? FileDescriptor.open(
                FilePath("/proc/self/fd/\(stream.rawValue)"), .readOnly, options: .closeOnExec)
        else { return true }
        defer { try? file.close() }
        var last: UInt8 = 0
        let count = try? withUnsafeMutableBytes(of: &last) {
            try file.read(fromAbsoluteOffset: status.byteCount - 1, into: $0)
        }
        return count != 1 || last != UInt8(ascii: "\n")
    }

    deinit {
        if isOpened { try? descriptor.close() }
    }

    /// Returns the content of the file; empty if it is not a regular file.
    ///
    /// - Throws: `DecryptionError.io`.
    package func earlierBytes() throws(DecryptionError) -> [UInt8] {
        guard isOwned else { return [] }
        _ = try SystemCall.check("seek \(path)") { try descriptor.seek(offset: 0, from: .start) }
        return try descriptor.readToEnd(path)
    }

    /// Removes everything after the first bytes of ``earlierBytes()``: a line that a killed process left incomplete.
    ///
    /// - Throws: `DecryptionError.io`.
    package func keep(firstByteCount: Int) throws(DecryptionError) {
        guard isOwned else { return }
        try SystemCall.check("truncate \(path)") { try descriptor.resize(to: Int64(firstByteCount)) }
    }

    /// Removes everything after the last line break, however long the file is.
    ///
    /// - Throws: `DecryptionError.io`.
    package func keepWholeLines() throws(DecryptionError) {
        guard isOwned else { return }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
        defer { buffer.deallocate() }
        let count = try Self.status(descriptor, path).byteCount
        var end = count
        while end > 0 {
            let start = max(0, end - Int64(buffer.count))
            let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(end - start)])
            let read = try SystemCall.check("read \(path)") {
                try descriptor.read(fromAbsoluteOffset: start, into: part)
            }
            if let lineBreak = part[..<read].lastIndex(of: UInt8(ascii: "\n")) {
                end = start + Int64(lineBreak) + 1
                break
            }
            end = start
        }
        guard end < count else { return }
        try SystemCall.check("truncate \(path)") { try descriptor.resize(to: end) }
    }

    /// Appends lines; when this returns, they are on the disk. May be called on any thread. The corresponding C
    /// functions are `write` and `fdatasync`.
    ///
    /// - Parameter lines: One line or several, with their line feeds. Either all of them are written, or none.
    /// - Throws: `DecryptionError.io`.
    package func append(_ lines: [UInt8]) throws(DecryptionError) {
        try isTorn.withLock { (isTorn) throws(DecryptionError) in try write(lines, isTorn: &isTorn) }
        // Outside the lock, so that the system can flush the lines of several threads at once.
        try SystemCall.sync("write to \(path)") { fdatasync(descriptor.rawValue) }
    }

    private func write(_ lines: [UInt8], isTorn: inout Bool) throws(DecryptionError) {
        // Looked up each time, because log rotation may have cut the file.
        let status = isOwned ? try Self.status(descriptor, path) : (isRegular: false, byteCount: 0, hasName: true)
        guard status.hasName else {
            throw .io(
                operation: "write to \(path)", code: ENOENT, reason: "it was removed, and lines in it would be lost")
        }
        let end = status.byteCount
        let bytes = isTorn ? [UInt8(ascii: "\n")] + lines : lines
        var written = 0
        do throws(DecryptionError) {
            while written < bytes.count {
                written += try SystemCall.retrying("write to \(path)") {
                    let count = bytes[written...].withUnsafeBytes {
                        Glibc.write(descriptor.rawValue, $0.baseAddress, $0.count)
                    }
                    guard count < 0, errno == EAGAIN else { return count }
                    ProcessStart.waitUntilReady(descriptor.rawValue, toWrite: true)
                    return 0
                }
            }
            isTorn = false
        } catch {
            let isCut = isOwned && (try? descriptor.resize(to: end)) != nil
            if written > 0, !isCut { isTorn = bytes[written - 1] != UInt8(ascii: "\n") }
            throw error
        }
    }

    private static func open(_ path: FilePath, _ permissions: FilePermissions) throws(DecryptionError) -> FileDescriptor
    {
        var status = stat()
        let isFound = path.withPlatformString { stat($0, &status) } == 0
        // If this process also opened a pipe for reading, the pipe would accept lines that no program reads.
        let isReadable = !isFound || status.st_mode & S_IFMT == S_IFREG
        return try SystemCall.check("open \(path)") {
            try FileDescriptor.open(
                path, isReadable ? .readWrite : .writeOnly, options: [.create, .append, .closeOnExec],
                permissions: permissions)
        }
    }

    private static func status(
        _ descriptor: FileDescriptor, _ path: FilePath
    ) throws(DecryptionError) -> (isRegular: Bool, byteCount: Int64, hasName: Bool) {
        var status = stat()
        _ = try SystemCall.retrying("stat \(path)") { Int(fstat(descriptor.rawValue, &status)) }
        return (status.st_mode & S_IFMT == S_IFREG, Int64(status.st_size), status.st_nlink > 0)
    }

    /// Takes a lock that the system holds until the descriptor is closed, even if the process is killed.
    private static func lock(_ descriptor: FileDescriptor, path: FilePath) throws(DecryptionError) {
        // A child process that is being started holds the descriptor for a moment.
        for _ in 0..<50 {
            if flock(descriptor.rawValue, LOCK_EX | LOCK_NB) == 0 { return }
            guard errno == EWOULDBLOCK || errno == EINTR else {
                throw SystemCall.failure("lock \(path)")
            }
            usleep(10_000)
        }
        throw .io(
            operation: "lock \(path)", code: 0,
            reason: "another run writes to it: expected it to be finished, or another output")
    }
}
