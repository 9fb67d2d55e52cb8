#if Network
import ByteSources
import RandomAccess

/// Reads bytes that are served as they are.
final class SourceReader: RandomAccessDecryptor {
    private let source: any ByteSource

    init(_ source: any ByteSource) {
        self.source = source
    }

    var plaintextByteCount: UInt64 { source.byteCount }

    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Int {
        guard offset <= source.byteCount else {
            throw .rangeOutOfBounds(offset: offset, plaintextByteCount: source.byteCount)
        }
        let count = Int(min(UInt64(buffer.count), source.byteCount - offset))
        try source.fetch(at: offset, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]))
        try source.checkUnchanged()
        return count
    }
}

/// Reads a key, which stays where it is erased.
final class KeyReader: RandomAccessDecryptor {
    private let key: SecretKey

    init(_ key: SecretKey) {
        self.key = key
    }

    var plaintextByteCount: UInt64 { UInt64(key.byteCount) }

    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Int {
        guard offset <= plaintextByteCount else {
            throw .rangeOutOfBounds(offset: offset, plaintextByteCount: plaintextByteCount)
        }
        return key.withUnsafeBytes { bytes in
            let part = UnsafeRawBufferPointer(rebasing: bytes[Int(offset)...].prefix(buffer.count))
            buffer.copyMemory(from: part)
            return part.count
        }
    }
}
#endif
