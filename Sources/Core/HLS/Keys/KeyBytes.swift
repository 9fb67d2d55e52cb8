internal import ByteSources
import Glibc
internal import RandomAccess
internal import SystemPackage

/// A buffer for a key's bytes, erased when it is freed. Belongs to one thread.
final class KeyBytes {
    /// The max number of bytes to read where 16 are expected.
    static let maxByteCount = 1024

    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: maxByteCount, alignment: 16)
    private(set) var count = 0

    deinit {
        eraseBytes(buffer)
        buffer.deallocate()
    }

    /// The unused part of the buffer; empty when the buffer is full.
    var free: UnsafeMutableRawBufferPointer { UnsafeMutableRawBufferPointer(rebasing: buffer[count...]) }

    /// Counts bytes that were written to ``free``.
    func add(_ count: Int) {
        self.count += count
    }

    /// Returns the bytes as a key.
    ///
    /// - Parameter location: The origin of the bytes, for the message.
    /// - Returns: The key.
    /// - Throws: `KeyError.wrongLength`.
    func key(location: String) throws(KeyError) -> SecretKey {
        try keys(1, location: location)[0]
    }

    /// Returns the bytes as keys, one behind the other; see ``key(location:)``.
    func keys(_ keyCount: Int, location: String) throws(KeyError) -> [SecretKey] {
        let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
        // Source: RFC 8216, section 5: the key file is 16 octets, packed.
        let keys = (0..<keyCount).compactMap { index -> SecretKey? in
            guard count == 16 * keyCount else { return nil }
            return try? SecretKey(UnsafeRawBufferPointer(rebasing: bytes[16 * index..<16 * (index + 1)]))
        }
        guard keys.count == keyCount else {
            let isDigits = (32...34).contains(count) && bytes.prefix(32).allSatisfy(Self.isHexadecimal)
            throw .wrongLength(
                byteCount: count, isMore: count == Self.maxByteCount, location: location, isHexadecimal: isDigits)
        }
        return keys
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        0x30...0x39 ~= byte || 0x41...0x46 ~= byte || 0x61...0x66 ~= byte
    }
}

extension KeyBytes {
    /// Reads a key file.
    ///
    /// - Parameters:
    ///   - path: Its path.
    ///   - mayWait: True to accept a pipe, on which the read may block. False for paths from a playlist.
    /// - Returns: The key, and warnings.
    /// - Throws: `KeyError.missing`, `.unreadable`, `.wrongLength`.
    static func read(_ path: FilePath, mayWait: Bool = false) throws(KeyError) -> ProvidedKey {
        let location = "key file \(path)"
        let bytes = KeyBytes()
        var status = stat()
        do throws(DecryptionError) {
            let descriptor = try SystemCall.check("open \(location)") {
                try FileDescriptor.open(
                    path, .readOnly, options: mayWait ? .closeOnExec : [.closeOnExec, .nonBlocking])
            }
            defer { try? descriptor.close() }
            _ = try SystemCall.retrying("stat \(location)") { Int(fstat(descriptor.rawValue, &status)) }
            guard mayWait || status.st_mode & S_IFMT == S_IFREG else {
                throw DecryptionError.io(
                    operation: "read \(location)", code: 0,
                    reason: "it is a pipe, a device or a folder: expected a file")
            }
            while !bytes.free.isEmpty {
                let count = try SystemCall.check("read \(location)") { try descriptor.read(into: bytes.free) }
                guard count > 0 else { break }
                bytes.add(count)
            }
        } catch {
            if case .io(_, let code, let reason) = error, [ENOENT, ENOTDIR].contains(code) {
                throw .missing(location: location, reason: reason)
            }
            throw .unreadable(error)
        }
        let permissions = UInt32(status.st_mode) & 0o777
        let isShared = status.st_mode & S_IFMT == S_IFREG && permissions & 0o044 != 0
        return ProvidedKey(
            try bytes.key(location: location),
            warnings: isShared ? [.readableByOthers(path: path.string, permissions: permissions)] : [])
    }

    /// Returns a file's version: its identity, its length, and the time of its last change. `nil` if the file does not
    /// exist, or is a pipe, which has no second key.
    static func version(_ path: FilePath) -> String? {
        var status = stat()
        guard path.withPlatformString({ stat($0, &status) }) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return nil
        }
        return "\(status.st_dev) \(status.st_ino) \(status.st_size) \(status.st_mtim.tv_sec) \(status.st_mtim.tv_nsec)"
    }
}
