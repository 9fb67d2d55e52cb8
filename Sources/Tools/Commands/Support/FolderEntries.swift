import Glibc

/// What is in a folder.
enum FolderEntries {
    /// Something in a folder.
    struct Entry {
        var name: String
        /// Whether it is a folder itself; a link to one is none, so that no search goes in circles.
        var isFolder: Bool
    }

    /// Lists a folder, without `.` and `..`, in no order; nothing if it cannot be read. The corresponding C functions are
    /// `readdir` and `lstat`.
    static func list(_ folder: String) -> [Entry] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var entries: [Entry] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard name != ".", name != ".." else { continue }
            var status = stat()
            let isKnown = lstat(folder + "/" + name, &status) == 0
            entries.append(Entry(name: name, isFolder: isKnown && status.st_mode & S_IFMT == S_IFDIR))
        }
        return entries
    }
}
