import Glibc
package import RandomAccess
internal import SystemPackage

/// Chooses the sink for an output that a user named.
package enum Output {
    /// Opens an output.
    ///
    /// - Parameter name: A path, or `-` for standard output. A pipe or device is written to as it is; a symbolic link is
    ///   followed.
    /// - Returns: The sink.
    /// - Throws: `DecryptionError.io`.
    package static func open(_ name: String) throws(DecryptionError) -> any ByteSink {
        if name == "-" {
            return StreamSink(descriptor: .standardOutput, name: "standard output", closesAtEnd: false)
        }
        let path = try resolved(name)
        var status = stat()
        guard stat(path.string, &status) == 0 else { return try FileSink(path: path) }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return try FileSink(path: path)
        case S_IFDIR:
            throw .io(operation: "create \(name)", code: EISDIR, reason: "it is a directory")
        default:
            let descriptor = try SystemCall.check("open \(name)") {
                try FileDescriptor.open(path, .writeOnly, options: .closeOnExec)
            }
            return StreamSink(descriptor: descriptor, name: name, closesAtEnd: true)
        }
    }

    /// Follows symbolic links, so that the file behind one is replaced and not the link.
    private static func resolved(_ name: String) throws(DecryptionError) -> FilePath {
        if let real = realpath(name, nil) {
            defer { free(real) }
            return FilePath(String(cString: real))
        }
        // `realpath` does not follow a link to a file that is still to be made.
        var path = FilePath(name)
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        for _ in 0..<40 {
            let count = readlink(path.string, &buffer, buffer.count)
            guard count >= 0 else { return path }
            let target = FilePath(String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self))
            path = path.removingLastComponent().pushing(target)
        }
        throw .io(operation: "create \(name)", code: ELOOP, reason: Errno.tooManySymbolicLinkLevels.description)
    }
}
