internal import RandomAccess

/// Writes a media playlist, piece by piece.
struct PlaylistWriter {
    /// What the last EXT-X-KEY said.
    private enum KeyInForce: Equatable {
        case none
        case key(uri: String, iv: Block?)
    }

    private let options: HLSOptions
    private var lines: [String] = []
    private var inForce = KeyInForce.none
    private var lastRangeEnd: UInt64?

    init(_ options: HLSOptions) {
        self.options = options
    }

    /// Adds a segment or the initialization section.
    ///
    /// - Parameters:
    ///   - piece: What it is.
    ///   - name: Its file's name.
    ///   - byteRange: Where it lies in the file.
    ///   - iv: Its IV attribute.
    ///   - keyURI: Its key's URI.
    mutating func add(
        _ piece: PlainCut.Piece, name: String, byteRange: Range<UInt64>, iv: Block?, keyURI: String?
    ) {
        let wanted = keyURI.map { KeyInForce.key(uri: $0, iv: iv) } ?? .none
        if wanted != inForce {
            lines.append(Self.line(wanted))
            inForce = wanted
        }
        let isRange = options.arrangement != .files
        if piece.segment < 0 {
            let range = isRange ? ",BYTERANGE=\"\(byteRange.count)@\(byteRange.lowerBound)\"" : ""
            lines.append("#EXT-X-MAP:URI=\"\(name)\"" + range)
            return
        }
        lines.append("#EXTINF:\(options.secondsPerSegment).0,")
        if isRange {
            // Only a segment's range can be followed. Source: RFC 8216, section 4.3.2.2.
            let isKnown = options.arrangement == .byteRanges(allOffsets: false) && lastRangeEnd == byteRange.lowerBound
            lines.append("#EXT-X-BYTERANGE:\(byteRange.count)" + (isKnown ? "" : "@\(byteRange.lowerBound)"))
            lastRangeEnd = byteRange.upperBound
        }
        lines.append(name)
    }

    /// The playlist.
    var finished: String {
        let version = options.initializationByteCount > 0 ? 6 : options.arrangement == .files ? 3 : 4
        let head = [
            "#EXTM3U", "#EXT-X-VERSION:\(version)", "#EXT-X-TARGETDURATION:\(options.secondsPerSegment)",
            "#EXT-X-MEDIA-SEQUENCE:\(options.mediaSequence)", "#EXT-X-PLAYLIST-TYPE:VOD",
        ]
        return (head + lines + ["#EXT-X-ENDLIST", ""]).joined(separator: "\n")
    }

    private static func line(_ key: KeyInForce) -> String {
        guard case .key(let uri, let iv) = key else { return "#EXT-X-KEY:METHOD=NONE" }
        let digits = iv.map { String($0.bigEndianValue, radix: 16, uppercase: true) }
        let attribute = digits.map { ",IV=0x" + String(repeating: "0", count: 32 - $0.count) + $0 }
        return "#EXT-X-KEY:METHOD=AES-128,URI=\"\(uri)\"" + (attribute ?? "")
    }
}
