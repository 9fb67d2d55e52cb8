internal import RandomAccess

/// Rewrites a media playlist: other URIs, and either no keys or others.
///
/// Goes by the lines as they are, so that what is not about keys and URIs stays. Each segment becomes a resource of its
/// own: EXT-X-BYTERANGE and the BYTERANGE of EXT-X-MAP go. No segment goes, since IVs may depend on their numbers: one
/// that cannot be served is marked by EXT-X-GAP.
///
/// - Source: RFC 8216, section 4.3; draft-pantos-hls-rfc8216bis, section 4.4.4.7, for EXT-X-GAP.
package struct MediaRewriter {
    /// What the last EXT-X-KEY written said.
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
    ///   - bytes: What the playlist was read from.
    ///   - playlist: The playlist.
    ///   - names: The new URIs.
    ///   - limits: Those it was read with.
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
        } else if let name = RewrittenTags.name(line.text), !RewrittenTags.dropped.contains(name) {
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
        // Players take a URI without it for nothing, and count the next ones wrong.
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

    /// Writes a key before what it is for, if it is not in force.
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
        let digits = wanted.iv.map { String($0.bigEndianValue, radix: 16, uppercase: true) }
        let attribute = digits.map { ",IV=0x" + String(repeating: "0", count: 32 - $0.count) + $0 }
        written.append("#EXT-X-KEY:METHOD=AES-128,URI=\"\(keyName(uri))\"" + (attribute ?? ""))
    }
}
