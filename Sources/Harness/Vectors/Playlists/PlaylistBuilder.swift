import RandomAccess

/// Builds a playlist line by line, with its resources and keys, using the oracle's cipher.
struct PlaylistBuilder {
    /// A number that changes the plaintext.
    var salt = 0
    /// The end of each line.
    var lineEnd = "\n"
    /// True if EXT-X-ENDLIST comes earlier, and the last line has no end.
    var endsEarly = false
    private(set) var lines = ["#EXTM3U", "#EXT-X-TARGETDURATION:1"]
    var resources: [String: [UInt8]] = [:]
    var keys: [String: [UInt8]] = [:]
    private(set) var plaintext: [UInt8] = []

    /// Adds a line.
    mutating func line(_ text: String) {
        lines.append(text)
    }

    /// Adds EXT-X-KEY, with an IV attribute if there is one.
    mutating func key(_ uri: String, iv: UInt128? = nil, more: String = "") {
        keys[uri] = Self.key(uri)
        let digits = iv.map { String($0, radix: 16) }
        let attribute = digits.map { ",IV=0x" + String(repeating: "0", count: 32 - $0.count) + $0 } ?? ""
        line("#EXT-X-KEY:METHOD=AES-128,URI=\"\(uri)\"" + attribute + more)
    }

    /// Adds a segment with a resource of its own.
    ///
    /// `between` are lines between its EXTINF and its URI.
    mutating func segment(
        _ uri: String, _ byteCount: Int, key: String? = nil, iv: UInt128 = 0, between: [String] = []
    ) {
        line("#EXTINF:1,")
        for text in between { line(text) }
        line(uri)
        resources[uri] = piece(byteCount, key: key, iv: iv)
    }

    /// Adds a segment that is a byte range of a resource, after the resource's present bytes.
    ///
    /// `gap` is the number of bytes before it that belong to no segment; `nil` for none, and no offset in the tag.
    mutating func range(
        _ uri: String, _ byteCount: Int, gap: Int?, key: String? = nil, iv: UInt128 = 0, between: [String] = []
    ) {
        resources[uri, default: []] += [UInt8](repeating: 0xEE, count: gap ?? 0)
        let start = resources[uri]?.count ?? 0
        let bytes = piece(byteCount, key: key, iv: iv)
        line("#EXTINF:1,")
        line("#EXT-X-BYTERANGE:\(bytes.count)" + (gap == nil ? "" : "@\(start)"))
        for text in between { line(text) }
        line(uri)
        resources[uri, default: []] += bytes
    }

    /// Adds a resource that is one chain, and segments that are ranges of its plaintext, like I-frames.
    mutating func frames(_ uri: String, _ byteCount: Int, _ ranges: [Range<Int>], key: String, iv: UInt128) {
        let start = plaintext.count
        resources[uri] = piece(byteCount, key: key, iv: iv)
        let whole = Array(plaintext[start...])
        plaintext.removeSubrange(start...)
        for range in ranges {
            line("#EXTINF:1,")
            line("#EXT-X-BYTERANGE:\(range.count)@\(range.lowerBound)")
            line(uri)
            plaintext += whole[range]
        }
    }

    /// Returns the ciphertext of the next bytes of the plaintext.
    mutating func piece(_ byteCount: Int, key: String?, iv: UInt128) -> [UInt8] {
        // All pieces differ, and some bytes look like padding.
        let bytes = (0..<byteCount).map { index in
            index % 16 == 15 ? 1 : UInt8(truncatingIfNeeded: (plaintext.count + index) &* 167 &+ 13 &+ salt)
        }
        plaintext += bytes
        guard let key, let secret = try? SecretKey(Self.key(key)) else { return bytes }
        return Oracle(strategy: .whole(.aesCBC, iv: Block(bigEndianValue: iv)), key: secret)
            .encrypt(bytes)
    }

    /// Returns the group of a playlist that opens. Every offset is read with every length up to three blocks, and to
    /// the end.
    ///
    /// All lengths at all offsets would be a million reads.
    func opens(_ id: String, _ flags: VectorFlag...) -> VectorGroup {
        let length = UInt64(plaintext.count)
        return VectorGroup(
            id: "hls/" + id, flags: flags, playlist: object, plaintext: GroupPlaintext(plaintext),
            patterns: [
                .product(offsets: [0...length], counts: [0...50], toEnd: [0, 1], flags: flags),
                .product(offsets: [length + 1...length + 2], counts: [0...0, 16...16], toEnd: [], flags: flags),
            ])
    }

    /// Returns the group of a playlist that does not open.
    func fails(_ id: String, _ error: ErrorName, _ flags: VectorFlag...) -> VectorGroup {
        VectorGroup(id: "hls/" + id, flags: flags, playlist: object, error: error)
    }

    /// The playlist so far, with its resources and keys.
    var object: PlaylistObject { PlaylistObject(text: text, resources: resources, keys: keys) }

    private var text: String {
        (endsEarly ? lines : lines + ["#EXT-X-ENDLIST", ""]).joined(separator: lineEnd)
    }

    /// Returns a different key for each URI. If the URI itself holds the key, the key is 00 to 0f.
    static func key(_ uri: String) -> [UInt8] {
        if uri.hasPrefix("data:") { return Array(0..<16) }
        let seed = uri.utf8.reduce(UInt64(7)) { $0 &* 31 &+ UInt64($1) }
        return (1...16).map { UInt8(truncatingIfNeeded: (seed &* (2 * $0 + 1) &* 0x9E37_79B9_7F4A_7C15) >> 32) }
    }
}

/// An object of the strategy `hls-aes128`: a media playlist, and the resources and keys that it names.
package struct PlaylistObject: Hashable, Sendable {
    /// The strategy's name in files and in the subject protocol.
    package static let strategyName = "hls-aes128"

    /// The playlist's text.
    package let text: String
    /// Resources by URI as written.
    package let resources: [String: [UInt8]]
    /// Keys by URI as written. They may have any length, since wrong ones are vectors, too.
    package let keys: [String: [UInt8]]

    package init(text: String, resources: [String: [UInt8]], keys: [String: [UInt8]]) {
        self.text = text
        self.resources = resources
        self.keys = keys
    }
}
