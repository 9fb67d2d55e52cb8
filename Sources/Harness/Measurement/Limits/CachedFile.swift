import Glibc

/// A file without a name whose content is in the page cache.
final class CachedFile {
    let byteCount: Int
    private let descriptor: Int32

    /// Writes the file. The corresponding C functions are `mkstemp`, `unlink` and `write`.
    ///
    /// - Throws: `LimitError` if the folder takes no file of that length.
    init(byteCount: Int, folder: String) throws(LimitError) {
        var path = Array("\(folder)/chunkwise-limits-XXXXXX".utf8CString)
        let descriptor = mkstemp(&path)
        let code = errno
        guard descriptor >= 0 else { throw LimitError("make a file in \(folder)", code: code) }
        unlink(path)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        self.byteCount = byteCount
        self.descriptor = descriptor
        let block = Buffer(byteCount: 1 << 20)
        var done = 0
        while done < byteCount {
            let count = write(descriptor, block.bytes.baseAddress, min(block.bytes.count, byteCount - done))
            let code = errno
            if count < 0, code == EINTR { continue }
            guard count > 0 else { throw LimitError("write \(byteCount) bytes in \(folder)", code: code) }
            done += count
        }
    }

    deinit {
        close(descriptor)
    }

    /// Reads into a buffer from an offset on, all of it; whether that worked. The corresponding C function is `pread`.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) -> Bool {
        var done = 0
        while done < buffer.count {
            let count = pread(
                descriptor, buffer.baseAddress.map { $0 + done }, buffer.count - done, off_t(offset + done))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            done += count
        }
        return true
    }
}

/// Why limits could not be measured.
package struct LimitError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was tried.
    package var operation: String
    /// The `errno` value; 0 if a file ended too early.
    package var code: Int32

    init(_ operation: String, code: Int32) {
        self.operation = operation
        self.code = code
    }

    /// What failed, why, and what was expected.
    package var description: String {
        "\(operation) failed: \(code == 0 ? "it ended too early" : String(cString: strerror(code))): "
            + "expected a folder that takes a file of this length"
    }
}
