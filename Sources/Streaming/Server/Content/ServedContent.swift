#if Network
package import RandomAccess

/// One version of something that is served: an open file, or bytes that were made.
package struct ServedContent: Sendable {
    /// The media type.
    package var contentType: String
    /// The plaintext's length in bytes.
    package var byteCount: UInt64
    /// A strong validator: another tag for other bytes.
    package var entityTag: EntityTag
    /// When it was changed last, in seconds since 1970.
    package var modified: Int64?
    /// Makes a reader of this version for one response. It fails rather than deliver another version's bytes.
    package var makeReader: @Sendable () throws(DecryptionError) -> any RandomAccessDecryptor
    /// The most bytes that a reader keeps between two reads.
    package var readerByteCount: UInt64 = 0

    /// Whether a trace has what is asked of it: not a list of what could be asked, or a key.
    package var isRecorded = true
    /// Where a trace has it, if it is a part of something longer.
    package var place: Place?

    /// A part of an object of several.
    package struct Place: Sendable {
        /// The name of the whole.
        package var object: String
        /// Where the part starts in it.
        package var offset: UInt64
        /// The length of the whole in bytes.
        package var objectByteCount: UInt64
    }

    /// Creates content.
    package init(
        contentType: String, byteCount: UInt64, entityTag: EntityTag, modified: Int64?,
        makeReader: @escaping @Sendable () throws(DecryptionError) -> any RandomAccessDecryptor
    ) {
        self.contentType = contentType
        self.byteCount = byteCount
        self.entityTag = entityTag
        self.modified = modified
        self.makeReader = makeReader
    }
}

/// What a server has, by name. This is what another kind of content conforms to.
package protocol ContentCatalogue: Sendable {
    /// Finds content as it is now. Called for each request, from any thread; it may read files.
    ///
    /// - Parameter path: The names between the URL's slashes: one at least, none of them empty, `.` or `..`.
    /// - Returns: The content, or `nil` if there is none of that name.
    /// - Throws: `DecryptionError` for content that is there and cannot be opened.
    func content(at path: [String]) throws(DecryptionError) -> ServedContent?

    /// The paths that a start page offers, relative to the root, in order.
    func listing() throws(DecryptionError) -> [[String]]
}
#endif
