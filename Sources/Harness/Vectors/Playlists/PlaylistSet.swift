import ByteSources
import RandomAccess

/// The vectors of `hls-aes128`, made with an oracle that shares nothing with the readers.
///
/// - Source: RFC 8216, sections 4.3.2 and 5.2; PROTOCOL.md, "open".
package enum PlaylistSet {
    /// All groups.
    package static var all: [VectorGroup] { sequences + attributes + rotations + ranges + sections + texts + failures }

    private static func build(_ body: (inout PlaylistBuilder) -> Void) -> PlaylistBuilder {
        var builder = PlaylistBuilder()
        body(&builder)
        return builder
    }

    /// IVs from media sequence numbers.
    static var sequences: [VectorGroup] {
        func list(from first: UInt64?, _ segments: [Int]) -> PlaylistBuilder {
            build { list in
                if let first { list.line("#EXT-X-MEDIA-SEQUENCE:\(first)") }
                list.key("k")
                for (index, byteCount) in segments.enumerated() {
                    if index == 2 { list.line("#EXT-X-DISCONTINUITY") }
                    list.segment("s\(index).ts", byteCount, key: "k", iv: UInt128((first ?? 0) + UInt64(index)))
                }
            }
        }
        var groups = [
            list(from: nil, [40, 16, 33, 0, 47]).opens("sequence/none", .sequenceIV, .segmentPadding, .segmentEdge),
            list(from: 7, [17, 40]).opens("sequence/7", .sequenceIV),
            list(from: 254, [20, 20, 20]).opens("sequence/carry8", .sequenceIV),
        ]
        for bits in [31, 32, 53, 63] as [UInt64] {
            groups.append(list(from: 1 << bits - 1, [20, 20]).opens("sequence/carry\(bits)", .wideSequence))
        }
        groups.append(list(from: .max - 1, [20, 20]).opens("sequence/last", .wideSequence))
        return groups
    }

    /// IVs from attributes.
    static var attributes: [VectorGroup] {
        let iv: UInt128 = 0xF0E1_D2C3_B4A5_9687_7869_5A4B_3C2D_1E0F
        return [
            build { list in
                list.key("k", iv: iv)
                for index in 0..<3 { list.segment("s\(index)", 20, key: "k", iv: iv) }
            }.opens("attribute/same", .ivAttribute, .segmentEdge),
            build { list in
                list.line("#EXT-X-MEDIA-SEQUENCE:5")
                list.key("k", iv: iv)
                list.segment("a", 20, key: "k", iv: iv)
                list.key("k")
                list.segment("b", 20, key: "k", iv: 6)
                list.key("k", iv: 1)
                list.segment("c", 20, key: "k", iv: 1)
            }.opens("attribute/then sequence", .ivAttribute, .sequenceIV),
        ]
    }

    /// Keys that change, and encryption that ends.
    static var rotations: [VectorGroup] {
        [
            build { list in
                for index in 0..<4 {
                    if index % 2 == 0 { list.key("k\(index)") }
                    list.segment("s\(index)", 20, key: "k\(index / 2 * 2)", iv: UInt128(index))
                }
            }.opens("rotation/keys", .keyRotation),
            build { list in
                list.segment("a", 31)
                list.key("k")
                list.segment("b", 16, key: "k", iv: 1)
                list.line("#EXT-X-KEY:METHOD=NONE")
                list.segment("c", 32)
                list.segment("d", 5)
                list.key("k")
                list.segment("e", 20, key: "k", iv: 4)
            }.opens("rotation/none", .methodNone, .segmentPadding, .segmentEdge),
            build { list in
                list.key("k1", more: ",KEYFORMAT=\"identity\"")
                list.line("#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://x\",KEYFORMAT=\"com.example\"")
                list.segment("a", 20, key: "k1", iv: 0)
                list.key("k2")
                list.line("#EXT-X-KEY:METHOD=AES-128,URI=\"k3\",KEYFORMAT=\"com.example\"")
                list.keys["k3"] = [UInt8](repeating: 3, count: 16)
                list.segment("b", 20, key: "k2", iv: 1)
                list.line("#EXT-X-KEY:METHOD=NONE")
                list.segment("c", 20)
            }.opens("rotation/formats", .keyFormat, .methodNone),
        ]
    }

    /// Segments that are byte ranges of resources.
    static var ranges: [VectorGroup] {
        [
            build { list in
                list.key("k")
                list.range("all", 20, gap: 5, key: "k", iv: 0)
                list.range("all", 16, gap: nil, key: "k", iv: 1)
                list.range("all", 3, gap: nil, key: "k", iv: 2)
                list.range("all", 40, gap: 7, key: "k", iv: 3)
                list.range("all", 1, gap: nil, key: "k", iv: 4)
                list.resources["all"]?.append(contentsOf: [1, 2, 3])
            }.opens("ranges/encrypted", .segmentByteRange, .segmentEdge),
            build { list in
                list.range("all", 20, gap: 3)
                list.range("all", 16, gap: nil)
                list.segment("other", 9)
                list.range("all", 5, gap: 2)
            }.opens("ranges/plain", .segmentByteRange),
            // Source: RFC 8216, section 6.3.6.
            build { list in
                list.line("#EXT-X-I-FRAMES-ONLY")
                list.key("k", iv: 77)
                list.frames("all", 200, [48..<96, 5..<25, 100..<133, 0..<16], key: "k", iv: 77)
            }.opens("ranges/I-frames", .segmentByteRange),
        ]
    }

    /// Initialization sections.
    static var sections: [VectorGroup] {
        [
            build { list in
                list.line("#EXT-X-MAP:URI=\"init\"")
                list.resources["init"] = list.piece(20, key: nil, iv: 0)
                list.key("k")
                list.segment("a", 20, key: "k", iv: 0)
                list.segment("b", 20, key: "k", iv: 1)
                list.line("#EXT-X-DISCONTINUITY")
                // The same section again, under a key with an IV: it must not be there twice.
                list.key("k", iv: 9)
                list.line("#EXT-X-MAP:URI=\"init\"")
                list.segment("c", 20, key: "k", iv: 9)
            }.opens("sections/plain", .initializationSection),
            build { list in
                list.key("k1", iv: 77)
                list.line("#EXT-X-MAP:URI=\"all\",BYTERANGE=\"32@3\"")
                list.resources["all"] = [9, 9, 9] + list.piece(20, key: "k1", iv: 77)
                list.key("k2")
                list.range("all", 20, gap: 0, key: "k2", iv: 0)
                list.range("all", 20, gap: nil, key: "k2", iv: 1)
            }.opens("sections/encrypted", .initializationSection, .segmentByteRange),
        ]
    }

    /// Playlists in the forms that people and programs write.
    static var texts: [VectorGroup] {
        [
            build { list in
                list.lineEnd = "\r\n"
                list.key("k")
                list.segment("a", 20, key: "k", iv: 0)
                list.segment("b", 20, key: "k", iv: 1)
            }.opens("text/CR LF", .playlistText),
            build { list in
                list.line("")
                list.line("# made by hand")
                list.line("#EXT-X-MADE-UP:1,\"a\"")
                list.key("k")
                list.line("")
                list.segment(
                    "a", 20, key: "k", iv: 0,
                    between: ["", "# a comment", "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z"])
                list.line("#")
                list.segment("b", 20, key: "k", iv: 1, between: ["#EXT-X-MADE-UP"])
            }.opens("text/lines between", .playlistText),
            build { list in
                list.endsEarly = true
                list.key("k")
                list.line("#EXT-X-ENDLIST")
                list.segment("a", 20, key: "k", iv: 0)
                list.segment("b", 20, key: "k", iv: 1)
            }.opens("text/no last line feed", .playlistText),
            build { list in
                list.key("k?a=b&c=1,2", more: ",X-MADE-UP=\"1, URI=2, IV=0x3\"")
                list.segment("a?start=1&end=2", 20, key: "k?a=b&c=1,2", iv: 0)
                list.segment("with%20space.ts", 20, key: "k?a=b&c=1,2", iv: 1)
            }.opens("text/queries and percent signs", .playlistText),
            build { list in
                list.keys["k, 1"] = PlaylistBuilder.key("k, 1")
                list.line("#EXT-X-KEY:METHOD=AES-128,URI=\"k, 1\",IV=0X\(String(repeating: "0", count: 31))A")
                list.segment("a", 20, key: "k, 1", iv: 10)
                list.segment("b", 20, key: "k, 1", iv: 10)
            }.opens("text/0X and a comma in quotes", .playlistText, .ivAttribute),
            build { list in
                list.line("#EXT-X-MEDIA-SEQUENCE:5")
                list.key("k", iv: 0)
                list.segment("a", 20, key: "k", iv: 0)
                list.segment("b", 20, key: "k", iv: 0)
            }.opens("text/IV of zeros", .playlistText, .ivAttribute),
            build { list in
                list.resources["init"] = list.piece(20, key: nil, iv: 0)
                list.range("all", 20, gap: 3, between: ["#EXT-X-MAP:URI=\"init\""])
                list.range("all", 16, gap: nil)
            }.opens("text/EXT-X-MAP behind EXT-X-BYTERANGE", .playlistText, .segmentByteRange),
            build { list in
                list.key("data:;base64,AAECAwQFBgcICQoLDA0ODw==")
                list.segment("a", 20, key: "data:;base64,AAECAwQFBgcICQoLDA0ODw==", iv: 0)
            }.opens("text/key in the URI", .playlistText),
        ]
    }

    /// Playlists that do not open. Each fault is in two of them, so that no fault is noticed by only one vector.
    static var failures: [VectorGroup] { failures(from: 0, "bad") + failures(from: 7, "bad again") }

    private static func failures(from sequence: UInt64, _ kind: String) -> [VectorGroup] {
        func list(_ line: String, _ change: (inout PlaylistBuilder) -> Void = { _ in }) -> PlaylistBuilder {
            build { list in
                if sequence > 0 { list.line("#EXT-X-MEDIA-SEQUENCE:\(sequence)") }
                list.keys["k"] = PlaylistBuilder.key("k")
                list.line(line)
                list.segment("a", 20, key: "k", iv: UInt128(sequence))
                list.segment("b", 20, key: "k", iv: UInt128(sequence) + 1)
                change(&list)
            }
        }
        let good = "#EXT-X-KEY:METHOD=AES-128,URI=\"k\""
        return [
            list("#EXT-X-KEY:METHOD=AES-128,URI=\u{201C}k\u{201D}").fails(
                "\(kind)/curly quotes", .invalidRequest, .badPlaylist),
            list(good + ",IV=0x1234").fails("\(kind)/short IV", .invalidRequest, .badPlaylist),
            list("#EXT-X-KEY:METHOD=AES-128").fails("\(kind)/no URI", .invalidRequest, .badPlaylist),
            list("#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"k\"").fails("\(kind)/SAMPLE-AES", .unsupported, .badPlaylist),
            VectorGroup(
                id: "hls/\(kind)/master", flags: [.badPlaylist],
                playlist: PlaylistObject(
                    text: "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=\(sequence + 1)\nmedia.m3u8\n", resources: [:],
                    keys: [:]),
                error: .unsupported),
            list(good + ",KEYFORMAT=\"com.example\"").fails(
                "\(kind)/KEYFORMAT", .unsupported, .badPlaylist, .keyFormat),
            list("#EXT-X-BYTERANGE:32").fails(
                "\(kind)/no predecessor", .invalidRequest, .badPlaylist, .segmentByteRange),
            list(good + "\n#EXT-X-MAP:URI=\"a\"").fails(
                "\(kind)/section without IV", .invalidRequest, .badPlaylist, .initializationSection),
            list("#EXT-X-KEY:METHOD=AES-128,URI=\"other\"").fails("\(kind)/no key", .invalidKey, .missingKey),
            list(good) { $0.keys["k"] = [1, 2, 3] }.fails("\(kind)/short key", .invalidKey, .missingKey),
            list(good) { $0.keys["k"] = [] }.fails("\(kind)/empty key", .invalidKey, .missingKey),
            list(good) { $0.keys["k"] = [UInt8](repeating: 1, count: 32) }.fails(
                "\(kind)/long key", .invalidKey, .missingKey),
            list(good) { $0.resources["b"] = nil }.fails("\(kind)/no segment", .io, .badSegment),
            build { list in
                if sequence > 0 { list.line("#EXT-X-MEDIA-SEQUENCE:\(sequence)") }
                list.key("k")
                list.segment("a", 20, key: "k", iv: UInt128(sequence))
                list.segment("b", 20, key: "k", iv: UInt128(sequence) + 1, between: ["#EXT-X-GAP"])
                list.resources["b"] = nil
            }.fails("\(kind)/gap", .io, .badSegment),
            list(good) { $0.resources["b"] = [] }.fails("\(kind)/empty segment", .truncatedCiphertext, .badSegment),
            list(good) { $0.resources["b"]?.removeLast() }.fails(
                "\(kind)/cut segment", .truncatedCiphertext, .badSegment),
            build { list in
                list.key("k")
                list.range("all", 20, gap: Int(sequence), key: "k", iv: 0)
                list.resources["all"]?.removeLast(16)
            }.fails("\(kind)/cut range", .truncatedCiphertext, .badSegment, .segmentByteRange),
            list(good) { $0.resources["a"]?.removeFirst(16) }.fails("\(kind)/padding", .invalidPadding, .badSegment),
        ]
    }

    /// Returns a playlist of encrypted segments without reads, for checks of other things than playlists.
    ///
    /// Each `number` has its own keys, IVs and bytes.
    /// Another `number` gives other keys, IVs and bytes.
    package static func plain(id: String, number: Int, segmentByteCounts: [Int]) -> VectorGroup {
        var builder = PlaylistBuilder(salt: number)
        builder.line("#EXT-X-MEDIA-SEQUENCE:\(number)")
        for (index, byteCount) in segmentByteCounts.enumerated() {
            let key = "key\(number)-\(index / 2).key"
            if index % 2 == 0 { builder.key(key) }
            builder.segment("segment\(index).ts", byteCount, key: key, iv: UInt128(number + index))
        }
        return VectorGroup(
            id: id, flags: [], playlist: builder.object, plaintext: GroupPlaintext(builder.plaintext))
    }
}

extension VectorGroup {
    /// A group of a playlist.
    ///
    /// The properties for one object hold what playlists have in common: `strategy` is that of an encrypted segment,
    /// `ciphertext` holds all resources one after the other, in the order of their URIs, and `key` is not one of the
    /// playlist's. None of them is used to open a playlist's group.
    package init(
        id: String, source: String = "generated", flags: [VectorFlag], playlist: PlaylistObject,
        plaintext: GroupPlaintext = GroupPlaintext([]), error: ErrorName? = nil, patterns: [ReadPattern] = []
    ) {
        let resources = playlist.resources.sorted { $0.key < $1.key }.flatMap(\.value)
        self.init(
            id: id, source: source, flags: flags,
            strategy: .whole(.aesCBC, iv: Block(bigEndianValue: 0)), key: Self.noKey,
            ciphertext: MemorySource(resources), plaintext: plaintext, error: error, patterns: patterns)
        list = .playlist(playlist)
    }

    private static let noKey = VectorSet.made("no key") { () throws(DecryptionError) in
        try SecretKey([UInt8](repeating: 0, count: 16))
    }
}
