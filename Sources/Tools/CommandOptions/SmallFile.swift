import Glibc
import RandomAccess
import SystemPackage

/// Files with a few lines: a token, clients.
package enum SmallFile {
    private static let maxByteCount = 1 << 20

    /// A file's text. What others can read is worth a warning.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - name: What it is.
    ///   - isStrict: Whether what others can read is refused instead.
    /// - Returns: All of it.
    /// - Throws: `CommandFailure`.
    package static func text(_ path: String, _ name: String, isStrict: Bool) throws -> String {
        do {
            let descriptor = try FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec)
            defer { try? descriptor.close() }
            var status = stat()
            if fstat(descriptor.rawValue, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o044 != 0
            {
                let permissions = UInt32(status.st_mode) & 0o777
                guard !isStrict else {
                    let error = DecryptionError.openToOthers(
                        path: "\(name) \(path)", permissions: permissions, expected: 0o600)
                    throw CommandFailure(.init(error), "\(error)")
                }
                Terminal.writeError(
                    "chunkwise: warning: \(name) \(path) can be read by others "
                        + "(permissions \(String(permissions, radix: 8))): expected 600")
            }
            var bytes: [UInt8] = []
            while bytes.count <= maxByteCount {
                let part = try [UInt8](unsafeUninitializedCapacity: 1 << 16) { room, count in
                    count = try descriptor.read(into: UnsafeMutableRawBufferPointer(room))
                }
                if part.isEmpty { break }
                bytes += part
            }
            guard bytes.count <= maxByteCount, let text = String(validating: bytes, as: UTF8.self) else {
                throw CommandFailure(.badData, "\(name) \(path): expected at most 1 MiB of text")
            }
            return text
        } catch let error as Errno {
            throw CommandFailure(.missingInput, "read \(name) \(path): \(error)")
        }
    }
}
