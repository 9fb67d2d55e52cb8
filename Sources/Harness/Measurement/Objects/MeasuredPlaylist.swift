import RandomAccess
import SubjectProtocol
import Support

/// A playlist over a measured ciphertext. Its segments are consecutive byte ranges of one resource.
///
/// `HLSEncryptor` writes the same with one key, IVs from the media sequence number and all segments in one file. Here,
/// the file can also be generated, with any length.
struct MeasuredPlaylist: Sendable {
    /// The key's URI.
    private static let keyURI = "key0.key"
    /// EXTINF of each segment.
    private static let secondsPerSegment = 6

    /// The URI of the resource.
    let resource: String
    /// The plaintext bytes of a full segment.
    let segmentByteCount: UInt64
    /// The playlist's text.
    let text: String

    /// - Throws: `DecryptionError.unsupported` for more segments than a playlist may have.
    init(resource: String, segmentByteCount: UInt64, plaintextByteCount: UInt64) throws(DecryptionError) {
        let count = max(1, plaintextByteCount / segmentByteCount + (plaintextByteCount % segmentByteCount == 0 ? 0 : 1))
        guard count <= Self.maxSegments else {
            throw .unsupported("a playlist of \(count) segments: expected at most \(Self.maxSegments)")
        }
        var lines = [
            "#EXTM3U", "#EXT-X-VERSION:4", "#EXT-X-TARGETDURATION:\(Self.secondsPerSegment)",
            "#EXT-X-MEDIA-SEQUENCE:0", "#EXT-X-PLAYLIST-TYPE:VOD",
            "#EXT-X-KEY:METHOD=AES-128,URI=\"\(Self.keyURI)\"",
        ]
        var start: UInt64 = 0
        for index in 0..<count {
            let plain = min(segmentByteCount, plaintextByteCount - index * segmentByteCount)
            let byteCount = (plain / 16 + 1) * 16
            lines += [
                "#EXTINF:\(Self.secondsPerSegment).0,",
                "#EXT-X-BYTERANGE:\(byteCount)" + (index == 0 ? "@\(start)" : ""), resource,
            ]
            start += byteCount
        }
        self.resource = resource
        self.segmentByteCount = segmentByteCount
        self.text = (lines + ["#EXT-X-ENDLIST", ""]).joined(separator: "\n")
    }

    /// The members of an `open` request, without `source`.
    func members(key: SecretKey) -> [String: JSONValue] {
        [
            "strategy": .string(PlaylistRequest.strategyName), "playlist": .string(text),
            "keys": [Self.keyURI: .string(key.withUnsafeBytes { Hexadecimal.encode($0) })],
        ]
    }

    /// The member `source`: the folder of a file, or the description of a generated resource.
    func source(_ description: JSONValue) -> JSONValue {
        if let path = description["path"]?.string {
            let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
            return ["path": .string(folder.isEmpty ? "." : folder.joined(separator: "/") + "/")]
        }
        guard case .object(var generated)? = description["generated"] else { return description }
        generated["segmentByteCount"] = .integer(segmentByteCount)
        return ["generated": .object(generated)]
    }

    /// The maximum number of segments: that of 64 GiB in segments of 256 KiB. The text then has some 30 MB, half of the
    /// limit for a playlist.
    private static let maxSegments: UInt64 = 1 << 18
}
