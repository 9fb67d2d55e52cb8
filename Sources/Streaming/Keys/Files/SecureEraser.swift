internal import ByteSources
import Glibc
import RandomAccess
import SystemPackage

/// A file that is to be erased: it is held open, so that it can be overwritten after it lost its name to another one.
///
/// File systems that write elsewhere than over what was there, and disks that do so by themselves, keep the old bytes
/// for a while all the same. That is why nothing is stored unsealed.
struct SecureEraser: ~Copyable {
    private let path: FilePath
    private let descriptor: FileDescriptor?

    /// Opens the file; what is none, or cannot be opened for writing, has nothing to overwrite.
    init(_ path: FilePath) {
        self.path = path
        descriptor = try? FileDescriptor.open(path, .writeOnly, options: [.closeOnExec, .nonBlocking, .noFollow])
    }

    deinit {
        try? descriptor?.close()
    }

    /// Overwrites the file with zeros, to the disk. The corresponding C functions are `pwrite` and `fsync`.
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

    /// Overwrites the file and removes its name; one that is not there is no error. The corresponding C function is
    /// `unlink`.
    ///
    /// - Throws: `DecryptionError.io`.
    func erase() throws(DecryptionError) {
        try overwrite()
        let result = path.withPlatformString { name in unlink(name) }
        if result < 0, errno != ENOENT { _ = try SystemCall.retrying("remove \(path)") { -1 } }
    }
}
