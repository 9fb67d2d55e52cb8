/// The state after the tags of a master playlist so far.
struct MasterState {
    /// The line and attributes of the EXT-X-STREAM-INF whose URI comes next.
    var pending: (line: Int, attributes: [String: String])?
    var variants: [MasterPlaylist.Variant] = []
    var renditions: [MasterPlaylist.Rendition] = []
}

/// The tags of master playlists. Source: RFC 8216, section 4.3.4.
extension PlaylistParser {
    /// Handles a tag.
    ///
    /// - Returns: `true` if the tag belongs to master playlists.
    mutating func masterTag(_ name: String, _ value: Substring, _ line: Int) throws(PlaylistProblem) -> Bool {
        guard Self.masterTags.contains(name) else { return false }
        try take(.master, name, line)
        guard master.variants.count + master.renditions.count < limits.segmentCount else {
            throw PlaylistProblem(
                line: line, kind: .tooManySegments, found: "more than \(limits.segmentCount) variants",
                expected: "at most that many")
        }
        do throws(PlaylistProblem) {
            switch name {
            case "EXT-X-STREAM-INF":
                try notePending()
                // The next URI is a variant's even if the attributes are invalid.
                master.pending = (line, [:])
                let attributes = try AttributeList(value, tag: name, line: line)
                master.pending = (line, attributes.texts)
                try checkBandwidth(attributes)
            case "EXT-X-I-FRAME-STREAM-INF":
                let attributes = try AttributeList(value, tag: name, line: line)
                let uri = try attributes.required("URI", try attributes.quoted("URI"))
                variant(uri, line, attributes.texts, isIFramesOnly: true)
                try checkBandwidth(attributes)
            case "EXT-X-MEDIA":
                let attributes = try AttributeList(value, tag: name, line: line)
                master.renditions.append(
                    MasterPlaylist.Rendition(
                        line: line, type: try attributes.required("TYPE", try attributes.plain("TYPE")),
                        groupID: try attributes.required("GROUP-ID", try attributes.quoted("GROUP-ID")),
                        name: try attributes.required("NAME", try attributes.quoted("NAME")),
                        uri: try attributes.quoted("URI"), attributes: attributes.texts))
            default: break
            }
        } catch {
            try note(error)
        }
        return true
    }

    static let masterTags: Set<String> = [
        "EXT-X-MEDIA", "EXT-X-STREAM-INF", "EXT-X-I-FRAME-STREAM-INF", "EXT-X-SESSION-DATA", "EXT-X-SESSION-KEY",
        "EXT-X-CONTENT-STEERING",
    ]

    /// Handles the URI behind EXT-X-STREAM-INF.
    mutating func variantURI(_ uri: String, _ line: Int) throws(PlaylistProblem) {
        guard let (_, attributes) = master.pending else {
            return try note(
                PlaylistProblem(
                    line: line, kind: .misplacedTag, found: "a URI without EXT-X-STREAM-INF",
                    expected: "the tag in the line before"))
        }
        master.pending = nil
        variant(uri, line, attributes, isIFramesOnly: false)
    }

    /// Returns the finished playlist.
    mutating func finishMaster() throws(PlaylistProblem) -> MasterPlaylist {
        try notePending()
        return MasterPlaylist(
            version: version, variants: master.variants, renditions: master.renditions, problems: problems)
    }

    private mutating func variant(_ uri: String, _ line: Int, _ attributes: [String: String], isIFramesOnly: Bool) {
        master.variants.append(
            MasterPlaylist.Variant(
                line: line, uri: uri, bandwidth: attributes["BANDWIDTH"].flatMap { DecimalText.integer($0) },
                attributes: attributes, isIFramesOnly: isIFramesOnly))
    }

    private func checkBandwidth(_ attributes: AttributeList) throws(PlaylistProblem) {
        let text = try attributes.required("BANDWIDTH", try attributes.plain("BANDWIDTH"))
        guard DecimalText.integer(text) != nil else {
            throw attributes.problem(
                .invalidNumber, "\(attributes.tag) has BANDWIDTH \(DecimalText.excerpt(text))",
                "an integer below 2^64 in decimal digits")
        }
    }

    private mutating func notePending() throws(PlaylistProblem) {
        guard let (line, _) = master.pending else { return }
        master.pending = nil
        try note(
            PlaylistProblem(
                line: line, kind: .missingURI, found: "EXT-X-STREAM-INF without a URI",
                expected: "the URI in the line after it"))
    }
}
