/// The meaning of the byte range of an encrypted segment or initialization section.
public enum ByteRangeReading: String, CaseIterable, Hashable, Sendable {
    /// The range is a ciphertext of its own, padding included, whose first block has the playlist's IV. Source: RFC
    /// 8216, section 4.3.2.2: a range is a part of the resource; section 4.3.2.4: each segment is encrypted on its own.
    case ciphertext
    /// As `ciphertext`, but the length is the plaintext's: some packagers do not count the padding.
    case plaintext
    /// The range counts plaintext bytes of a resource that is encrypted as one chain. It is widened to whole blocks,
    /// the block before them is the IV, and only the resource's end has padding. Source: RFC 8216, section 6.3.6, for
    /// I-frames.
    case chain
}

/// The meanings of a playlist's byte ranges; `nil` for the rule of RFC 8216.
public struct ByteRangeReadings: Hashable, Sendable {
    /// The meaning of EXT-X-BYTERANGE.
    public var segments: ByteRangeReading?
    /// The meaning of the BYTERANGE of EXT-X-MAP.
    public var sections: ByteRangeReading?

    /// The given meanings; without arguments, those of RFC 8216.
    public init(segments: ByteRangeReading? = nil, sections: ByteRangeReading? = nil) {
        self.segments = segments
        self.sections = sections
    }
}

extension MediaPlaylist {
    /// Returns the playlist with other meanings of its byte ranges.
    ///
    /// - Parameter readings: The meanings that the user chose.
    /// - Returns: The playlist; the ``MediaSegment/problem`` of its segments may differ.
    public func reading(_ readings: ByteRangeReadings) -> MediaPlaylist {
        var playlist = self
        if let reading = readings.sections {
            for index in initializationSections.indices where initializationSections[index].isEncryptedRange {
                playlist.initializationSections[index].reading = reading
            }
        }
        if let reading = readings.segments {
            for index in segments.indices where segments[index].isEncryptedRange {
                playlist.segments[index].reading = reading
                // Only this rule gives a segment this problem.
                if segments[index].problem?.kind == .missingIV { playlist.segments[index].problem = nil }
            }
            let lines = Set(segments.compactMap { $0.problem?.kind == .missingIV ? $0.line : nil })
            playlist.problems.removeAll { $0.kind == .missingIV && lines.contains($0.line) }
        }
        playlist.refuseUnknownIVs()
        return playlist
    }

    /// Reads the ranges of an I-frame playlist, and sections of the same resources, as parts of chains.
    mutating func readIFrames() {
        var uris: Set<String> = []
        for index in segments.indices where segments[index].isEncryptedRange {
            segments[index].reading = .chain
            uris.insert(segments[index].uri)
        }
        for index in initializationSections.indices where initializationSections[index].isEncryptedRange {
            if uris.contains(initializationSections[index].uri) { initializationSections[index].reading = .chain }
        }
        refuseUnknownIVs()
    }

    /// Refuses starts of chains with an unknown IV. The IV is the resource's number, and segments have that number only
    /// up to the first resource with several of them.
    private mutating func refuseUnknownIVs() {
        let counts = segments.reduce(into: [:]) { counts, segment in counts[segment.uri, default: 0] += 1 }
        var isNoted = false
        var hasNumbers = true
        for index in segments.indices {
            let segment = segments[index]
            if counts[segment.uri, default: 0] > 1 { hasNumbers = false }
            guard !hasNumbers, segment.reading == .chain, segment.problem == nil,
                let start = segment.byteRange?.lowerBound, start < 16,
                case .aes128(_, _, .sequenceNumber) = segment.encryption
            else { continue }
            let problem = PlaylistProblem(
                line: segment.line, kind: .missingIV,
                found:
                    "the start of a resource that is one chain, with a key without IV, behind or among several "
                    + "segments of one resource: their numbers are not the resources'",
                expected: "an IV attribute in the EXT-X-KEY before it")
            segments[index].problem = problem
            if !isNoted { problems.append(problem) }
            isNoted = true
        }
    }

    /// Marks parts of chains as unfit to be served encrypted: the client would need the block before.
    package mutating func refuseChains() {
        func problem(_ line: Int) -> PlaylistProblem {
            PlaylistProblem(
                line: line, kind: .unsupportedTag,
                found: "a byte range of a resource that is encrypted as one chain, served encrypted",
                expected: "it decrypted")
        }
        for index in segments.indices where segments[index].reading == .chain && segments[index].problem == nil {
            segments[index].problem = problem(segments[index].line)
        }
        for index in initializationSections.indices
        where initializationSections[index].reading == .chain && initializationSections[index].problem == nil {
            initializationSections[index].problem = problem(initializationSections[index].line)
        }
    }
}

extension MediaSegment {
    fileprivate var isEncryptedRange: Bool { byteRange != nil && encryption != .none }
}

extension InitializationSection {
    fileprivate var isEncryptedRange: Bool { byteRange != nil && encryption != .none }
}
