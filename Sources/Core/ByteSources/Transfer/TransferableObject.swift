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

    /// Takes note that a range will be read whole and about in order.
    ///
    /// - Parameter range: Plaintext bytes, within the object.
    func adviseSequential(_ range: Range<UInt64>)
}

extension EncryptedObject: TransferableObject {
    /// Makes a cursor; see ``TransferableObject/makeReader(windowByteCount:)``.
    package func makeReader(windowByteCount: Int) throws(DecryptionError) -> any RandomAccessDecryptor {
        try makeCursor(windowByteCount: windowByteCount)
    }

    /// Tells the source which of its bytes that takes.
    package func adviseSequential(_ range: Range<UInt64>) {
        guard let last = range.last else { return }
        var (first, end) = (layout.plan(range.lowerBound..<range.lowerBound + 1), layout.plan(last..<last + 1))
        guard let start = first.next()?.fetch.lowerBound, let stop = end.next()?.fetch.upperBound else { return }
        source.adviseSequential(start..<stop)
    }
}
