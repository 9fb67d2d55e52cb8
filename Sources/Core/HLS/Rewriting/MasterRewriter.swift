/// Rewrites a master playlist: other URIs, without the playlists that cannot be served.
///
/// - Source: RFC 8216, section 4.3.4.
package enum MasterRewriter {
    /// Rewrites a playlist.
    ///
    /// - Parameters:
    ///   - bytes: What the playlist was read from.
    ///   - limits: Those it was read with.
    ///   - name: The new URI of a media playlist by the one as written and its line; `nil` leaves out what has it.
    /// - Returns: The new playlist, its lines ended by LF.
    /// - Throws: `PlaylistProblem` for a line that is too long.
    package static func rewrite(
        _ bytes: UnsafeRawBufferPointer, limits: PlaylistLimits = PlaylistLimits(),
        name: (_ uri: String, _ line: Int) -> String?
    ) throws(PlaylistProblem) -> String {
        var lines = PlaylistLines(bytes, longestLine: limits.lineByteCount)
        var written = ["#EXTM3U"]
        var stream: String?
        while let line = try lines.next() {
            guard line.text.hasPrefix("#") else {
                var uri = line.text
                while let last = uri.last, last == " " || last == "\t" { uri.removeLast() }
                guard !uri.isEmpty else { continue }
                if let stream, let new = name(uri, line.number) { written += [stream, new] }
                stream = nil
                continue
            }
            guard let tag = RewrittenTags.name(line.text), !RewrittenTags.dropped.contains(tag) else { continue }
            let text = RewrittenTags.clean(line)
            switch tag {
            case "EXT-X-STREAM-INF": stream = text
            case "EXT-X-MEDIA", "EXT-X-I-FRAME-STREAM-INF", "EXT-X-SESSION-DATA":
                guard let new = rewritten(text, tag, line.number, name) else { continue }
                written.append(new)
            default: written.append(text)
            }
        }
        return (written + [""]).joined(separator: "\n")
    }

    /// A tag with another URI; `nil` if it cannot be read, or its URI is left out.
    private static func rewritten(
        _ text: String, _ tag: String, _ line: Int, _ name: (_ uri: String, _ line: Int) -> String?
    ) -> String? {
        let value = text.drop { $0 != ":" }.dropFirst()
        guard let attributes = try? AttributeList(value, tag: tag, line: line) else { return nil }
        var texts: [String] = []
        for attribute in attributes.names {
            guard let value = attributes.value(attribute) else { continue }
            var text = value.text
            if attribute == "URI" {
                // What else a URI leads to is not served.
                guard tag != "EXT-X-SESSION-DATA", let new = name(text, line) else { return nil }
                text = new
            }
            texts.append(attribute + "=" + (value.isQuoted ? "\"\(text)\"" : text))
        }
        return "#\(tag):" + texts.joined(separator: ",")
    }
}
