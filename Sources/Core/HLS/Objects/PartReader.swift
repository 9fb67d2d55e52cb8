internal import ByteSources
internal import RandomAccess

/// Reads one part of an object; belongs to one thread.
enum PartReader {
    /// Bytes as they are.
    case plain(SlicedSource)
    /// A chain of CBC. Its padding is behind what is read, so that the cursor need not know of it.
    case decrypting(any RandomAccessDecryptor)

    /// Opens the part's resource again, if need be.
    ///
    /// - Throws: `DecryptionError` for a part that is broken, or whose resource is gone or another one by now.
    init(_ part: HLSPart, of object: HLSObject, windowByteCount: Int) throws(DecryptionError) {
        switch part.content {
        case .broken(let error): throw error
        case .plain(let resource, let range):
            let source = try object.pool.source(resource)
            object.advise(source, of: part, in: range)
            self = .plain(try SlicedSource(source, range))
        case .aes128(let resource, let range, let iv, let key):
            let source = try object.pool.source(resource)
            object.advise(source, of: part, in: range)
            let encrypted = try EncryptedObject(
                source: try SlicedSource(source, range),
                strategy: .cbcContinuous(iv: iv, padding: .none), backend: object.backend, key: key)
            self = .decrypting(try encrypted.makeCursor(windowByteCount: windowByteCount))
        }
    }

    /// Reads bytes of the part's plaintext.
    ///
    /// - Parameters:
    ///   - offset: Relative to the part; with the buffer's length at most the plaintext's.
    ///   - buffer: Is filled.
    /// - Throws: `DecryptionError`.
    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(DecryptionError) {
        switch self {
        case .plain(let source):
            try source.fetch(at: offset, into: buffer)
            try source.checkUnchanged()
        case .decrypting(let cursor):
            let count = try cursor.read(at: offset, into: buffer)
            guard count == buffer.count else {
                throw .truncatedCiphertext(
                    byteCount: offset + UInt64(count), expected: "\(offset + UInt64(buffer.count)) for this read")
            }
        }
    }
}
