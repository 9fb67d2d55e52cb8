import HLS
import RandomAccess
import Testing

@Suite("rewritten playlists")
struct RewritingTests {
    private static let media = """
        #EXTM3U
        #EXT-X-VERSION:7
        #EXT-X-MEDIA-SEQUENCE:5
        # a comment
        #EXT-X-TARGETDURATION:4
        #EXT-X-KEY:METHOD=AES-128,URI="secret://a",IV=0x000000000000000000000000000000FF
        #EXT-X-MAP:URI="a.mp4",BYTERANGE="10@0"
        #EXT-X-KEY:METHOD=AES-128,URI="secret://b"
        #EXTINF:4,one
        #EXT-X-BYTERANGE:100@10
        a.mp4
        #EXT-X-DISCONTINUITY
        #EXT-X-PROGRAM-DATE-TIME:2020-01-01T00:00:00Z
        #EXTINF:3.5,
        #EXT-X-BYTERANGE:50
        a.mp4
        #EXT-X-KEY:METHOD=NONE
        #EXTINF:2,
        b.mp4
        #EXT-X-KEY:METHOD=SAMPLE-AES,URI="c"
        #EXTINF:2,
        c.mp4
        #EXT-X-KEY:METHOD=NONE
        d.mp4
        #EXT-X-ENDLIST

        """

    private static func rewrite(_ text: String, key: ((String) -> String)?) throws -> String {
        guard case .media(let playlist) = try Playlist.parse(text) else { return "no media playlist" }
        return try Array(text.utf8).withUnsafeBytes { bytes in
            try MediaRewriter.rewrite(
                bytes, playlist,
                names: RewrittenNames(segment: { "s\($0)" }, initializationSection: { "m\($0)" }, key: key))
        }
    }

    @Test("keys and byte ranges go; numbers, gaps and what is said of time stay")
    func decrypted() throws {
        #expect(
            try Self.rewrite(Self.media, key: nil) == """
                #EXTM3U
                #EXT-X-VERSION:7
                #EXT-X-MEDIA-SEQUENCE:5
                #EXT-X-TARGETDURATION:4
                #EXT-X-MAP:URI="m0"
                #EXTINF:4,one
                s0
                #EXT-X-DISCONTINUITY
                #EXT-X-PROGRAM-DATE-TIME:2020-01-01T00:00:00Z
                #EXTINF:3.5,
                s1
                #EXTINF:2,
                s2
                #EXT-X-GAP
                #EXTINF:2,
                s3
                #EXT-X-GAP
                #EXTINF:4,
                s4
                #EXT-X-ENDLIST

                """)
    }

    @Test("a key that is kept has another URI, stands before what it is for, and has an IV only where it had one")
    func encrypted() throws {
        let text = try Self.rewrite(Self.media) { "k" + $0.suffix(1) }
        #expect(!text.contains("secret"))
        #expect(
            text.split(separator: "\n").filter { $0.hasPrefix("#EXT-X-KEY") || $0.hasPrefix("#EXT-X-MAP") }
                == [
                    "#EXT-X-KEY:METHOD=AES-128,URI=\"ka\",IV=0x000000000000000000000000000000FF",
                    "#EXT-X-MAP:URI=\"m0\"", "#EXT-X-KEY:METHOD=AES-128,URI=\"kb\"", "#EXT-X-KEY:METHOD=NONE",
                ])
        // What was written means what was read.
        guard case .media(let before) = try Playlist.parse(Self.media),
            case .media(let after) = try Playlist.parse(text)
        else {
            Issue.record("no media playlist")
            return
        }
        #expect(after.segments.count == before.segments.count && after.hasEndList)
        for (old, new) in zip(before.segments, after.segments) where old.problem == nil {
            #expect(old.sequenceNumber == new.sequenceNumber && old.duration == new.duration)
            #expect(old.discontinuityNumber == new.discontinuityNumber && new.byteRange == nil)
            guard case .aes128(_, let iv, let rule) = old.encryption else {
                #expect(new.encryption == .none)
                continue
            }
            #expect(new.encryption == .aes128(keyURI: "kb", iv: iv, ivRule: rule))
        }
    }

    @Test("of a broken playlist, no key's URI and no control character is left")
    func broken() throws {
        let text = try Self.rewrite(
            """
            #EXTM3U
            #ext-x-key:METHOD=AES-128,URI="secret"
            #EXT-X-KEY :METHOD=AES-128,URI="secret"
            #EXT-X-MEDIA-SEQUENCE:7
            #EXT-X-MEDIA-SEQUENCE:8
            #EXTINF:x,\u{1}
            secret.ts
            """, key: nil)
        #expect(text == "#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:7\n#EXT-X-GAP\n#EXTINF:1,\ns0\n")
    }

    @Test("a tag whose name has a control character does not become the one that it looks like")
    func controlCharacters() throws {
        let text = """
            #EXTM3U
            #EXT-X-TARGETDURATION:6
            #EXT-X-MEDI\u{16}A
            #EXT-X-KE\u{1}Y:METHOD=AES-128,URI="https://elsewhere/key"
            #EXT-X-M\tAP:URI="elsewhere"
            #EXTINF:2,
            a.ts
            #EXT-X-DISCONTINUITY\t
            #EXTINF:2,
            b.ts
            #EXT-X-ENDLIST

            """
        // White space at a line's end is no part of a name.
        #expect(
            try Self.rewrite(text, key: nil) == """
                #EXTM3U
                #EXT-X-TARGETDURATION:6
                #EXTINF:2,
                s0
                #EXT-X-DISCONTINUITY
                #EXTINF:2,
                s1
                #EXT-X-ENDLIST

                """)
    }

    @Test("of a master playlist, what is not served goes with its tag")
    func master() throws {
        let text = """
            #EXTM3U
            #EXT-X-SESSION-KEY:METHOD=AES-128,URI="secret"
            #EXT-X-INDEPENDENT-SEGMENTS
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="é, b",URI="sound.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="gone",URI="gone.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a"
            low list.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=2
            gone.m3u8
            #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=3,URI="frames.m3u8"
            """
        let rewritten = try Array(text.utf8).withUnsafeBytes { bytes in
            try MasterRewriter.rewrite(bytes) { uri, line in uri.hasPrefix("gone") ? nil : "\(line)?t=1" }
        }
        #expect(
            rewritten == """
                #EXTM3U
                #EXT-X-INDEPENDENT-SEGMENTS
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="é, b",URI="4?t=1"
                #EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a"
                7?t=1
                #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=3,URI="10?t=1"

                """)
    }
}
