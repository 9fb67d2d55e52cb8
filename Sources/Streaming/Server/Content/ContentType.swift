#if Network
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
