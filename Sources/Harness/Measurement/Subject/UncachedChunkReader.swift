import ByteSources
import RandomAccess

/// Decrypts whole chunks for every read, and keeps none: what article 000's policy costs without its cache.
final class UncachedChunkReader: RandomAccessDecryptor {
    private let reader: WholeChunkReader

    init(_ reader: WholeChunkReader) {
        self.reader = reader
    }

    var plaintextByteCount: UInt64 { reader.plaintextByteCount }

    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Int {
        reader.forgetChunk()
        return try reader.read(at: offset, into: buffer)
    }
}
