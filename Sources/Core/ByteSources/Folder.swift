import Glibc
package import RandomAccess
package import SystemPackage

/// Makes and lists folders.
package enum Folder {
    /// Makes a folder and its parents, unless they exist. The corresponding C function is `mkdir`.
    ///
    /// - Throws: `DecryptionError.io`, also if the folder exists and is not writable.
    package static func create(_ path: FilePath) throws(DecryptionError) {
        var made = FilePath(root: path.root)
        for component in path.components {
            made.append(component)
            if mkdir(made.string, 0o777) != 0, errno != EEXIST {
                throw SystemCall.failure("create folder \(made)")
            }
        }
        // Otherwise a file of that name would cause a different error much later.
        var status = stat()
        if stat(path.string, &status) == 0, status.st_mode & S_IFMT != S_IFDIR {
            throw .io(
                operation: "create folder \(path)", code: 0,
                reason: "there is a file of that name: expected another name, or a folder")
        }
        _ = try SystemCall.retrying("write to folder \(path)") { Int(access(path.string, W_OK | X_OK)) }
    }

    /// An entry of a folder.
    package struct Entry: Sendable {
        /// Its name.
        package let name: String
        /// Says whether the entry is a file, or a folder. Both are false for a link, and on file systems that do not
        /// tell.
        package let isFile, isFolder: Bool
    }

    /// Lists a folder, without `.` and `..`, in no order. The corresponding C function is `opendir`.
    ///
    /// - Throws: `DecryptionError.io`.
    package static func entries(in path: String) throws(DecryptionError) -> [Entry] {
        guard let stream = opendir(path) else { throw SystemCall.failure("list \(path)") }
        return try entries(of: stream, path)
    }

    /// Lists an open folder, and closes it. The corresponding C function is `readdir`; its end looks like its failure.
    package static func entries(of stream: OpaquePointer, _ path: String) throws(DecryptionError) -> [Entry] {
        defer { closedir(stream) }
        var entries: [Entry] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                guard errno == 0 else { throw SystemCall.failure("list \(path)") }
                return entries
            }
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard name != ".", name != ".." else { continue }
            var (isFile, isFolder) = (entry.pointee.d_type == DT_REG, entry.pointee.d_type == DT_DIR)
            if entry.pointee.d_type == DT_UNKNOWN {
                var facts = stat()
                if fstatat(dirfd(stream), name, &facts, AT_SYMLINK_NOFOLLOW) == 0 {
                    (isFile, isFolder) = (facts.st_mode & S_IFMT == S_IFREG, facts.st_mode & S_IFMT == S_IFDIR)
                }
            }
            entries.append(Entry(name: name, isFile: isFile, isFolder: isFolder))
        }
    }
}
