import HLS
import RandomAccess
import Testing

/// Parses text that must be a media playlist.
func mediaPlaylist(_ text: String) throws -> MediaPlaylist {
    guard case .media(let playlist) = try Playlist.parse(text) else {
        throw PlaylistProblem(line: 1, kind: .masterPlaylist, found: "a master playlist", expected: "a media playlist")
    }
    return playlist
}

@Suite("media playlists")
struct MediaPlaylistTests {
    @Test("the simple playlist of RFC 8216, section 8.1")
    func simple() throws {
        let playlist = try mediaPlaylist(
            """
            #EXTM3U
            #EXT-X-TARGETDURATION:10
            #EXT-X-VERSION:3
            #EXTINF:9.009,
            http://media.example.com/first.ts
            #EXTINF:9.009,
            http://media.example.com/second.ts
            #EXTINF:3.003,
            http://media.example.com/third.ts
            #EXT-X-ENDLIST
            """)
        #expect(playlist.targetDuration == 10)
        #expect(playlist.version == 3)
        #expect(
            playlist.segments.map(\.uri) == ["first", "second", "third"].map { "http://media.example.com/\($0).ts" })
        #expect(playlist.segments.map(\.duration) == [9.009, 9.009, 3.003])
        #expect(playlist.segments.map(\.line) == [5, 7, 9])
        #expect(playlist.segments.map(\.encryption) == [.none, .none, .none])
        #expect(playlist.hasEndList)
        #expect(playlist.problems.isEmpty)
    }

    @Test("the live playlist of RFC 8216, section 8.2, counts from its media sequence number")
    func live() throws {
        let playlist = try mediaPlaylist(
            """
            #EXTM3U
            #EXT-X-VERSION:3
            #EXT-X-TARGETDURATION:8
            #EXT-X-MEDIA-SEQUENCE:2680

            #EXTINF:7.975,
            https://priv.example.com/fileSequence2680.ts
            #EXTINF:7.941,
            https://priv.example.com/fileSequence2681.ts
            #EXTINF:7.975,
            https://priv.example.com/fileSequence2682.ts
            """)
        #expect(playlist.segments.map(\.sequenceNumber) == [2680, 2681, 2682])
        #expect(!playlist.hasEndList)
        #expect(playlist.problems.isEmpty)
    }

    @Test("the encrypted playlist of RFC 8216, section 8.3: two keys, IVs from sequence numbers")
    func encrypted() throws {
        let playlist = try mediaPlaylist(
            """
            #EXTM3U
            #EXT-X-VERSION:3
            #EXT-X-MEDIA-SEQUENCE:7794
            #EXT-X-TARGETDURATION:15

            #EXT-X-KEY:METHOD=AES-128,URI="https://priv.example.com/key.php?r=52"

            #EXTINF:2.833,
            http://media.example.com/fileSequence52-A.ts
            #EXTINF:15.0,
            http://media.example.com/fileSequence52-B.ts
            #EXTINF:13.333,
            http://media.example.com/fileSequence52-C.ts

            #EXT-X-KEY:METHOD=AES-128,URI="https://priv.example.com/key.php?r=53"

            #EXTINF:15.0,
            http://media.example.com/fileSequence53-A.ts
            """)
        let expected: [SegmentEncryption] = [(52, 7794), (52, 7795), (52, 7796), (53, 7797)].map { key, number in
            .aes128(
                keyURI: "https://priv.example.com/key.php?r=\(key)", iv: Block(bigEndianValue: UInt128(number)),
                ivRule: .sequenceNumber)
        }
        #expect(playlist.segments.map(\.encryption) == expected)
        #expect(playlist.keyURIs == [52, 53].map { "https://priv.example.com/key.php?r=\($0)" })
        #expect(playlist.problems.isEmpty)
    }

    @Test("an IV attribute is a number of 128 bits, in capital or small letters")
    func ivs() throws {
        for text in ["0x00112233445566778899AABBCCDDEEFF", "0X00112233445566778899aabbccddeeff"] {
            let playlist = try mediaPlaylist(
                """
                #EXTM3U
                #EXT-X-KEY:METHOD=AES-128,URI="k",IV=\(text)
                #EXTINF:1,
                a
                """)
            let iv = try Block((0..<16).map { UInt8($0 * 17) })
            #expect(playlist.segments[0].encryption == .aes128(keyURI: "k", iv: iv, ivRule: .attribute))
            #expect(playlist.problems.isEmpty)
        }
    }

    @Test("byte ranges without an offset follow the one before")
    func byteRanges() throws {
        let playlist = try mediaPlaylist(
            """
            #EXTM3U
            #EXTINF:1,
            #EXT-X-BYTERANGE:100@50
            a
            #EXT-X-BYTERANGE:7
            #EXTINF:1,
            a
            #EXTINF:1,
            #EXT-X-BYTERANGE:3
            a
            #EXTINF:1,
            b
            """)
        #expect(playlist.segments.map(\.byteRange) == [50..<150, 150..<157, 157..<160, nil])
        #expect(playlist.problems.isEmpty)
    }

    @Test("an initialization section has the key that is in force at its tag, and its own byte range")
    func sections() throws {
        let playlist = try mediaPlaylist(
            """
            #EXTM3U
            #EXT-X-MAP:URI="plain.mp4"
            #EXT-X-KEY:METHOD=AES-128,URI="k",IV=0x00000000000000000000000000000007
            #EXTINF:1,
            a
            #EXT-X-MAP:URI="all.mp4",BYTERANGE="720@16"
            #EXT-X-KEY:METHOD=NONE
            #EXT-X-MAP:URI="all.mp4",BYTERANGE="9"
            #EXTINF:1,
            b
            """)
        let sections = playlist.initializationSections
        #expect(sections.map(\.byteRange) == [nil, 16..<736, 0..<9])
        #expect(
            sections.map(\.encryption) == [
                .none, .aes128(keyURI: "k", iv: Block(bigEndianValue: 7), ivRule: .attribute), .none,
            ])
        #expect(playlist.segments.map(\.initializationSection) == [0, 2])
        #expect(playlist.problems.isEmpty)
    }

    @Test("a key holds until the next one of its KEYFORMAT, or METHOD=NONE")
    func keyFormats() throws {
        let playlist = try mediaPlaylist(
            """
            #EXTM3U
            #EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://1",KEYFORMAT="com.apple.streamingkeydelivery",KEYFORMATVERSIONS="1"
            #EXT-X-KEY:METHOD=AES-128,URI="k1",KEYFORMAT="identity",KEYFORMATVERSIONS="1/2"
            #EXTINF:1,
            a
            #EXT-X-KEY:METHOD=AES-128,URI="skd://2",KEYFORMAT="com.apple.streamingkeydelivery"
            #EXTINF:1,
            b
            #EXT-X-KEY:METHOD=AES-128,URI="k2"
            #EXTINF:1,
            c
            #EXT-X-KEY:METHOD=NONE
            #EXTINF:1,
            d
            #EXT-X-DISCONTINUITY
            #EXT-X-KEY:METHOD=AES-128,URI="skd://3",KEYFORMAT="com.widevine"
            #EXTINF:1,
            e
            """)
        #expect(playlist.segments.map(\.encryption.keyURI) == ["k1", "k1", "k2", nil, nil])
        #expect(playlist.segments.map(\.problem?.kind) == [nil, nil, nil, nil, .unsupportedKeyFormat])
        #expect(playlist.segments.last?.problem?.line == 16)
        #expect(playlist.segments.map(\.discontinuityNumber) == [0, 0, 0, 0, 1])
    }

    @Test("tags of the whole playlist, lines that end with CR LF, comments and unknown tags")
    func playlistTags() throws {
        let playlist = try mediaPlaylist(
            [
                "#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-PLAYLIST-TYPE:VOD", "#EXT-X-TARGETDURATION:3",
                "#EXT-X-MEDIA-SEQUENCE:18446744073709551615", "#EXT-X-DISCONTINUITY-SEQUENCE:4", "# comment",
                "#EXT-X-SOMETHING-NEW:A=1", "#EXT-X-INDEPENDENT-SEGMENTS", "",
                "#EXT-X-PROGRAM-DATE-TIME:2010-02-19T14:54:23.031+08:00", "#EXTINF:2.5,A title, with commas",
                "a b.ts", "#EXT-X-ENDLIST", "",
            ].joined(separator: "\r\n"))
        #expect(playlist.kind == .videoOnDemand)
        #expect(playlist.mediaSequence == .max)
        #expect(playlist.segments.map(\.uri) == ["a b.ts"])
        #expect(playlist.segments.map(\.title) == ["A title, with commas"])
        #expect(playlist.segments.map(\.discontinuityNumber) == [4])
        #expect(playlist.problems.isEmpty)
    }
}
