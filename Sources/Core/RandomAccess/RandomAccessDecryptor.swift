/// Anything that delivers decrypted bytes from the middle of an encrypted object: our readers, or a foreign program
/// behind the subject protocol.
///
/// A decryptor belongs to one thread at a time. Reads come in any order, may repeat, and never depend on earlier ones.
public protocol RandomAccessDecryptor: AnyObject {
    /// The plaintext's length in bytes.
    var plaintextByteCount: UInt64 { get }

    /// Reads plaintext like `pread`: the bytes from `offset` on, as many as the buffer holds or as there are up to the
    /// end.
    ///
    /// A read is all or nothing. Nothing in the buffer past the returned count is touched; what the buffer's first
    /// bytes hold after a failure is unspecified. A failed read leaves the decryptor usable.
    ///
    /// - Parameters:
    ///   - offset: A plaintext offset.
    ///   - buffer: Where the plaintext goes.
    /// - Returns: The number of bytes delivered: `min(buffer.count, plaintextByteCount - offset)`.
    /// - Throws: `DecryptionError.rangeOutOfBounds` if `offset` lies past the plaintext's end, whatever the buffer's
    ///   length; `.io`, `.truncatedCiphertext` and `.sourceChanged` if the source fails; `.authenticationFailed`;
    ///   `.backend` if the crypto library fails.
    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Int
}

extension RandomAccessDecryptor {
    /// Reads up to `count` bytes into a new array. See ``read(at:into:)``.
    public func read(at offset: UInt64, count: Int) throws(DecryptionError) -> [UInt8] {
        precondition(count >= 0, "count \(count)")
        let maximum = offset < plaintextByteCount ? Int(min(UInt64(count), plaintextByteCount - offset)) : 0
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: maximum, alignment: 16)
        defer { buffer.deallocate() }
        let delivered = try read(at: offset, into: buffer)
        return Array(buffer[..<delivered])
    }
}
