import Glibc
package import RandomAccess
import Synchronization
package import SystemPackage

/// A file that appears under its name only when it is complete.
///
/// Where the file system can, the bytes go to a file without a name (`O_TMPFILE`), of which nothing is left if the
/// process is killed; elsewhere to a hidden one beside the output, which is removed unless the process is killed.
package final class FileSink: ByteSink {
    /// Bytes may come in any order.
    package let isSeekable = true

    private let path: FilePath
    private let descriptor: FileDescriptor
    /// The hidden file, until it is handed on; `nil` for a file without a name.
    private let hiddenPath: Mutex<FilePath?>

    /// Creates the file.
    ///
    /// - Parameters:
    ///   - path: The final name; a file that has it now stays until ``commit()``.
    ///   - isSecret: Whether only its owner may read it, whatever file it replaces.
    ///   - prefersUnnamed: Whether to use a file without a name where there are such.
    /// - Throws: `DecryptionError.io` if the folder does not exist or cannot be written to.
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

    /// A file that is replaced keeps its permissions, since who may not read it now may not read the new one; a new one
    /// has those of any file of this user.
    private func permissions() -> mode_t {
        var status = stat()
        if stat(path.string, &status) == 0 { return status.st_mode & 0o777 }
        return 0o666 & ~Self.mask
    }

    /// The permissions that new files of this user lack. Asked for once: to ask is to set, and of two threads that ask at
    /// the same time, one would be told what the other has set.
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

    /// Does all of ``commit()`` that may fail for want of space: of several files, none is replaced before all are there.
    ///
    /// The corresponding C functions are `fsync` and `linkat`.
    /// - Returns: The complete file under a hidden name; it goes unless it is renamed.
    package func prepare() throws(DecryptionError) -> PreparedFile {
        // Some file systems notice a full disk only now.
        _ = try SystemCall.retrying("write to \(path)") { Int(fsync(descriptor.rawValue)) }
        let hidden = hiddenPath.withLock { hidden in
            defer { hidden = nil }
            return hidden
        }
        let temporary = if let hidden { hidden } else { try link() }
        return PreparedFile(hiddenPath: temporary, path: path)
    }

    /// Gives a file without a name a hidden one: `linkat` replaces nothing, which `rename` does.
    private func link() throws(DecryptionError) -> FilePath {
        try FileSink.withFreeName(beside: path) { hidden in
            let source = "/proc/self/fd/\(descriptor.rawValue)"
            guard linkat(AT_FDCWD, source, AT_FDCWD, hidden.string, AT_SYMLINK_FOLLOW) == 0 else {
                throw Errno(rawValue: errno)
            }
        }.0
    }

    /// Tries hidden names beside a path until one is free: many files may be prepared at once.
    ///
    /// The names do not grow with the path's, which may be as long as the file system allows.
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

    /// `nil` where the file system or the platform has no such files, or a name will do as well to say what is wrong.
    private static func openUnnamed(in folder: FilePath) -> FileDescriptor? {
        // O_TMPFILE; the header's macro is too complex for Swift. Source: open(2), asm-generic/fcntl.h.
        let unnamed: Int32 = 0o20000000 | O_DIRECTORY
        let folder = folder.isEmpty ? "." : folder.string
        let descriptor = open(folder, unnamed | O_WRONLY | O_CLOEXEC, 0o600)
        return descriptor >= 0 ? FileDescriptor(rawValue: descriptor) : nil
    }
}

/// A complete file that waits under a hidden name for its own.
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

    /// Gives the file its name, in place of one that has it. The corresponding C function is `rename`.
    package func rename() throws(DecryptionError) {
        let (old, new) = (hiddenPath.string, path.string)
        _ = try SystemCall.retrying("create \(path)") { Int(systemRename(old, new)) }
        isRenamed = true
        // The name is on the disk when the folder is. Some file systems cannot be asked for that.
        let folder = path.removingLastComponent()
        let descriptor = open(folder.isEmpty ? "." : folder.string, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        try SystemCall.sync("write to folder \(folder)") { fsync(descriptor) }
    }
}

/// The C function, which a method of the same name hides.
private func systemRename(_ old: String, _ new: String) -> Int32 { rename(old, new) }
