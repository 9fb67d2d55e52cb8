import Glibc
package import RandomAccess
import Synchronization
package import SystemPackage

/// A file that gets its name only when it is complete.
///
/// If the file system supports it, the bytes go to a file without a name (`O_TMPFILE`), which vanishes if the process
/// is killed. Otherwise they go to a hidden file beside the output, which stays behind only if the process is killed.
package final class FileSink: ByteSink {
    /// Bytes may come in any order.
    package let isSeekable = true

    private let path: FilePath
    private let descriptor: FileDescriptor
    /// The hidden file, until its owner takes it over; `nil` for a file without a name.
    private let hiddenPath: Mutex<FilePath?>

    /// A sink with a new file.
    ///
    /// - Parameters:
    ///   - path: The final name; an existing file of that name stays until ``commit()``.
    ///   - isSecret: True if only the owner may read the file, whatever file it replaces.
    ///   - prefersUnnamed: True to use a file without a name if the file system supports it.
    /// - Throws: `DecryptionError.io` if the folder does not exist or is not writable.
    package init(
        path: FilePath, isSecret: Bool = false, prefersUnnamed: Bool = true
    ) throws(DecryptionError) {
        guard path.lastComponent != nil else {
            throw .io(operation: "create \(path)", code: EISDIR, reason: "it is a directory")
        }
        self.path = path
        if prefersUnnamed, let descriptor = FileSink.openUnnamed(in: path.removingLastComponent()) {
            self.descriptor = descriptor
            self.hiddenPath = Mutex(nil)
        } else {
            let (hidden, descriptor) = try FileSink.withFreeName(beside: path) { hidden in
                try FileDescriptor.open(
                    hidden, .writeOnly, options: [.create, .exclusiveCreate, .closeOnExec],
                    permissions: .ownerReadWrite)
            }
            self.descriptor = descriptor
            self.hiddenPath = Mutex(hidden)
        }
        guard !isSecret else { return }
        let mode = permissions()
        _ = try SystemCall.retrying("create \(path)") { Int(fchmod(descriptor.rawValue, mode)) }
    }

    /// Returns the permissions of the output. A replaced file keeps its own, so that no other user gains access to the
    /// new content. A new file has the user's default.
    private func permissions() -> mode_t {
        var status = stat()
        if stat(path.string, &status) == 0 { return status.st_mode & 0o777 }
        return 0o666 & ~Self.mask
    }

    /// The permissions that the user's new files lack. They are read once, because reading them also sets them: of two
    /// threads at the same time, one would read what the other has set.
    private static let mask: mode_t = {
        let mask = umask(0o077)
        umask(mask)
        return mask
    }()

    deinit {
        try? descriptor.close()
        if let hidden = hiddenPath.withLock({ $0 }) { unlink(hidden.string) }
    }

    /// Writes all bytes. The corresponding C function is `pwrite`.
    package func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(DecryptionError) {
        _ = try SystemCall.check("write to \(path)") {
            try descriptor.writeAll(toAbsoluteOffset: Int64(offset), bytes)
        }
    }

    /// Gives the file its name. The corresponding C functions are `fsync`, `linkat` and `rename`.
    package func commit() throws(DecryptionError) {
        try prepare().rename()
    }

    /// Does all steps of ``commit()`` that may run out of space. So with several files, all are complete before the
    /// first is replaced.
    ///
    /// The corresponding C functions are `fsync` and `linkat`.
    /// - Returns: The complete file under a hidden name; it is removed unless it is renamed.
    package func prepare() throws(DecryptionError) -> PreparedFile {
        // Some file systems report a full disk only now.
        _ = try SystemCall.retrying("write to \(path)") { Int(fsync(descriptor.rawValue)) }
        let hidden = hiddenPath.withLock { hidden in
            defer { hidden = nil }
            return hidden
        }
        let temporary = if let hidden { hidden } else { try link() }
        return PreparedFile(hiddenPath: temporary, path: path)
    }

    /// Gives a file without a name a hidden one. `linkat` cannot replace a file; the later `rename` can.
    private func link() throws(DecryptionError) -> FilePath {
        try FileSink.withFreeName(beside: path) { hidden in
            let source = "/proc/self/fd/\(descriptor.rawValue)"
            guard linkat(AT_FDCWD, source, AT_FDCWD, hidden.string, AT_SYMLINK_FOLLOW) == 0 else {
                throw Errno(rawValue: errno)
            }
        }.0
    }

    /// Tries hidden names beside a path until one is free, since many files may be prepared at once.
    ///
    /// The names do not grow with the path, which may already have the max length of the file system.
    private static func withFreeName<Value>(
        beside path: FilePath, _ create: (FilePath) throws -> Value
    ) throws(DecryptionError) -> (FilePath, Value) {
        try SystemCall.check("create \(path)") {
            var attempts = 0
            while true {
                let number = String(UInt64.random(in: .min ... .max), radix: 16)
                let name = path.removingLastComponent().appending(".chunkwise-\(getpid())-\(number).partial")
                do {
                    return (name, try create(name))
                } catch Errno.fileExists where attempts < 1000 {
                    attempts += 1
                } catch Errno.interrupted {
                    continue
                }
            }
        }
    }

    /// Opens a file without a name; `nil` if the platform or the file system does not support it, or if opening by name
    /// will give a better error.
    private static func openUnnamed(in folder: FilePath) -> FileDescriptor? {
        // O_TMPFILE; the header's macro is too complex for Swift. Source: open(2), asm-generic/fcntl.h.
        let unnamed: Int32 = 0o20000000 | O_DIRECTORY
        let folder = folder.isEmpty ? "." : folder.string
        let descriptor = open(folder, unnamed | O_WRONLY | O_CLOEXEC, 0o600)
        return descriptor >= 0 ? FileDescriptor(rawValue: descriptor) : nil
    }
}

/// A complete file under a hidden name, ready to get its own.
package final class PreparedFile {
    /// The hidden name.
    let hiddenPath: FilePath
    private let path: FilePath
    private var isRenamed = false

    init(hiddenPath: FilePath, path: FilePath) {
        self.hiddenPath = hiddenPath
        self.path = path
    }

    deinit {
        if !isRenamed { unlink(hiddenPath.string) }
    }

    /// Gives the file its name, and replaces a file of that name. The corresponding C function is `rename`.
    package func rename() throws(DecryptionError) {
        let (old, new) = (hiddenPath.string, path.string)
        _ = try SystemCall.retrying("create \(path)") { Int(systemRename(old, new)) }
        isRenamed = true
        // The name is on the disk once the folder is flushed. Some file systems cannot flush folders.
        let folder = path.removingLastComponent()
        let descriptor = open(folder.isEmpty ? "." : folder.string, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        try SystemCall.sync("write to folder \(folder)") { fsync(descriptor) }
    }
}

/// Calls the C function, which a method of the same name hides.
private func systemRename(_ old: String, _ new: String) -> Int32 { rename(old, new) }
