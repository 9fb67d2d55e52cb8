internal import ByteSources
package import RandomAccess
package import SystemPackage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A file that appears under its name only when it is complete.
///
/// Where the file system can, the bytes go to a file without a name (`O_TMPFILE`), of which nothing is left if the
/// process is killed; elsewhere to a hidden one beside the output, which is removed unless the process is killed.
package final class FileSink: ByteSink {
    /// Bytes may come in any order.
    package let isSeekable = true

    private let path: FilePath
    private let descriptor: FileDescriptor
    /// The hidden file, until it has its final name; `nil` for a file without a name.
    private let temporaryPath: FilePath
    private let isUnnamed: Bool

    /// Creates the file.
    ///
    /// - Parameter path: The final name; a file that has it now stays until ``commit()``.
    /// - Throws: `DecryptionError.io` if the folder does not exist or cannot be written to.
    package init(path: FilePath) throws(DecryptionError) {
        guard let name = path.lastComponent else {
            throw .io(operation: "create \(path)", code: EISDIR, reason: "it is a directory")
        }
        self.path = path
        let folder = path.removingLastComponent()
        self.temporaryPath = folder.appending(".\(name.string).\(getpid()).partial")
        if let descriptor = FileSink.openUnnamed(in: folder) {
            self.descriptor = descriptor
            self.isUnnamed = true
        } else {
            let temporary = temporaryPath
            self.descriptor = try SystemCall.check("create \(path)") {
                try FileDescriptor.open(
                    temporary, .writeOnly, options: [.create, .exclusiveCreate, .closeOnExec],
                    permissions: [.ownerReadWrite, .groupReadWrite, .otherReadWrite])
            }
            self.isUnnamed = false
        }
    }

    deinit {
        try? descriptor.close()
        // Gone if it got its final name, or never had one.
        if !isUnnamed { unlink(temporaryPath.string) }
    }

    /// Writes all bytes. The corresponding C function is `pwrite`.
    package func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(DecryptionError) {
        _ = try SystemCall.check("write to \(path)") {
            try descriptor.writeAll(toAbsoluteOffset: Int64(offset), bytes)
        }
    }

    /// Gives the file its name. The corresponding C functions are `fsync`, `linkat` and `rename`.
    package func commit() throws(DecryptionError) {
        // Some file systems notice a full disk only now.
        _ = try SystemCall.retrying("write to \(path)") { Int(fsync(descriptor.rawValue)) }
        if isUnnamed {
            _ = try SystemCall.retrying("create \(path)") {
                Int(
                    linkat(
                        AT_FDCWD, "/proc/self/fd/\(descriptor.rawValue)", AT_FDCWD, temporaryPath.string,
                        AT_SYMLINK_FOLLOW))
            }
        }
        do {
            _ = try SystemCall.retrying("create \(path)") { Int(rename(temporaryPath.string, path.string)) }
        } catch {
            unlink(temporaryPath.string)
            throw error
        }
    }

    /// `nil` where the file system or the platform has no such files, or a name will do as well to say what is wrong.
    private static func openUnnamed(in folder: FilePath) -> FileDescriptor? {
        // O_TMPFILE; the header's macro is too complex for Swift. Source: open(2), asm-generic/fcntl.h.
        let unnamed: Int32 = 0o20000000 | O_DIRECTORY
        let folder = folder.isEmpty ? "." : folder.string
        let descriptor = open(folder, unnamed | O_WRONLY | O_CLOEXEC, 0o666)
        return descriptor >= 0 ? FileDescriptor(rawValue: descriptor) : nil
    }
}
