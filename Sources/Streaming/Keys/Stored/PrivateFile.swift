import ByteSources
import Glibc
import HLS
import RandomAccess
import SystemPackage

/// Files that only their owner may open.
enum PrivateFile {
    /// Checks that others have no access to a folder.
    ///
    /// - Parameters:
    ///   - path: The folder.
    ///   - isStrict: True if permissions for others are an error.
    ///   - warn: Called with a warning otherwise.
    /// - Throws: `DecryptionError.io`, `.openToOthers`.
    static func checkFolder(
        _ path: FilePath, isStrict: Bool, warn: (KeyWarning) -> Void
    ) throws(DecryptionError) {
        var status = stat()
        _ = try SystemCall.retrying("open key folder \(path)") {
            Int(path.withPlatformString { name in stat(name, &status) })
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw .io(operation: "open key folder \(path)", code: ENOTDIR, reason: "it is no folder")
        }
        let permissions = UInt32(status.st_mode) & 0o777
        guard permissions & 0o077 != 0 else { return }
        guard !isStrict else {
            throw .openToOthers(path: "key folder \(path)", permissions: permissions, expected: 0o700)
        }
        warn(.folderOpenToOthers(path: path.string, permissions: permissions))
    }

    /// Reads a small file.
    ///
    /// - Parameters:
    ///   - path: The file; a link is not followed.
    ///   - maximum: The max number of bytes.
    ///   - isStrict: True if permissions for others are an error.
    ///   - warn: Called with a warning otherwise.
    /// - Returns: The file's bytes; `nil` if it does not exist; an empty array if it is not a regular file, or too
    ///   long.
    /// - Throws: `DecryptionError.io`, `.openToOthers`.
    static func read(
        _ path: FilePath, maximum: Int, isStrict: Bool, warn: (KeyWarning) -> Void
    ) throws(DecryptionError) -> [UInt8]? {
        let descriptor: FileDescriptor
        do throws(DecryptionError) {
            descriptor = try SystemCall.check("open \(path)") {
                try FileDescriptor.open(path, .readOnly, options: [.closeOnExec, .nonBlocking, .noFollow])
            }
        } catch {
            if case .io(_, ENOENT, _) = error { return nil }
            if case .io(_, ELOOP, _) = error { return [] }
            throw error
        }
        defer { try? descriptor.close() }
        var status = stat()
        _ = try SystemCall.retrying("stat \(path)") { Int(fstat(descriptor.rawValue, &status)) }
        guard status.st_mode & S_IFMT == S_IFREG else { return [] }
        let permissions = UInt32(status.st_mode) & 0o777
        if permissions & 0o077 != 0 {
            guard !isStrict else {
                throw .openToOthers(path: "key file \(path)", permissions: permissions, expected: 0o600)
            }
            warn(.readableByOthers(path: path.string, permissions: permissions))
        }
        guard status.st_size <= maximum else { return [] }
        var bytes: [UInt8] = []
        while bytes.count <= maximum {
            let part = try SystemCall.check("read \(path)") {
                try withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 16) { buffer in
                    Array(buffer[..<(try descriptor.read(into: buffer))])
                }
            }
            guard !part.isEmpty else { return bytes }
            bytes += part
        }
        return []
    }

    /// Makes changes to a folder's names durable. The corresponding C function is `fsync`.
    ///
    /// - Throws: `DecryptionError.io`.
    static func sync(folder: FilePath) throws(DecryptionError) {
        let descriptor = try SystemCall.check("open key folder \(folder)") {
            try FileDescriptor.open(folder, .readOnly, options: [.closeOnExec, .directory])
        }
        defer { try? descriptor.close() }
        _ = try SystemCall.retrying("sync key folder \(folder)") { Int(fsync(descriptor.rawValue)) }
    }
}

/// A file that will be erased. It is held open, so that it can be overwritten after another file took its name.
///
/// Some file systems and disks write elsewhere than over the old bytes, and keep those for a while. That is why nothing
/// is stored unsealed.
struct SecureEraser: ~Copyable {
    private let path: FilePath
    private let descriptor: FileDescriptor?

    /// Opens the file for writing. If that fails, there is nothing to overwrite.
    init(_ path: FilePath) {
        self.path = path
        descriptor = try? FileDescriptor.open(path, .writeOnly, options: [.closeOnExec, .nonBlocking, .noFollow])
    }

    deinit {
        try? descriptor?.close()
    }

    /// Overwrites the file with zeros and syncs it. The corresponding C functions are `pwrite` and `fsync`.
    ///
    /// - Throws: `DecryptionError.io`.
    func overwrite() throws(DecryptionError) {
        guard let descriptor else { return }
        var status = stat()
        _ = try SystemCall.retrying("stat \(path)") { Int(fstat(descriptor.rawValue, &status)) }
        guard status.st_mode & S_IFMT == S_IFREG else { return }
        let zeros = [UInt8](repeating: 0, count: 4096)
        var done: Int64 = 0
        while done < status.st_size {
            let count = Int(min(Int64(zeros.count), Int64(status.st_size) - done))
            _ = try SystemCall.check("overwrite \(path)") {
                try descriptor.writeAll(toAbsoluteOffset: done, zeros[..<count])
            }
            done += Int64(count)
        }
        _ = try SystemCall.retrying("overwrite \(path)") { Int(fsync(descriptor.rawValue)) }
    }

    /// Overwrites the file and removes its name. A missing file is not an error. The corresponding C function is
    /// `unlink`.
    ///
    /// - Throws: `DecryptionError.io`.
    func erase() throws(DecryptionError) {
        try overwrite()
        let result = path.withPlatformString { name in unlink(name) }
        if result < 0, errno != ENOENT { throw SystemCall.failure("remove \(path)") }
    }
}
