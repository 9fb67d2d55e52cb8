import Glibc
package import RandomAccess
package import SystemPackage

/// Folders that results go into.
package enum Folder {
    /// Creates a folder, and those above it, where they are not there yet. The corresponding C function is `mkdir`.
    ///
    /// - Throws: `DecryptionError.io`, also if the folder is there and cannot be written to.
    package static func create(_ path: FilePath) throws(DecryptionError) {
        var made = FilePath(root: path.root)
        for component in path.components {
            made.append(component)
            if mkdir(made.string, 0o777) != 0, errno != EEXIST {
                _ = try SystemCall.retrying("create folder \(made)") { -1 }
            }
        }
        // A file of that name would be found out about much later otherwise.
        _ = try SystemCall.retrying("write to folder \(path)") { Int(access(path.string, W_OK | X_OK)) }
    }
}
