#if Network
import ByteSources
package import RandomAccess

/// One version of something that is served: an open file, or bytes that were made.
package struct ServedContent: Sendable {
    /// The plaintext's length in bytes.
    package var byteCount: UInt64
    /// A validator: another tag for other bytes, or a weak one.
    package let entityTag: EntityTag
    /// When it was changed last, in seconds since 1970; `nil` where that does not tell versions apart, and for times
    /// that HTTP has no text for.
    package let modified: Int64?
    /// The fields of every answer: what tells versions apart, and that ranges may be asked for.
    let fields: FieldLines
    /// Those of an answer that has a body, or tells of it: the media type as well.
    let bodyFields: FieldLines
    /// Makes a reader of this version for one response. It fails rather than deliver another version's bytes.
    package var makeReader: @Sendable () throws(DecryptionError) -> any RandomAccessDecryptor
    /// The max number of bytes that a reader keeps between two reads.
    package var readerByteCount: UInt64 = 0

    /// Whether reading some of its plaintext may wait for a disk, so that it is not for a thread that others need.
    package var mayWait: @Sendable (Range<UInt64>) -> Bool = { _ in false }

    /// Reads plaintext for which nothing has to be waited for; `false` where something has, or where it fails, which
    /// another reader then does as well. `nil` for what may always wait.
    package var readAtOnce: (@Sendable (_ offset: UInt64, UnsafeMutableRawBufferPointer) -> Bool)?

    /// Finds out whether it is still what is there, without waiting for more than the names of files; `nil` for what is
    /// better found again.
    package var isCurrent: (@Sendable () -> Bool)?

    /// Whether a trace has what is asked of it: not a list of what could be asked, or a key.
    package var isRecorded = true
    /// Where a trace has it, if it is a part of something longer.
    package var position: Position?

    /// A part of an object of several.
    package struct Position: Sendable {
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
        self.byteCount = byteCount
        self.entityTag = entityTag
        self.modified = modified.flatMap { HTTPDate.range.contains($0) ? $0 : nil }
        var fields: FieldLines = ["ETag": entityTag.text, "Accept-Ranges": "bytes"]
        if let modified = self.modified { fields.add("Last-Modified", HTTPDate.text(modified)) }
        self.fields = fields
        fields.add("Content-Type", contentType)
        // Beside the policy of every answer.
        if ContentType.mayRunScripts(contentType) { fields.add("Content-Security-Policy", "sandbox") }
        self.bodyFields = fields
        self.makeReader = makeReader
    }
}

/// Content, and what it was found by.
package final class FoundContent: Sendable {
    let content: ServedContent
    /// The path's names, with slashes between them.
    let name: String

    /// Creates one.
    package init(content: ServedContent, name: String) {
        self.content = content
        self.name = name
    }
}

extension FileSource {
    /// Creates a tag for what becomes of the file.
    ///
    /// - Parameters:
    ///   - parts: All else that it depends on.
    ///   - key: The key that the bytes are decrypted with.
    ///   - isPinned: What ``FileSource/canBePinned(now:)`` said before anything was read. If not, the tag is weak, and
    ///     like no other: what is read now may be parts of two versions.
    /// - Returns: The tag.
    func entityTag(_ parts: [String], key: SecretKey? = nil, isPinned: Bool) -> EntityTag {
        let version = [
            "\(opened.device)", "\(opened.node)", "\(opened.byteCount)", "\(opened.modifiedSeconds)",
            "\(opened.modifiedNanoseconds)",
        ]
        return isPinned ? EntityTag(of: version + parts, key: key) : .unlikeAny
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

/// Two catalogues as one: what the first one does not have is looked for in the second.
package struct CombinedCatalogue: ContentCatalogue {
    private let first: any ContentCatalogue
    private let second: any ContentCatalogue

    /// Creates a catalogue whose start page offers what the second one does.
    package init(_ first: any ContentCatalogue, before second: any ContentCatalogue) {
        self.first = first
        self.second = second
    }

    /// Finds content; see ``ContentCatalogue/content(at:)``.
    package func content(at path: [String]) throws(DecryptionError) -> ServedContent? {
        if let found = try first.content(at: path) { return found }
        return try second.content(at: path)
    }

    /// The paths of the second catalogue; see ``ContentCatalogue/listing()``.
    package func listing() throws(DecryptionError) -> [[String]] { try second.listing() }
}

/// Media types by file name.
package enum ContentType {
    /// The type for a name, which may have a suffix that only says that it is encrypted: `film.mp4.enc`.
    ///
    /// - Source: the registry of media types at IANA; RFC 8216, section 10, for playlists.
    package static func ofFile(named name: String) -> String {
        var parts = name.split(separator: ".", omittingEmptySubsequences: false).dropFirst().map { $0.lowercased() }
        if let last = parts.last, encryptedSuffixes.contains(last) { parts.removeLast() }
        return parts.last.flatMap { types[$0] } ?? "application/octet-stream"
    }

    /// Tells if a browser takes something of a type for a page whose scripts it runs.
    static func mayRunScripts(_ type: String) -> Bool {
        let name = type.prefix { $0 != ";" }
        return name == "text/html" || name.hasSuffix("xml")
    }

    private static let encryptedSuffixes: Set<String> = ["enc", "aes", "cbc", "ctr", "crypt"]

    private static let types: [String: String] = [
        "mp4": "video/mp4", "m4v": "video/mp4", "m4s": "video/iso.segment", "mov": "video/quicktime",
        "webm": "video/webm", "mkv": "video/matroska", "ts": "video/mp2t", "mpg": "video/mpeg", "mpeg": "video/mpeg",
        "avi": "video/vnd.avi", "ogv": "video/ogg", "vtt": "text/vtt",
        "m3u8": "application/vnd.apple.mpegurl", "mpd": "application/dash+xml",
        "m4a": "audio/mp4", "mp3": "audio/mpeg", "aac": "audio/aac", "flac": "audio/flac", "wav": "audio/wav",
        "ogg": "audio/ogg", "oga": "audio/ogg", "opus": "audio/ogg", "weba": "audio/webm",
        "jpg": "image/jpeg", "jpeg": "image/jpeg", "png": "image/png", "gif": "image/gif", "webp": "image/webp",
        "avif": "image/avif", "svg": "image/svg+xml", "pdf": "application/pdf", "epub": "application/epub+zip",
        "html": "text/html; charset=utf-8", "htm": "text/html; charset=utf-8", "css": "text/css; charset=utf-8",
        "js": "text/javascript; charset=utf-8", "txt": "text/plain; charset=utf-8", "json": "application/json",
        "csv": "text/csv; charset=utf-8", "xml": "application/xml", "zip": "application/zip", "gz": "application/gzip",
        "wasm": "application/wasm",
    ]
}
#endif
