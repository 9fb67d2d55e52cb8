package import RandomAccess

/// Where plaintext or ciphertext goes.
package protocol ByteSink: AnyObject, Sendable {
    /// Whether bytes may come in any order, from several threads.
    var isSeekable: Bool { get }

    /// Writes all bytes.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - offset: Their place in the output; sinks that are not seekable get them in order and need not look.
    /// - Throws: `DecryptionError.io`.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(DecryptionError)

    /// Makes the output final. Before this, or without it, nothing stands under the output's name.
    ///
    /// - Throws: `DecryptionError.io`.
    func commit() throws(DecryptionError)
}
