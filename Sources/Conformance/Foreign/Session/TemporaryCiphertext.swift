internal import RandomAccess

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A ciphertext as a file, for subjects that are not served; removed when it is forgotten.
final class TemporaryCiphertext {
    /// Larger objects would need the disk that generated ones are there to spare.
    static let largestByteCount: UInt64 = 512 << 20

    let path: String

    /// Writes a file. The corresponding C functions are `mkstemp` and `write`.
    ///
    /// - Throws: `DecryptionError.io`.
    init(_ source: any ByteSource) throws(DecryptionError) {
        let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(folder)/chunkwise-XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw Self.failure("mkstemp") }
        defer { close(descriptor) }
        self.path = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
        defer { room.deallocate() }
        var position: UInt64 = 0
        while position < source.byteCount {
            let part = UnsafeMutableRawBufferPointer(
                rebasing: room[..<Int(min(UInt64(room.count), source.byteCount - position))])
            try source.fetch(at: position, into: part)
            var written = 0
            while written < part.count {
                let count = write(descriptor, part.baseAddress.map { $0 + written }, part.count - written)
                guard count > 0 || errno == EINTR else { throw Self.failure("write") }
                written += max(0, count)
            }
            position += UInt64(part.count)
        }
    }

    deinit {
        unlink(path)
    }

    private static func failure(_ operation: String) -> DecryptionError {
        .io(operation: "\(operation) of a temporary file", code: errno, reason: String(cString: strerror(errno)))
    }
}
