import Glibc
package import RandomAccess
import SystemPackage

/// A complete file that waits under a hidden name for its own.
package final class PreparedFile {
    private let hiddenPath: FilePath
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
    }
}

/// The C function, which a method of the same name hides.
private func systemRename(_ old: String, _ new: String) -> Int32 { rename(old, new) }
