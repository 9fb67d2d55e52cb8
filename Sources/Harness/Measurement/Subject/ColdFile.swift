import RandomAccess
import SystemPackage

/// A file that is dropped from the page cache before each iteration.
final class ColdFile {
    private let path: FilePath
    /// The most bytes that the kernel kept, over all iterations.
    private(set) var residentByteCount: UInt64 = 0

    init(path: FilePath) {
        self.path = path
    }

    /// Drops the file.
    func drop() throws(DecryptionError) {
        residentByteCount = max(residentByteCount, try PageCache.drop(path))
    }
}
