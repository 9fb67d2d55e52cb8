import Glibc
package import RandomAccess
import SystemPackage

/// Plaintext that is read once, from its start to its end: a file, a pipe, standard input.
package final class StreamInput {
    private let descriptor: FileDescriptor
    private let name: String
    private let closesAtEnd: Bool

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
        var status = stat()
        if fstat(descriptor.rawValue, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
            throw .io(operation: "open \(name)", code: EISDIR, reason: "it is a directory")
        }
    }

    deinit {
        if closesAtEnd { try? descriptor.close() }
    }

    /// Encrypts everything that comes.
    ///
    /// - Parameters:
    ///   - encryptor: What makes the ciphertext.
    ///   - sink: Where it goes; it is not committed.
    ///   - progress: Called with the plaintext bytes done so far.
    /// - Throws: `DecryptionError`.
    package func encrypt(
        with encryptor: ObjectEncryptor, to sink: any ByteSink, progress: (UInt64) -> Void = { _ in }
    ) throws {
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 4096)
        defer {
            eraseBytes(room)
            room.deallocate()
        }
        var written: UInt64 = 0
        var done: UInt64 = 0
        func write(_ bytes: UnsafeRawBufferPointer) throws {
            try sink.write(bytes, at: written)
            written += UInt64(bytes.count)
        }
        while true {
            let count = try SystemCall.check("read \(name)") { try descriptor.read(into: room) }
            guard count > 0 else { break }
            try encryptor.append(UnsafeRawBufferPointer(rebasing: room[..<count]), to: write)
            done += UInt64(count)
            progress(done)
        }
        try encryptor.finish(to: write)
    }
}
