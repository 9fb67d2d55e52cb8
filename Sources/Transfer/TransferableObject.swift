package import RandomAccess

/// What can be decrypted window by window, on several threads: one ciphertext, or the segments of a playlist.
package protocol TransferableObject: Sendable {
    /// The plaintext's length in bytes.
    var plaintextByteCount: UInt64 { get }

    /// Makes a reader for one thread.
    ///
    /// - Parameter windowByteCount: The most plaintext bytes that are decrypted in one step, at least 1.
    /// - Returns: A reader at no particular place.
    /// - Throws: `DecryptionError`.
    func makeReader(windowByteCount: Int) throws(DecryptionError) -> any RandomAccessDecryptor

    /// Takes note that much will be read in order.
    func adviseSequential()
}

extension EncryptedObject: TransferableObject {
    /// Makes a cursor; see ``TransferableObject/makeReader(windowByteCount:)``.
    package func makeReader(windowByteCount: Int) throws(DecryptionError) -> any RandomAccessDecryptor {
        try makeCursor(windowByteCount: windowByteCount)
    }

    /// Tells the source.
    package func adviseSequential() {
        source.adviseSequential()
    }
}
