import Glibc
package import RandomAccess
import Support
package import SystemPackage

/// Plaintext that is read once, from start to end: a file, a pipe, standard input.
package final class StreamInput {
    private let descriptor: FileDescriptor
    private let name: String
    private let closesAtEnd: Bool
    /// The version of the file when it was opened; `nil` if the input is not a file.
    private let opened: FileIdentity?

    /// Opens an input.
    ///
    /// - Parameter name: A path, or `-` for standard input.
    /// - Throws: `DecryptionError.io` if it cannot be opened or is a directory.
    package init(_ name: String) throws(DecryptionError) {
        self.name = name == "-" ? "standard input" : name
        self.closesAtEnd = name != "-"
        self.descriptor =
            name == "-"
            ? .standardInput
            : try SystemCall.check("open \(name)") {
                try FileDescriptor.open(FilePath(name), .readOnly, options: .closeOnExec)
            }
        self.opened = Self.identity(of: descriptor)
        var status = stat()
        if fstat(descriptor.rawValue, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
            throw .io(operation: "open \(name)", code: EISDIR, reason: "it is a directory")
        }
    }

    /// The corresponding C function is `fstat`.
    private static func identity(of descriptor: FileDescriptor) -> FileIdentity? {
        var status = stat()
        guard fstat(descriptor.rawValue, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return FileIdentity(status, byteCount: UInt64(status.st_size))
    }

    /// True if the input is a regular file with a name, which can be read at any place.
    package var isNamedFile: Bool { opened != nil && closesAtEnd }

    deinit {
        if closesAtEnd { try? descriptor.close() }
    }

    /// Encrypts the whole input.
    ///
    /// - Parameters:
    ///   - encryptor: The encryptor.
    ///   - sink: The destination of the ciphertext; it is not committed.
    ///   - progress: Called with the plaintext bytes done so far.
    /// - Throws: `DecryptionError`.
    package func encrypt(
        with encryptor: ObjectEncryptor, to sink: any ByteSink, progress: (UInt64) -> Void = { _ in }
    ) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 4096)
        defer {
            eraseBytes(buffer)
            buffer.deallocate()
        }
        var written: UInt64 = 0
        var done: UInt64 = 0
        func write(_ bytes: UnsafeRawBufferPointer) throws {
            try sink.write(bytes, at: written)
            written += UInt64(bytes.count)
        }
        while true {
            let count = try SystemCall.check("read \(name)") { try next(into: buffer) }
            guard count > 0 else { break }
            try encryptor.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]), to: write)
            done += UInt64(count)
            progress(done)
        }
        guard Self.identity(of: descriptor) == opened else {
            throw DecryptionError.io(
                operation: "read \(name)", code: 0,
                reason: "it was changed while it was read: expected one version from start to end")
        }
        try encryptor.finish(to: write)
    }

    /// The corresponding C function is `read`.
    private func next(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        while true {
            do {
                return try descriptor.read(into: buffer)
            } catch Errno.resourceTemporarilyUnavailable {
                // Another program may have made standard input non-blocking.
                ProcessStart.waitUntilReady(descriptor.rawValue, toWrite: false)
            }
        }
    }
}

/// Whole files of text.
package enum TextFile {
    /// Reads a file.
    ///
    /// - Throws: `DecryptionError.io`, also for a file of more than 16 MiB, which cannot be a plan.
    package static func read(_ path: String) throws(DecryptionError) -> String {
        let source = try FileSource(path: FilePath(path))
        guard source.byteCount <= 16 << 20 else {
            throw .io(operation: "read \(path)", code: 0, reason: "\(source.byteCount) bytes: expected at most 16 MiB")
        }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Int(source.byteCount), alignment: 16)
        defer { buffer.deallocate() }
        try source.fetch(at: 0, into: buffer)
        return String(decoding: buffer, as: UTF8.self)
    }

    /// Writes a file, completely or not at all; a pipe or device is written to directly.
    ///
    /// - Throws: `DecryptionError.io`.
    package static func write(_ text: String, to path: FilePath) throws(DecryptionError) {
        let sink = try Output.open(path.string)
        var text = text
        // A closure that rethrows loses the type of its error.
        let result = text.withUTF8 { bytes in
            Result { () throws(DecryptionError) in try sink.write(UnsafeRawBufferPointer(bytes), at: 0) }
        }
        try result.get()
        try sink.commit()
    }
}
