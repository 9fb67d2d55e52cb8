import ByteSources
import Foundation
import HLS
import HTTPSources
import OpenSSLBackend
import Support
import SystemPackage
import TestSupport
import Testing

@Suite(
    "decrypt with a playlist on a server",
    .enabled(if: Peers.areThere, "nginx, openssl, or python3 with cryptography is not installed"), .serialized)
struct ServedPlaylistTests {
    private let plaintext = Samples.bytes(400_000)

    private func peer(hasTLS: Bool, _ options: HLSOptions) throws -> MatrixPeer {
        let peer = try MatrixPeer(nginx: "valid", path: "film", hasTLS: hasTLS)
        let folder = peer.folder.path("served/film")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try HLSEncryptor(options: options, backend: OpenSSL())
            .run(MemorySource(plaintext), to: FolderOutput(folder: FilePath(folder)))
        // The server reads them, whoever it is.
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: folder + "/" + name)
        }
        try peer.folder.file("served/master.m3u8", "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nfilm/playlist.m3u8\n")
        return peer
    }

    private func decrypt(_ peer: MatrixPeer, _ url: String, _ arguments: [String]) throws -> CommandRun {
        let trust = url.hasPrefix("https") ? ["--ca-file", peer.rootPath] : []
        return try CommandRun.run(
            Programs.chunkwise, ["decrypt", "--strategy", "hls-aes128"] + arguments + trust + [url, "out"],
            in: peer.folder.path)
    }

    @Test(
        "segments, byte ranges and keys come from the server",
        arguments: [false, true], [HLSOptions.Arrangement.files, .byteRanges(allOffsets: false)])
    func whole(hasTLS: Bool, _ arrangement: HLSOptions.Arrangement) throws {
        let options = HLSOptions(
            segmentByteCounts: [70_001, 5000], segmentsPerKey: 2, arrangement: arrangement,
            initializationByteCount: 1000)
        let peer = try peer(hasTLS: hasTLS, options)
        let base = "\(hasTLS ? "https" : "http")://localhost:\(peer.port)/"
        for (name, arguments) in [
            ("film/playlist.m3u8", []), ("master.m3u8", ["--threads", "3", "--window", "10000"]),
        ] {
            let run = try decrypt(peer, base + name, arguments)
            #expect(run.status == 0, "\(run.errorLines)")
            #expect(run.errorLines.contains { $0.contains("without TLS") } == !hasTLS, "\(run.errorLines)")
            #expect(Samples.difference(peer.folder.bytes("out") ?? [], plaintext) == nil)
        }
        let part = try decrypt(peer, base + "film/playlist.m3u8?token=1", ["--range", "69000-80000"])
        #expect(part.status == 0 && peer.folder.bytes("out") == Array(plaintext[69_000...80_000]))
        let strict = try decrypt(peer, base + "film/playlist.m3u8", ["--strict"])
        #expect(strict.status == (hasTLS ? 0 : 66), "\(strict.errorLines)")
    }

    @Test("what is missing or wrong has a name, and no file is left")
    func failures() throws {
        let peer = try peer(hasTLS: true, HLSOptions(segmentByteCounts: [70_001]))
        let url = "https://localhost:\(peer.port)/film/playlist.m3u8"
        func expect(_ run: CommandRun, _ status: Int32, _ part: String, line: Int = #line) {
            #expect(run.status == status && run.errorLines.last?.contains(part) == true, "\(line): \(run.errorLines)")
            #expect(peer.folder.bytes("out") == nil)
        }
        expect(try decrypt(peer, url + "x?secret", []), 66, "badStatus")
        expect(try decrypt(peer, url, ["--root", "."]), 64, "--root")
        expect(try decrypt(peer, url.replacing("playlist.m3u8", with: "segment0.ts"), []), 65, "line 1")
        expect(
            try CommandRun.run(
                Programs.chunkwise, ["decrypt", "--strategy", "hls-aes128", url, "out"], in: peer.folder.path),
            74, "incompleteChain")
        try FileManager.default.removeItem(atPath: peer.folder.path("served/film/segment2.ts"))
        expect(try decrypt(peer, url, []), 66, "segment 3")
    }

    @Test(
        "what servers without ranges send whole, what gzip packed, and what is elsewhere is taken",
        arguments: ["whole", "sized", "plain", "packed", "moved"])
    func otherWays(way: String) throws {
        let site = try PlaylistSite(plaintext, HLSOptions(segmentByteCounts: [70_001], segmentsPerKey: 2))
        let run = try site.decrypt(way)
        #expect(run.status == 0, "\(run.errorLines)")
        #expect(Samples.difference(site.folder.bytes("out") ?? [], plaintext) == nil)
    }

    @Test("a playlist that is elsewhere has its segments there")
    func moved() throws {
        let site = try PlaylistSite(plaintext, HLSOptions(segmentByteCounts: [200_001]))
        let run = try site.decrypt("moved")
        #expect(run.status == 0 && site.folder.bytes("out") == plaintext, "\(run.errorLines)")
        let names = try site.counts().keys.filter { $0.hasSuffix("segment0.ts") }
        #expect(names == ["/good/there/segment0.ts"], "\(names)")
    }

    @Test("sound that a master playlist has elsewhere is named")
    func audio() throws {
        let site = try PlaylistSite(plaintext, HLSOptions(segmentByteCounts: [200_001]))
        let group = "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"x\",URI=\"sound.m3u8?secret\"\n"
        let variant = "#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO=\"a\"\nplaylist.m3u8\n"
        try site.folder.file("master.m3u8", "#EXTM3U\n" + group + variant)
        let fetched = try site.decrypt("good", name: "master.m3u8")
        let local = try CommandRun.run(
            Programs.chunkwise, ["decrypt", "--strategy", "hls-aes128", "--keys", ".", "master.m3u8", "local"],
            in: site.folder.path)
        for run in [fetched, local] {
            #expect(run.status == 0, "\(run.errorLines)")
            #expect(run.errorLines.contains { $0.contains("the sound is in sound.m3u8?…, which is not part") })
        }
    }

    @Test("segments of another version than the one that was opened are an error", arguments: [1, 3])
    func versions(threadCount: Int) throws {
        // More segments than are kept open, so that each is opened again.
        let site = try PlaylistSite(plaintext, HLSOptions(segmentByteCounts: [9001]))
        let right = try site.decrypt("good", ["--threads", "\(threadCount)"])
        #expect(right.status == 0 && site.folder.bytes("out") == plaintext, "\(right.errorLines)")
        let run = try site.decrypt("swapped", ["--threads", "\(threadCount)"], output: "other")
        #expect(run.status == 74 && run.errorLines.last?.contains("objectChanged") == true, "\(run.errorLines)")
        #expect(site.folder.bytes("other") == nil)
    }

    @Test("threads ask for each byte of a segment once", arguments: [1, 4])
    func once(threadCount: Int) throws {
        let site = try PlaylistSite(plaintext, HLSOptions(segmentByteCounts: [200_001]))
        let run = try site.decrypt("good", ["--threads", "\(threadCount)", "--window", "16000"])
        #expect(run.status == 0 && site.folder.bytes("out") == plaintext, "\(run.errorLines)")
        // The blocks before windows, and the last blocks, are needed twice.
        let byteCount = try #require(try site.counts()["bytes"])
        #expect(byteCount >= plaintext.count && byteCount < plaintext.count + 2000, "\(byteCount)")
    }

    @Test("a server that does not answer is given up")
    func givenUp() throws {
        let site = try PlaylistSite(plaintext, HLSOptions(segmentByteCounts: [9001]))
        let run = try site.decrypt("silent")
        #expect(run.status == 74 && run.errorLines.last?.contains("segment 1") == true, "\(run.errorLines)")
        // Those that were under way at once, and two that began before the third had failed: for their last bytes, and
        // three times for their first.
        let counts = try site.counts().filter { $0.key.hasSuffix(".ts") }.values
        #expect(counts.count >= 3 && counts.count <= 32 + 2 && counts.allSatisfy { $0 <= 4 }, "\(counts)")
    }

    @Test("the token is for the server that was named, wherever playlists lead")
    func token() throws {
        let first = try PlaylistSite(plaintext, HLSOptions(segmentByteCounts: [70_001]))
        let second = try PlaylistSite(plaintext, HLSOptions(segmentByteCounts: [70_001]))
        try first.folder.file("token", "secret", isSecret: true)
        let variant = "http://127.0.0.1:\(second.port)/good/playlist.m3u8"
        try first.folder.file("master.m3u8", "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n\(variant)\n")
        let run = try first.decrypt("good", ["--token-file", "token"], name: "master.m3u8")
        #expect(run.status == 0 && first.folder.bytes("out") == plaintext, "\(run.errorLines)")
        #expect(try first.tokens() == ["/good/master.m3u8"])
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: first.folder.path("token"))
        let open = try first.decrypt("good", ["--token-file", "token"], name: "master.m3u8", output: "again")
        #expect(open.errorLines.count { $0.contains("token file token can be read by others") } == 1)
        #expect(try second.tokens().isEmpty)
    }

    @Test("a key that a server does not send is missing, and one that cannot be asked for is not")
    func missingKeys() throws {
        for (uri, status) in [("nowhere.key", 66), ("http://127.0.0.1:1/k.key", 74)] as [(String, Int32)] {
            let site = try PlaylistSite(plaintext, HLSOptions(segmentByteCounts: [70_001]))
            let text = String(decoding: site.folder.bytes("playlist.m3u8") ?? [], as: UTF8.self)
            let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("#EXT-X-KEY") })
            let old = try #require(line.split(separator: "\"").dropFirst().first)
            try site.folder.file("playlist.m3u8", text.replacing(old, with: uri))
            let run = try site.decrypt("good")
            #expect(run.status == status, "\(run.errorLines)")
        }
    }
}

/// `playlists.py` with a playlist of its own.
private struct PlaylistSite {
    let folder: TemporaryFolder
    let port: UInt16

    private let peer: PeerProcess

    init(_ plaintext: [UInt8], _ options: HLSOptions) throws {
        folder = try TemporaryFolder()
        try HLSEncryptor(options: options, backend: OpenSSL())
            .run(MemorySource(plaintext), to: FolderOutput(folder: FilePath(folder.path)))
        peer = try PeerProcess(script: "playlists.py", [folder.path])
        port = peer.port
    }

    func decrypt(
        _ way: String, _ arguments: [String] = [], name: String = "playlist.m3u8", output: String = "out"
    ) throws -> CommandRun {
        try CommandRun.run(
            Programs.chunkwise,
            ["decrypt", "--strategy", "hls-aes128"] + arguments + ["http://127.0.0.1:\(port)/\(way)/\(name)", output],
            in: folder.path)
    }

    func counts() throws -> [String: Int] {
        guard case .object(let found) = try ask("count") else { return [:] }
        return found.compactMapValues { $0.integer.map { Int($0) } }
    }

    func tokens() throws -> [String] { try #require(try ask("secrets").array).compactMap(\.string) }

    private func ask(_ path: String) throws -> JSONValue {
        let source = try HTTPSource("http://127.0.0.1:\(port)/\(path)")
        return try #require(JSONValue.parse(try source.bytes(0..<Int(source.byteCount))))
    }
}
