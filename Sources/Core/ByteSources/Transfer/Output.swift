import Glibc
package import RandomAccess
import Support
package import SystemPackage

/// Chooses the sink for the user's output.
package enum Output {
    /// Opens an output.
    ///
    /// - Parameter name: A path, or `-` for standard output. A pipe or device is written to directly; symbolic links
    ///   are followed.
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

    /// Follows symbolic links, so that a link stays and its target is replaced.
    private static func resolved(_ name: String) throws(DecryptionError) -> FilePath {
        if let real = realpath(name, nil) {
            defer { free(real) }
            return FilePath(String(cString: real))
        }
        // `realpath` does not follow a link to a file that does not exist yet.
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

/// The destination of plaintext or ciphertext.
package protocol ByteSink: AnyObject, Sendable {
    /// True if several threads may write bytes in any order.
    var isSeekable: Bool { get }

    /// Writes all bytes.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - offset: Their offset in the output; sinks that are not seekable get the bytes in order and may ignore it.
    /// - Throws: `DecryptionError.io`.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(DecryptionError)

    /// Makes the output final. Until then, the output's name does not exist or keeps its old content.
    ///
    /// - Throws: `DecryptionError.io`.
    func commit() throws(DecryptionError)
}

/// Standard output, a pipe or a device: bytes leave in order and cannot be taken back. If the reading program ends, so
/// does this process: see ``ProcessStart/endWithoutReader()``.
package final class StreamSink: ByteSink {
    /// Bytes must come in order.
    package let isSeekable = false

    private let descriptor: FileDescriptor
    private let name: String
    private let closesAtEnd: Bool

    /// Wraps a descriptor.
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor to write to.
    ///   - name: The name of the output in errors.
    ///   - closesAtEnd: True if this object closes the descriptor.
    package init(descriptor: FileDescriptor, name: String, closesAtEnd: Bool) {
        self.descriptor = descriptor
        self.name = name
        self.closesAtEnd = closesAtEnd
        Self.widen(descriptor)
    }

    /// `F_SETPIPE_SZ` and `F_GETPIPE_SZ`. Source: Linux's `include/uapi/linux/fcntl.h`.
    private static let (setPipeSize, getPipeSize) = (Int32(1024 + 7), Int32(1024 + 8))

    /// Enlarges a pipe so that it holds several windows. The default of 64 KiB is less than a window, and writer and
    /// reader would run in turns rather than side by side. Anything but a pipe stays as it is, as does a pipe that may
    /// not be that large. The corresponding C function is `fcntl` with `F_SETPIPE_SZ`.
    private static func widen(_ descriptor: FileDescriptor) {
        let byteCount: Int32 = 1 << 20
        let current = fcntl(descriptor.rawValue, getPipeSize)
        if current >= 0, current < byteCount { _ = fcntl(descriptor.rawValue, setPipeSize, byteCount) }
    }

    deinit {
        if closesAtEnd { try? descriptor.close() }
    }

    /// Writes all bytes. The corresponding C function is `write`.
    package func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(DecryptionError) {
        var rest = bytes
        while !rest.isEmpty {
            let count = try SystemCall.check("write to \(name)") {
                do {
                    return try descriptor.write(rest)
                } catch Errno.resourceTemporarilyUnavailable {
                    // Another program may have made the descriptor non-blocking.
                    ProcessStart.waitUntilReady(descriptor.rawValue, toWrite: true)
                    return 0
                } catch Errno.brokenPipe {
                    ProcessStart.endWithoutReader()
                }
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }

    /// Does nothing: the written bytes are final already.
    package func commit() throws(DecryptionError) {}
}
