import ByteSources
import Glibc
import HLS
import RandomAccess
import Synchronization
import Testing

@Suite("what lies around a playlist on a server")
struct ServedResourcesTests {
    /// Resources by URL, and the requests for them.
    private final class Site: Sendable {
        let asked = Mutex<[String]>([])
        /// The URLs that were asked for as a playlist or a key.
        let short = Mutex<Set<String>>([])
        private let contents: [String: [UInt8]]

        init(_ contents: [String: [UInt8]] = [:]) {
            self.contents = contents
        }

        var opener: ServedResources.Opener {
            { [self] (request) throws(DecryptionError) in
                asked.withLock { $0.append((request.isOnFirstServer ? "" : "other ") + request.url) }
                if request.isShort { short.withLock { _ = $0.insert(request.url) } }
                guard let bytes = contents[request.url] else {
                    let code: Int32 = request.url.contains("silent") ? 0 : ENOENT
                    throw .io(operation: "open", code: code, reason: code == 0 ? "noAnswer" : "badStatus: 404")
                }
                return ServedObject(source: MemorySource(bytes), url: request.url)
            }
        }

        func resources(_ playlist: String) -> ServedResources {
            ServedResources(playlist: URIReference(playlist), open: opener)
        }
    }

    @Test(
        "URIs start from the playlist's, and only its own server counts as the same",
        arguments: [
            ("a%20b.ts", "https://h/film/a%20b.ts"), ("../x.ts?token=1#there", "https://h/x.ts?token=1"),
            ("/y", "https://h/y"), ("HTTPS://H/z", "HTTPS://H/z"), ("https://h:443/z", "https://h:443/z"),
            ("//cdn/z", "other https://cdn/z"), ("https://h:444/z", "other https://h:444/z"),
            ("https://h.other/z", "other https://h.other/z"),
        ])
    func places(uri: String, asked: String) {
        let site = Site()
        #expect(throws: DecryptionError.self) {
            try site.resources("https://h/film/list.m3u8?token=0").source(for: uri)
        }
        #expect(site.asked.withLock { $0 } == [asked])
    }

    @Test(
        "other schemes, and no TLS where the playlist came over it, are errors",
        arguments: [
            "http://h/x", "file:///etc/passwd", "data:text/plain,x", "ftp://h/x",
        ])
    func refused(uri: String) {
        let site = Site()
        #expect {
            try site.resources("https://h/list.m3u8").source(for: uri)
        } throws: {
            "\($0)".contains("expected https")
        }
        #expect(site.asked.withLock { $0.isEmpty })
        #expect(throws: DecryptionError.self) { try Site().resources("http://h/list.m3u8").source(for: "http://h/x") }
    }

    @Test("a master playlist leads to a media playlist, and never round")
    func masters() throws {
        let media = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\n../0.ts\n#EXT-X-ENDLIST\n"
        func master(_ uri: String) -> [UInt8] { Array("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n\(uri)\n".utf8) }
        let site = Site([
            "https://h/a": master("sub/b?v=1"), "https://h/sub/b?v=1": Array(media.utf8), "https://h/0.ts": [1, 2, 3],
            "https://h/round": master("/round"), "https://h/none": master("nowhere"), "https://h/bad": [0, 1],
        ])
        let served = try ServedPlaylist(url: "https://h/a", open: site.opener)
        #expect(served.url.text == "https://h/sub/b?v=1")
        #expect(served.playlist.segments.map(\.uri) == ["../0.ts"])
        #expect(try served.resources.source(for: "../0.ts").byteCount == 3)
        #expect(site.short.withLock { $0 } == ["https://h/a", "https://h/sub/b?v=1"])
        for (name, part) in [("round", "leads back"), ("none", "404"), ("bad", "line 1")] {
            #expect {
                try ServedPlaylist(url: "https://h/\(name)", open: site.opener)
            } throws: {
                "\($0)".contains(part)
            }
        }
    }

    @Test("what is meant for the first server goes to no other, wherever playlists lead")
    func home() throws {
        let media = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\n0.ts\n#EXT-X-ENDLIST\n"
        let master = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nhttps://cdn/list\n"
        let site = Site(["https://h/a": Array(master.utf8), "https://cdn/list": Array(media.utf8)])
        let served = try ServedPlaylist(url: "https://h/a", open: site.opener)
        for uri in ["0.ts", "https://h/1.ts", "https://third/2.ts"] {
            #expect(throws: DecryptionError.self) { try served.resources.source(for: uri) }
        }
        #expect(
            site.asked.withLock { $0 } == [
                "https://h/a", "other https://cdn/list", "other https://cdn/0.ts", "https://h/1.ts",
                "other https://third/2.ts",
            ])
    }

    @Test("a key where its URI says has 16 bytes; one that came without TLS is worth a warning")
    func keys() throws {
        let site = Site([
            "https://h/k": Array(0..<16), "https://h/short": [1], "https://h/long": Array(repeating: 1, count: 5000),
            "http://h/k": Array(0..<16),
        ])
        let keys = ServedKeys(site.resources("https://h/list.m3u8"))
        #expect(try keys.key(for: "k").key.withUnsafeBytes { Array($0) } == Array(0..<16))
        #expect(try keys.key(for: "k").warnings.isEmpty)
        #expect(site.short.withLock { $0 } == ["https://h/k"])
        #expect {
            try KeyRing(keys).key(for: "silent?secret")
        } throws: {
            guard let error = ($0 as? DecryptionError)?.partError, case .io(_, _, "noAnswer") = error.error else {
                return false
            }
            return error.part == "key silent?…"
        }
        for (uri, part) in [
            ("short", "has 1 bytes"), ("long", "1024 or more"), ("nowhere?secret", "is missing"),
            ("skd://k", "no provider handles the scheme \"skd\""), ("http://h/k", "expected https"),
        ] {
            #expect {
                try keys.key(for: uri)
            } throws: {
                "\($0)".contains(part) && !"\($0)".contains("secret")
            }
        }
        #expect(try ServedKeys(site.resources("http://h/list.m3u8")).key(for: "k").warnings.count == 1)
    }
}
