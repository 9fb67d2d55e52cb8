/// A source whose ciphertext can be decrypted where it lies, without being copied to the reader first.
public protocol ViewableSource: ByteSource {
    /// Makes a view for one thread at a time.
    ///
    /// - Throws: `DecryptionError.io` if there is none to be had.
    func makeView() throws(DecryptionError) -> any SourceView
}

/// A look at a source's bytes in place; belongs to one thread at a time.
///
/// What is seen may be gone the moment after, so that a caller looks, decrypts into memory of its own, and then asks
/// ``check()`` whether that was the source.
public protocol SourceView: AnyObject {
    /// The most bytes that are seen at once, at least 64.
    var largestByteCount: Int { get }

    /// Shows some bytes.
    ///
    /// - Parameter range: Offsets in the source, within its length and at most ``largestByteCount`` of them.
    /// - Returns: The bytes, `range.count` of them, until the next call of `bytes` or `check`.
    /// - Throws: `DecryptionError.io`.
    func bytes(_ range: Range<UInt64>) throws(DecryptionError) -> UnsafeRawBufferPointer

    /// Says whether all that was seen since the last call was the source's.
    ///
    /// - Throws: `DecryptionError.truncatedCiphertext` if the source had become shorter, `.io` if it failed.
    func check() throws(DecryptionError)
}
