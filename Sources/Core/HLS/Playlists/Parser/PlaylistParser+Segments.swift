internal import RandomAccess

/// Segments, initialization sections, and the end of a media playlist.
extension PlaylistParser {
    /// Handles a segment's URI, with the tags before it.
    mutating func segment(_ uri: String, _ line: Int, _ problem: PlaylistProblem?) throws(PlaylistProblem) {
        guard media.segments.count < limits.segmentCount else {
            throw PlaylistProblem(
                line: line, kind: .tooManySegments, found: "more than \(limits.segmentCount) segments",
                expected: "at most that many")
        }
        let pending = media.pending
        media.pending = MediaState.Pending()
        var problem = problem ?? pending.problem
        if pending.durationLine == nil {
            let missing = PlaylistProblem(
                line: line, kind: .missingDuration, found: "a segment without EXTINF",
                expected: "#EXTINF before each segment's URI")
            problem = problem ?? missing
        }
        let (byteRange, rangeProblem) = resolvedRange(pending, uri, line)
        problem = problem ?? rangeProblem
        let (sequenceNumber, overflow) = media.sequence.addingReportingOverflow(UInt64(media.segments.count))
        if overflow {
            problem =
                problem
                ?? PlaylistProblem(
                    line: line, kind: .invalidNumber, found: "a media sequence number of 2^64 or more",
                    expected: "one below")
        }
        var encryption = SegmentEncryption.none
        do throws(PlaylistProblem) {
            if let key = try keys.key(line: line) {
                encryption = .aes128(
                    keyURI: key.uri, iv: key.iv ?? Block(bigEndianValue: UInt128(sequenceNumber)),
                    ivRule: key.iv == nil ? .sequenceNumber : .attribute)
            }
        } catch {
            problem = problem ?? error
        }
        if let problem { try note(problem) }
        media.segments.append(
            MediaSegment(
                line: line, uri: uri, sequenceNumber: overflow ? nil : sequenceNumber,
                discontinuityNumber: media.discontinuitySequence &+ media.discontinuities, duration: pending.duration,
                title: pending.title, byteRange: byteRange, encryption: encryption,
                initializationSection: media.section, problem: problem))
    }

    /// Returns the range of a segment in its resource. Source: RFC 8216, section 4.3.2.2.
    private mutating func resolvedRange(
        _ pending: MediaState.Pending, _ uri: String, _ line: Int
    ) -> (Range<UInt64>?, PlaylistProblem?) {
        let before = media.rangeBefore
        media.rangeBefore = nil
        guard pending.byteRangeLine != nil else { return (nil, nil) }
        // An invalid range has its problem already, and no range can follow it.
        guard let (byteCount, given) = pending.byteRange else { return (nil, nil) }
        guard let offset = given ?? (before?.uri == uri ? before?.end : nil) else {
            return (
                nil,
                PlaylistProblem(
                    line: pending.byteRangeLine ?? line, kind: .byteRangeWithoutPredecessor,
                    found: "a byte range without an offset, and no byte range of the same resource just before it",
                    expected: "EXT-X-BYTERANGE with @ and an offset")
            )
        }
        let (end, overflow) = offset.addingReportingOverflow(byteCount)
        guard !overflow else {
            return (
                nil,
                PlaylistProblem(
                    line: pending.byteRangeLine ?? line, kind: .invalidByteRange,
                    found: "a byte range that ends at 2^64 or later", expected: "one that ends before")
            )
        }
        media.rangeBefore = (uri, end)
        return (offset..<end, nil)
    }

    /// Handles EXT-X-MAP. Source: RFC 8216, section 4.3.2.5.
    mutating func mapTag(_ value: Substring, _ line: PlaylistLine) throws(PlaylistProblem) {
        var uri = ""
        var byteRange: Range<UInt64>?
        var encryption = SegmentEncryption.none
        var found: PlaylistProblem?
        do throws(PlaylistProblem) {
            if let problem = line.problem { throw problem }
            let attributes = try AttributeList(value, tag: "EXT-X-MAP", line: line.number)
            uri = try attributes.required("URI", try attributes.quoted("URI"))
            if let text = try attributes.quoted("BYTERANGE") {
                guard let (byteCount, offset) = DecimalText.byteRange(text) else {
                    throw attributes.problem(
                        .invalidByteRange, "EXT-X-MAP has BYTERANGE \(DecimalText.excerpt(text))",
                        "a length and perhaps @ and an offset, below 2^64 together")
                }
                // No section before it could give the offset.
                byteRange = (offset ?? 0)..<(offset ?? 0) + byteCount
            }
            if let key = try keys.key(line: line.number) {
                guard let iv = key.iv else {
                    throw attributes.problem(
                        .missingIV, "EXT-X-MAP of a section that is encrypted with a key without IV",
                        "an IV attribute in the EXT-X-KEY before it")
                }
                encryption = .aes128(keyURI: key.uri, iv: iv, ivRule: .attribute)
            }
        } catch {
            found = error
            try note(error)
        }
        media.section = media.sections.count
        media.sections.append(
            InitializationSection(
                line: line.number, uri: uri, byteRange: byteRange, encryption: encryption, problem: found))
    }

    /// Returns the finished playlist.
    mutating func finishMedia() throws(PlaylistProblem) -> MediaPlaylist {
        if let line = media.pending.durationLine ?? media.pending.byteRangeLine {
            try note(
                PlaylistProblem(
                    line: line, kind: .missingURI, found: "a tag of a segment at the playlist's end",
                    expected: "the segment's URI after it"))
        }
        if let problem = media.sequenceProblem {
            for index in media.segments.indices {
                if case .aes128(_, _, .sequenceNumber) = media.segments[index].encryption,
                    media.segments[index].problem == nil
                {
                    media.segments[index].problem = problem
                }
            }
        }
        var playlist = MediaPlaylist(
            version: version, targetDuration: media.targetDuration, mediaSequence: media.sequence,
            discontinuitySequence: media.discontinuitySequence, kind: media.kind, hasEndList: media.hasEndList,
            initializationSections: media.sections, segments: media.segments, problems: problems)
        if media.seen.contains("EXT-X-I-FRAMES-ONLY") { playlist.readIFrames() }
        return playlist
    }
}
