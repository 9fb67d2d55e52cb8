#if Network
import ByteSources
import Glibc
import RandomAccess
import SystemPackage

/// The files below a folder. They are opened name by name, so that no link leads out of the folder.
final class ServedFolder: Sendable {
    /// The folder's path, for errors.
    let path: FilePath

    private let descriptor: FileDescriptor

    /// Opens the folder. It stays the served folder if it is renamed.
    ///
    /// - Throws: `DecryptionError.io`.
    init(path: FilePath) throws(DecryptionError) {
        self.path = path
        self.descriptor = try SystemCall.check("open folder \(path)") {
            try FileDescriptor.open(path, .readOnly, options: [.closeOnExec, .directory])
        }
    }

    deinit {
        try? descriptor.close()
    }

    /// Opens a file. The corresponding C function is `openat`, once for each name, with `O_NOFOLLOW`.
    ///
    /// - Parameter names: The folders and the file, below this folder.
    /// - Returns: The file; `nil` if there is none. Links, hidden files, and files that cannot be read at an offset do
    ///   not count.
    /// - Throws: `DecryptionError.io` for failures that do not concern this file, such as too many open files.
    func open(_ names: [String]) throws(DecryptionError) -> FileSource? {
        let opened = try within(names) { (folder, name) throws(DecryptionError) in
            try ServedFolder.open(name, in: folder, flags: 0)
        }
        guard let file = opened else { return nil }
        var status = stat()
        guard fstat(file.rawValue, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            try? file.close()
            return nil
        }
        return try FileSource(adopting: file, path: names.reduce(into: path) { $0.append($1) })
    }

    /// Returns the version of the file that ``open(_:)`` would find; `nil` if there is none.
    func identity(of names: [String]) -> FileIdentity? {
        try? within(names) { folder, name in FileIdentity(ofFile: name, in: folder.rawValue, followsLinks: false) }
    }

    /// Calls a function with the folder that holds a file, and the file's name.
    private func within<Value>(
        _ names: [String], _ body: (FileDescriptor, String) throws(DecryptionError) -> Value?
    ) throws(DecryptionError) -> Value? {
        guard let last = names.last, names.allSatisfy({ !$0.hasPrefix(".") && !$0.utf8.contains(0) }) else {
            return nil
        }
        var folder = descriptor
        defer { if folder != descriptor { try? folder.close() } }
        for name in names.dropLast() {
            guard let next = try ServedFolder.open(name, in: folder, flags: O_DIRECTORY) else { return nil }
            if folder != descriptor { try? folder.close() }
            folder = next
        }
        return try body(folder, last)
    }

    private static func open(
        _ name: String, in folder: FileDescriptor, flags: Int32
    ) throws(DecryptionError) -> FileDescriptor? {
        let all = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | flags
        while true {
            let result = openat(folder.rawValue, name, all)
            if result >= 0 { return FileDescriptor(rawValue: result) }
            let code = errno
            if code == EINTR { continue }
            if [EMFILE, ENFILE, ENOMEM, EIO].contains(code) {
                throw .io(operation: "open \(name)", code: code, reason: Errno(rawValue: code).description)
            }
            return nil
        }
    }

    /// The max number of files in a listing. Files beyond it are still served.
    private static let maxListed = 10_000
    /// The max depth of folders in a listing.
    private static let maxDepth = 16

    /// Returns the files below the folder, in order: each folder's own files, then those in its folders. Hidden files
    /// and files behind links are left out.
    ///
    /// - Throws: `DecryptionError.io`.
    func files() throws(DecryptionError) -> [[String]] {
        var files: [[String]] = []
        try list([], descriptor, into: &files)
        return files
    }

    private func list(
        _ names: [String], _ folder: FileDescriptor, into files: inout [[String]]
    ) throws(DecryptionError) {
        let again = openat(folder.rawValue, ".", O_RDONLY | O_CLOEXEC | O_DIRECTORY)
        guard again >= 0, let stream = fdopendir(again) else {
            if again >= 0 { close(again) }
            throw .io(operation: "list \(path)", code: errno, reason: Errno(rawValue: errno).description)
        }
        let entries = try Folder.entries(of: stream, path.string).filter { !$0.name.hasPrefix(".") }
            .sorted { $0.name < $1.name }
        files += entries.filter(\.isFile).prefix(Self.maxListed - files.count).map { names + [$0.name] }
        guard names.count < Self.maxDepth else { return }
        for entry in entries where entry.isFolder && files.count < Self.maxListed {
            // A folder that is inaccessible or gone has nothing to list.
            guard let next = try Self.open(entry.name, in: folder, flags: O_DIRECTORY) else { continue }
            defer { try? next.close() }
            try list(names + [entry.name], next, into: &files)
        }
    }
}
#endif
