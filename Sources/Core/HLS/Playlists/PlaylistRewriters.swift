import RandomAccess

/// Rewrites a media playlist with new URIs, and without keys or with new ones.
///
/// It works on the lines as they are, so that everything but keys and URIs stays. Each segment becomes a resource of
/// its own: the rewriter drops EXT-X-BYTERANGE and the BYTERANGE of EXT-X-MAP. It keeps all segments, since IVs may
/// depend on their numbers, and marks unusable ones with EXT-X-GAP.
///
/// - Source: RFC 8216, section 4.3; draft-pantos-hls-rfc8216bis, section 4.4.4.7, for EXT-X-GAP.
package struct MediaRewriter {
    /// The key of the last EXT-X-KEY written.
    private struct KeyInForce: Equatable {
        var uri: String
        var iv: Block?
    }

    private let playlist: MediaPlaylist
    private let names: RewrittenNames
    private var written = ["#EXTM3U"]
    /// The lines that belong to the next segment.
    private var pending: [String] = []
    private var duration: String?
    private var hasGap = false
    private var inForce: KeyInForce?
    private var seen: Set<String> = []
    private var nextSegment = 0
    private var nextSection = 0

    /// Rewrites a playlist.
    ///
    /// - Parameters:
    ///   - bytes: The source of the playlist.
    ///   - playlist: The parsed playlist.
    ///   - names: The new URIs.
    ///   - limits: The limits with which it was parsed.
    /// - Returns: The new playlist, its lines ended by LF.
    /// - Throws: `PlaylistProblem` for a line that is too long.
    package static func rewrite(
        _ bytes: UnsafeRawBufferPointer, _ playlist: MediaPlaylist, names: RewrittenNames,
        limits: PlaylistLimits = PlaylistLimits()
    ) throws(PlaylistProblem) -> String {
        var rewriter = MediaRewriter(playlist: playlist, names: names)
        var lines = PlaylistLines(bytes, longestLine: limits.lineByteCount)
        while let line = try lines.next() { rewriter.add(line) }
        return (rewriter.written + rewriter.pending + [""]).joined(separator: "\n")
    }

    private init(playlist: MediaPlaylist, names: RewrittenNames) {
        self.playlist = playlist
        self.names = names
    }

    private mutating func add(_ line: PlaylistLine) {
        if nextSegment < playlist.segments.count, playlist.segments[nextSegment].line == line.number {
            addSegment()
        } else if nextSection < playlist.initializationSections.count,
            playlist.initializationSections[nextSection].line == line.number
        {
            addSection()
        } else if let name = RewrittenTags.name(line.textWithoutEnd),
            !RewrittenTags.dropped.contains(name), !PlaylistParser.masterTags.contains(name)
        {
            // The parsed playlist has no master tags, but may have lines that look like them.
            if RewrittenTags.single.contains(name), !seen.insert(name).inserted { return }
            switch name {
            case "EXTINF": duration = RewrittenTags.clean(line)
            case "EXT-X-MEDIA-SEQUENCE": pending.append("#\(name):\(playlist.mediaSequence)")
            case "EXT-X-MAP": break
            default:
                if name == "EXT-X-GAP" { hasGap = true }
                pending.append(RewrittenTags.clean(line))
            }
        }
    }

    private mutating func addSegment() {
        let segment = playlist.segments[nextSegment]
        let section = segment.initializationSection.map { playlist.initializationSections[$0] }
        if segment.problem == nil { addKey(segment.encryption) }
        written += pending
        if segment.problem != nil || section?.problem != nil, !hasGap { written.append("#EXT-X-GAP") }
        // Players skip a URI without EXTINF, and count the next ones wrong.
        let given = segment.duration == nil ? nil : duration
        written.append(given ?? "#EXTINF:\(playlist.targetDuration ?? 1),")
        written.append(names.segment(nextSegment))
        pending = []
        duration = nil
        hasGap = false
        nextSegment += 1
    }

    private mutating func addSection() {
        let section = playlist.initializationSections[nextSection]
        written += pending
        pending = []
        if section.problem == nil { addKey(section.encryption) }
        written.append("#EXT-X-MAP:URI=\"\(names.initializationSection(nextSection))\"")
        nextSection += 1
    }

    /// Writes a key before its segment or section, unless it is in force.
    private mutating func addKey(_ encryption: SegmentEncryption) {
        guard let keyName = names.key else { return }
        guard case .aes128(let uri, let iv, let rule) = encryption else {
            if inForce != nil { written.append("#EXT-X-KEY:METHOD=NONE") }
            inForce = nil
            return
        }
        let wanted = KeyInForce(uri: uri, iv: rule == .attribute ? iv : nil)
        guard wanted != inForce else { return }
        inForce = wanted
        let attribute = wanted.iv.map { ",IV=0x" + $0.hexadecimal.uppercased() }
        written.append("#EXT-X-KEY:METHOD=AES-128,URI=\"\(keyName(uri))\"" + (attribute ?? ""))
    }
}

/// Rewrites a master playlist with new URIs, without playlists that cannot be served.
///
/// - Source: RFC 8216, section 4.3.4.
package enum MasterRewriter {
    /// Rewrites a playlist.
    ///
    /// - Parameters:
    ///   - bytes: The source of the playlist.
    ///   - limits: The limits with which it was parsed.
    ///   - name: Returns the new URI of a media playlist, given the URI as written and its line; `nil` drops its tag or
    ///     line.
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
                let uri = String(line.textWithoutEnd)
                guard !uri.isEmpty else { continue }
                if let stream, let new = name(uri, line.number) { written += [stream, new] }
                stream = nil
                continue
            }
            guard let tag = RewrittenTags.name(line.textWithoutEnd), !RewrittenTags.dropped.contains(tag) else {
                continue
            }
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

    /// Returns a tag with a new URI; `nil` if the tag is invalid, or its URI is dropped.
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
                // Other resources behind URIs are not served.
                guard tag != "EXT-X-SESSION-DATA", let new = name(text, line) else { return nil }
                text = new
            }
            texts.append(attribute + "=" + (value.isQuoted ? "\"\(text)\"" : text))
        }
        return "#\(tag):" + texts.joined(separator: ",")
    }
}

/// The URIs of the resources in a rewritten media playlist.
///
/// - Source: RFC 8216, section 4.1, for the characters allowed in a URI.
package struct RewrittenNames {
    /// Returns the URI of a segment, by its index.
    package var segment: (_ index: Int) -> String
    /// Returns the URI of an initialization section, by its index.
    package var initializationSection: (_ index: Int) -> String
    /// Returns the URI of a key, by its URI as written; `nil` if segments are served decrypted.
    package var key: ((_ uri: String) -> String)?

    package init(
        segment: @escaping (_ index: Int) -> String, initializationSection: @escaping (_ index: Int) -> String,
        key: ((_ uri: String) -> String)?
    ) {
        self.segment = segment
        self.initializationSection = initializationSection
        self.key = key
    }
}

/// The treatment of tags when a playlist is rewritten.
enum RewrittenTags {
    /// Returns a line's tag name without `#`. It is `nil` for a comment, and for a name with a control character,
    /// because removing the character would turn the line into a different tag.
    ///
    /// Spaces and lower-case letters are corrected first, so that a misspelled tag of ``dropped`` is dropped as well.
    static func name(_ line: Substring) -> String? {
        guard line.hasPrefix("#") else { return nil }
        let name = line.dropFirst().prefix { $0 != ":" }
        guard name.utf8.count <= 64, !name.unicodeScalars.contains(where: isControl) else { return nil }
        let folded = name.uppercased().filter { $0 != " " }
        return folded.hasPrefix("EXT") ? folded : nil
    }

    /// Tags of resources that are not served, or not at the URIs in the tags.
    ///
    /// - Source: RFC 8216, section 4.3; draft-pantos-hls-rfc8216bis, sections 4.4.2.3 and 4.4.3.7 on.
    static let dropped: Set<String> = [
        "EXTM3U", "EXT-X-KEY", "EXT-X-BYTERANGE", "EXT-X-DEFINE", "EXT-X-PART", "EXT-X-PART-INF",
        "EXT-X-PRELOAD-HINT", "EXT-X-RENDITION-REPORT", "EXT-X-SERVER-CONTROL", "EXT-X-SESSION-KEY",
        "EXT-X-CONTENT-STEERING",
    ]

    /// Tags that may occur once.
    static let single: Set<String> = [
        "EXT-X-VERSION", "EXT-X-TARGETDURATION", "EXT-X-MEDIA-SEQUENCE", "EXT-X-DISCONTINUITY-SEQUENCE",
        "EXT-X-ENDLIST", "EXT-X-PLAYLIST-TYPE", "EXT-X-I-FRAMES-ONLY",
    ]

    /// Returns a line without control characters and trailing white space.
    static func clean(_ line: PlaylistLine) -> String {
        guard line.problem != nil else { return String(line.textWithoutEnd) }
        return String(String.UnicodeScalarView(line.textWithoutEnd.unicodeScalars.filter { !isControl($0) }))
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool { scalar.value < 0x20 || scalar.value == 0x7F }
}
