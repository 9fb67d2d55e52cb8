import ByteSources
import Glibc
package import RandomAccess
package import SystemPackage

/// A file that is dropped from the page cache before each iteration.
final class ColdFile {
    private let path: FilePath
    /// The max number of bytes that the kernel kept in memory, over all iterations.
    private(set) var residentByteCount: UInt64 = 0

    init(path: FilePath) {
        self.path = path
    }

    /// Drops the file from the page cache.
    func drop() throws(DecryptionError) {
        residentByteCount = max(residentByteCount, try PageCache.drop(path))
    }
}

/// The kernel's page cache.
package enum PageCache {
    /// Asks the kernel to drop a file, and measures how much of it stays in memory. Pages that another process has
    /// mapped stay.
    ///
    /// The corresponding C functions are `fdatasync`, since dirty pages cannot be dropped, `posix_fadvise` with
    /// `POSIX_FADV_DONTNEED`, and `mincore`.
    /// - Returns: The number of bytes still in memory, a multiple of the page size.
    /// - Throws: `DecryptionError.io`.
    package static func drop(_ path: FilePath) throws(DecryptionError) -> UInt64 {
        let descriptor = try SystemCall.check("open \(path)") {
            try FileDescriptor.open(path, .readOnly, options: .closeOnExec)
        }
        defer { try? descriptor.close() }
        _ = try SystemCall.retrying("sync \(path)") { Int(fdatasync(descriptor.rawValue)) }
        let byteCount = try SystemCall.check("seek \(path)") { try descriptor.seek(offset: 0, from: .end) }
        let code = posix_fadvise(descriptor.rawValue, 0, 0, POSIX_FADV_DONTNEED)
        guard code == 0 else {
            throw .io(operation: "drop \(path) from memory", code: code, reason: String(cString: strerror(code)))
        }
        return try residentByteCount(descriptor, byteCount: Int(byteCount), path: path)
    }

    private static func residentByteCount(
        _ descriptor: FileDescriptor, byteCount: Int, path: FilePath
    ) throws(DecryptionError) -> UInt64 {
        guard byteCount > 0 else { return 0 }
        let mapping = mmap(nil, byteCount, PROT_READ, MAP_SHARED, descriptor.rawValue, 0)
        guard let mapping, mapping != MAP_FAILED else {
            throw .io(operation: "map \(path)", code: errno, reason: String(cString: strerror(errno)))
        }
        defer { munmap(mapping, byteCount) }
        let pageByteCount = max(1, Int(sysconf(Int32(_SC_PAGESIZE))))
        var pages = [UInt8](repeating: 0, count: (byteCount + pageByteCount - 1) / pageByteCount)
        _ = try SystemCall.retrying("look for \(path) in memory") { Int(mincore(mapping, byteCount, &pages)) }
        return UInt64(pages.count { $0 & 1 == 1 } * pageByteCount)
    }
}
