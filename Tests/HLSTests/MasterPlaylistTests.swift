import HLS
import RandomAccess
import SystemPackage
import TestSupport
import Testing

@Suite("master playlists")
struct MasterPlaylistTests {
    private func master(_ text: String) throws -> MasterPlaylist {
        guard case .master(let playlist) = try Playlist.parse(text) else {
            throw PlaylistProblem(
                line: 1, kind: .notAPlaylist, found: "a media playlist", expected: "a master playlist")
        }
        return playlist
    }

    @Test("the master playlist of RFC 8216, section 8.4")
    func variants() throws {
        let playlist = try master(
            """
            #EXTM3U
            #EXT-X-STREAM-INF:BANDWIDTH=1280000,AVERAGE-BANDWIDTH=1000000
            http://example.com/low.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=2560000,AVERAGE-BANDWIDTH=2000000
            http://example.com/mid.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=7680000,AVERAGE-BANDWIDTH=6000000
            http://example.com/hi.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=65000,CODECS="mp4a.40.5"
            http://example.com/audio-only.m3u8
            """)
        #expect(playlist.variants.map(\.bandwidth) == [1_280_000, 2_560_000, 7_680_000, 65000])
        #expect(playlist.variants.map(\.line) == [3, 5, 7, 9])
        #expect(playlist.variants[3].attributes["CODECS"] == "mp4a.40.5")
        #expect(try playlist.variant(.highestBandwidth).uri == "http://example.com/hi.m3u8")
        #expect(try playlist.variant(.index(1)).uri == "http://example.com/mid.m3u8")
        #expect(playlist.problems.isEmpty)
        #expect(throws: PlaylistProblem.self) { try playlist.variant(.index(4)) }
    }

    @Test("I-frames and renditions as in RFC 8216, sections 8.5 and 8.6")
    func renditions() throws {
        let playlist = try master(
            """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="aac",NAME="English",DEFAULT=YES,AUTOSELECT=YES,LANGUAGE="en",URI="main/en.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="aac",NAME="Commentary",DEFAULT=NO,AUTOSELECT=NO,LANGUAGE="en",URI="commentary/en.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=1280000,CODECS="...",AUDIO="aac"
            low/video-only.m3u8
            #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=86000,URI="low/iframe.m3u8"
            """)
        #expect(playlist.renditions.map(\.uri) == ["main/en.m3u8", "commentary/en.m3u8"])
        #expect(playlist.renditions.map(\.name) == ["English", "Commentary"])
        #expect(playlist.variants.map(\.isIFramesOnly) == [false, true])
        #expect(playlist.problems.isEmpty)
    }

    private static let media = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nsegment\n#EXT-X-ENDLIST\n"

    private static func leading(to uri: String) -> String {
        "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nunused.m3u8\n#EXT-X-STREAM-INF:BANDWIDTH=2\n\(uri)\n"
    }

    @Test("a master playlist's best variant is loaded, with URIs relative to the variant")
    func loading() throws {
        let folder = try TemporaryFolder()
        _ = try FolderOutput(folder: FilePath(folder.path("sub")))
        try folder.file("master.m3u8", Self.leading(to: "sub/media.m3u8?x=1"))
        try folder.file("sub/media.m3u8", Self.media)
        try folder.file("sub/segment", "")
        let file = try PlaylistFile(path: FilePath(folder.path("master.m3u8")))
        #expect(file.playlist.segments.count == 1)
        #expect(try file.resources.path(for: "segment").string.hasSuffix("/sub/segment"))
        // The root is the folder of the playlist that was named.
        #expect(try file.resources.path(for: "../master.m3u8").string.hasSuffix("/master.m3u8"))
        #expect(throws: DecryptionError.self) { try file.resources.path(for: "/etc/hostname") }
        #expect {
            try PlaylistFile(path: FilePath(folder.path("master.m3u8")), choice: .mediaOnly)
        } throws: {
            guard case .unsupported(let what)? = ($0 as? DecryptionError)?.partError?.error else {
                return false
            }
            return what.contains("a master playlist")
        }
    }

    @Test(
        "a master playlist that leads back is an error with its line, whatever the cycle's length",
        arguments: [1, 2, 3, 20])
    func cycles(length: Int) throws {
        let folder = try TemporaryFolder()
        for number in 0..<length {
            try folder.file("\(number).m3u8", Self.leading(to: "./x/../\((number + 1) % length).m3u8"))
        }
        #expect {
            try PlaylistFile(path: FilePath(folder.path("0.m3u8")))
        } throws: {
            guard let error = ($0 as? DecryptionError)?.partError,
                case .invalid(let reason) = error.error.playlistError
            else { return false }
            return error.part.hasSuffix(".m3u8") && reason.hasPrefix("line 5: ") && reason.contains("leads back")
        }
    }
}
