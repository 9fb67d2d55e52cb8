import Foundation
import TestSupport
import Testing

@Suite("serving playlists", .serialized)
struct PlaylistServingTests {
    private static let ffmpeg = Programs.installed("ffmpeg")
    private static let ffprobe = Programs.installed("ffprobe")

    @discardableResult
    private static func ffmpeg(_ arguments: [String], in folder: String) throws -> CommandRun {
        let run = try CommandRun.run(
            try #require(ffmpeg), ["-nostdin", "-loglevel", "error", "-y"] + arguments, in: folder)
        try #require(run.status == 0, "ffmpeg \(arguments): \(run.errorLines)")
        return run
    }

    /// Pictures and sound as hashes with times.
    private static func frames(_ input: String, in folder: String) throws -> [Substring] {
        let demuxer = input.hasSuffix(".m3u8") ? ["-allowed_extensions", "ALL"] : []
        return try ffmpeg(demuxer + ["-i", input, "-map", "0", "-f", "framemd5", "-"], in: folder).text
            .split(separator: "\n").filter { !$0.hasPrefix("#") }
    }

    /// Makes six seconds of film with ffmpeg, in `film`, with the key beside, and a master playlist above it.
    private static func film(_ options: [String]) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(
            atPath: folder.path("top/film é"), withIntermediateDirectories: true)
        try folder.file("top/film é/film.key", ServerProcess.key, isSecret: true)
        try folder.file("info", "film.key\n\(folder.path("top/film é/film.key"))\n")
        try ffmpeg(
            [
                "-f", "lavfi", "-i", "testsrc=size=64x48:rate=10:duration=6", "-f", "lavfi", "-i", "sine=duration=6",
                "-c:v", "mpeg4", "-g", "10", "-c:a", "mp2", "-fflags", "+bitexact", "plain.ts",
            ], in: folder.path)
        try ffmpeg(
            [
                "-i", folder.path("plain.ts"), "-c", "copy", "-hls_time", "1", "-hls_list_size", "0",
                "-hls_key_info_file", folder.path("info"),
            ] + options + ["list.m3u8"], in: folder.path("top/film é"))
        try folder.file("top/all.m3u8", "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=100000\nfilm%20%C3%A9/list.m3u8\n")
        return folder
    }

    private static let strategy = ["--strategy", "hls-aes128", "--port", "0"]

    @Test(
        "ffmpeg and ffprobe play what ffmpeg made, decrypted or with our key, as they play the files",
        .enabled(if: ffmpeg != nil && ffprobe != nil),
        arguments: [[], ["-hls_flags", "single_file"], ["-start_number", "300"]],
        [[], ["--hls-encrypted"]])
    func plays(form: [String], options: [String]) throws {
        let folder = try Self.film(form)
        let expected = try Self.frames("top/film é/list.m3u8", in: folder.path)
        try #require(expected.count > 60)
        let server = try ServerProcess(folder, ["top"] + options, options: Self.strategy)
        for path in ["all.m3u8", "film%20%C3%A9/list.m3u8"] {
            let url = server.root + path
            #expect(try Self.frames(url, in: folder.path) == expected, "\(path)")
            let probe = try CommandRun.run(
                try #require(Self.ffprobe), ["-v", "error", "-show_entries", "format=format_name", url])
            #expect(probe.status == 0 && probe.text.contains("format_name=hls"), "\(probe.errorLines)")
        }
        let text = try server.get("/\(server.token)/film%20%C3%A9/list.m3u8").text
        #expect(text.contains("EXT-X-KEY") == !options.isEmpty && !text.contains("\"film.key\""))
        #expect(server.errors.isEmpty, "\(server.errors)")
    }

    @Test("initialization sections are decrypted like segments", .enabled(if: ffmpeg != nil))
    func initializationSections() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path("f"), withIntermediateDirectories: true)
        try Self.ffmpeg(
            [
                "-f", "lavfi", "-i", "testsrc=size=64x48:rate=10:duration=3", "-c:v", "mpeg4", "-g", "10", "-hls_time",
                "1", "-hls_list_size", "0", "-hls_segment_type", "fmp4", "list.m3u8",
            ], in: folder.path)
        let expected = try Self.frames("list.m3u8", in: folder.path)
        try #require(expected.count == 30)
        for name in ["init.mp4", "list0.m4s", "list1.m4s", "list2.m4s"] {
            try ServerProcess.encrypt(try #require(folder.bytes(name)), to: "f/\(name)", in: folder)
        }
        try folder.file("f/k", ServerProcess.key)
        let list = String(decoding: try #require(folder.bytes("list.m3u8")), as: UTF8.self)
        let key = "#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0x\(ServerProcess.hexadecimal(ServerProcess.iv))\n"
        try folder.file("f/list.m3u8", list.replacingOccurrences(of: "#EXT-X-MAP", with: key + "#EXT-X-MAP"))
        let server = try ServerProcess(folder, ["--no-token", "f"], options: Self.strategy)
        #expect(try Self.frames("http://127.0.0.1:\(server.port)/list.m3u8", in: folder.path) == expected)
    }

    @Test(
        "I-frames and sections by plaintext ranges are served decrypted; parts of chains cannot be handed on encrypted")
    func plaintextRanges() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path("f"), withIntermediateDirectories: true)
        try folder.file("f/k", ServerProcess.key, isSecret: true)
        let plaintext = Samples.bytes(1000)
        try ServerProcess.encrypt(plaintext, to: "f/0.ts", in: folder)
        try ServerProcess.encrypt(Array(plaintext[..<30]), to: "f/h", in: folder)
        let key = "#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0x\(ServerProcess.hexadecimal(ServerProcess.iv))\n"
        let ranges = [0..<17, 564..<940, 900..<1000]
        let frames = ranges.map { "#EXTINF:1,\n#EXT-X-BYTERANGE:\($0.count)@\($0.lowerBound)\n0.ts\n" }.joined()
        let head = "#EXTM3U\n#EXT-X-I-FRAMES-ONLY\n\(key)#EXT-X-MAP:URI=\"h\",BYTERANGE=\"30@0\"\n"
        try folder.file("f/i.m3u8", "\(head)\(frames)#EXT-X-ENDLIST\n")
        for options in [[], ["--hls-encrypted"]] {
            let server = try ServerProcess(
                folder, ["--no-token", "--map-ranges", "plaintext", "f"] + options, options: Self.strategy)
            let text = try server.get("/i.m3u8").text
            let section = try #require(text.firstMatch(of: /URI="(i.m3u8\/m[^"]*)"/)).1
            let bytes = try server.get("/" + section).body
            #expect(bytes == (options.isEmpty ? Array(plaintext[..<30]) : folder.bytes("f/h")))
            #expect(text.split(separator: "\n").filter { $0 == "#EXT-X-GAP" }.count == (options.isEmpty ? 0 : 3))
            for (index, range) in ranges.enumerated() where options.isEmpty {
                #expect(try server.get("/i.m3u8/s\(index)/0.ts").body == Array(plaintext[range]))
            }
        }
    }

    /// Six segments of which one is missing and one is cut off, and the plaintext of the others.
    private static func broken() throws -> (folder: TemporaryFolder, plaintexts: [[UInt8]]) {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path("f"), withIntermediateDirectories: true)
        try folder.file("f/film.key", ServerProcess.key, isSecret: true)
        try folder.file("secret.ts", "outside")
        let plaintexts = (0..<6).map { Samples.bytes(100_000 + $0, seed: UInt64($0)) }
        for (index, plaintext) in plaintexts.enumerated() where index != 2 {
            try ServerProcess.encrypt(plaintext, to: "f/\(index).ts", in: folder)
        }
        try folder.file("f/3.ts", Array(try #require(folder.bytes("f/3.ts")).dropLast(5)))
        let uris =
            (0..<6).map { "\($0).ts" } + [
                "../secret.ts", "%2e%2e/secret.ts", folder.path("secret.ts"), "file://" + folder.path("secret.ts"),
                "http://127.0.0.1/x.ts", ".hidden.ts", "link.ts",
            ]
        try folder.file("f/.hidden.ts", "hidden")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("f/link.ts"), withDestinationPath: "../secret.ts")
        let key = "#EXT-X-KEY:METHOD=AES-128,URI=\"film.key\",IV=0x\(ServerProcess.hexadecimal(ServerProcess.iv))\n"
        try folder.file(
            "f/list.m3u8", "#EXTM3U\n" + key + uris.map { "#EXTINF:1,\n\($0)\n" }.joined() + "#EXT-X-ENDLIST\n")
        return (folder, plaintexts)
    }

    @Test("what can be served of a broken playlist is, by ranges of plaintext; the rest has a status and a line")
    func partly() throws {
        let (folder, plaintexts) = try Self.broken()
        let server = try ServerProcess(folder, ["--no-token", "f"], options: Self.strategy)
        for (index, plaintext) in plaintexts.enumerated() {
            let target = "/list.m3u8/s\(index)/\(index).ts"
            let expected = index == 2 ? 404 : index == 3 ? 500 : 206
            let response = try server.get(target, ["Range: bytes=65000-"])
            #expect(response.status == expected, "\(target)")
            if expected == 206 { #expect(response.body == Array(plaintext[65000...])) }
        }
        // A path of the folder that has no file, or one that is not served; and what names none of the folder's at all.
        for (index, status) in zip(6..., [404, 500, 404, 500, 500, 404, 404]) {
            let response = try server.get("/list.m3u8/s\(index)/x.ts")
            #expect(response.status == status && !response.text.contains("outside"), "segment \(index)")
        }
        #expect(server.errors.contains("segment 3 (line 8, 2.ts)") && server.errors.contains("segment 4 (line 10"))
        for target in [
            "/film.key", "/0.ts", "/list.m3u8/s13/x", "/list.m3u8/s00/0.ts", "/list.m3u8/s0", "/list.m3u8/x/y",
            "/list.m3u8/kfilm.key/x", "/list.m3u8/../film.key", "/list.m3u8/s-1/x", "/list.m3u8/m0/x", "/none.m3u8",
        ] {
            #expect(try server.get(target).status == 404, "\(target)")
        }
        #expect(try server.get("/list.m3u8").status == 200)
    }

    @Test("without encryption being changed, segments are the files' bytes, and the key is behind the token")
    func keys() throws {
        let (folder, _) = try Self.broken()
        let server = try ServerProcess(folder, ["--hls-encrypted", "f/list.m3u8"], options: Self.strategy)
        let list = try server.get("/\(server.token)/list.m3u8").text.split(separator: "\n")
        // A proxy that shows the token for its clients hands it to none of them.
        #expect(!list.contains { $0.contains(server.token) })
        let key = try #require(list.first { $0.hasPrefix("#EXT-X-KEY") }?.split(separator: "\"")[1])
        #expect(try server.get("/\(server.token)/\(key)").body == ServerProcess.key)
        #expect(try server.get("/\(key)").status == 401)
        let segment = try #require(list.first { $0.contains("/s1/") })
        #expect(try server.get("/\(server.token)/\(segment)").body == folder.bytes("f/1.ts"))
        #expect(try server.get("/\(segment)").status == 401)
    }

    @Test("garbage of any length and masters that lead nowhere are refused, with a line in the log")
    func garbage() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path("f"), withIntermediateDirectories: true)
        let stream = "#EXT-X-STREAM-INF:BANDWIDTH=1\n"
        for (name, start, byteCount) in [("garbage", "\u{7}", 100_000_000), ("long", "#EXTM3U\n", 9_000_000)] {
            try folder.file("f/\(name).m3u8", start)
            #expect(truncate(folder.path("f/\(name).m3u8"), byteCount) == 0)
        }
        try folder.file("f/a.m3u8", "#EXTM3U\n\(stream)b.m3u8\n")
        try folder.file("f/b.m3u8", "#EXTM3U\n\(stream)a.m3u8\n\(stream)b.m3u8\n")
        try folder.file("f/curly.m3u8", "#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI=“secret”\n#EXTINF:1,\nx.ts\n")
        let server = try ServerProcess(folder, ["--no-token", "f"], options: Self.strategy)
        for name in ["garbage", "long", "a", "b"] {
            #expect(try server.get("/\(name).m3u8").status == 500, "\(name)")
            #expect(server.errors.contains("\(name).m3u8: "), "\(name)")
        }
        let curly = try server.get("/curly.m3u8")
        #expect(curly.status == 200 && curly.text.contains("#EXT-X-GAP") && !curly.text.contains("secret"))
        #expect(server.errors.contains("curly.m3u8: line 2: ") && !server.errors.contains("secret"))
        #expect(try server.get("/curly.m3u8/s0/x.ts").status == 500)
        #expect(server.memory("VmHWM") < 80 << 20)
    }

    @Test("a folder of other files has playlists as well, and a playlist that grows is served as it is")
    func mixed() throws {
        let folder = try ServerProcess.makeFolder()
        try FileManager.default.createDirectory(atPath: folder.path("f"), withIntermediateDirectories: true)
        let plaintext = Samples.bytes(10_000)
        try ServerProcess.encrypt(plaintext, to: "f/a.ts", in: folder)
        try ServerProcess.encrypt(plaintext, to: "f/encrypted.m3u8", in: folder)
        let head = "#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI=\"mykey://key\","
        let list =
            head + "IV=0x\(ServerProcess.hexadecimal(ServerProcess.iv))\n#EXT-X-MEDIA-SEQUENCE:1\n#EXTINF:1,\na.ts\n"
        try folder.file("f/list.m3u8", list)
        let server = try ServerProcess(folder, ["--no-token", "--keys", folder.path, "f"])
        for target in ["/a.ts", "/encrypted.m3u8", "/list.m3u8/s1/a.ts"] {
            #expect(try server.get(target).body == plaintext, "\(target)")
        }
        #expect(try server.get("/list.m3u8/s2/a.ts").status == 404)
        try folder.file("f/list.m3u8", list + "#EXTINF:1,\na.ts\n")
        #expect(try server.get("/list.m3u8").text.contains("list.m3u8/s2/a.ts"))
        #expect(try server.get("/list.m3u8/s2/a.ts").body == plaintext)
    }

    @Test("a trace has the segments where they are in the plaintext of all, and nothing of playlists and keys")
    func recorded() throws {
        let (folder, plaintexts) = try Self.broken()
        let server = try ServerProcess(
            folder, ["--no-token", "--record", "t.json", "f/list.m3u8"], options: Self.strategy)
        _ = try server.get("/list.m3u8")
        _ = try server.get("/list.m3u8/s1/1.ts", ["Range: bytes=10-19"])
        #expect(server.end() == 0)
        let text = String(decoding: try #require(folder.bytes("t.json")), as: UTF8.self)
        #expect(text.contains("\"offset\": \(plaintexts[0].count + 10), \"count\": 10,"), "\(text)")
        #expect(text.contains("\"object\": \"list.m3u8\"") && text.split(separator: "asked").count == 2)
    }

    @Test("while a key is waited for, everyone else is served")
    func slowKey() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path("f"), withIntermediateDirectories: true)
        let plaintext = Samples.bytes(5000)
        try ServerProcess.encrypt(plaintext, to: "f/s.ts", in: folder)
        try folder.file("k", ServerProcess.key)
        let iv = ServerProcess.hexadecimal(ServerProcess.iv)
        try folder.file(
            "f/list.m3u8",
            "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-KEY:METHOD=AES-128,URI=\"x:k\",IV=0x\(iv)\n#EXTINF:1,\ns.ts\n"
                + "#EXT-X-ENDLIST\n")
        let wait = "while [ ! -e go ]; do sleep 0.01; done; cat k;:"
        let server = try ServerProcess(folder, ["--no-token", "f", "--key-command", wait], options: Self.strategy)
        let path = try #require(
            try server.get("/list.m3u8").text.split(separator: "\n").first { !$0.hasPrefix("#") })
        // One on each event loop, of which there are as many as cores.
        let waiting = try (0..<4).map { _ in
            let connection = try server.connect()
            try connection.send("GET /\(path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
            return connection
        }
        for _ in 0..<8 {
            #expect(try server.get("/none.m3u8").status == 404)
            #expect(try server.get("/list.m3u8").status == 200)
        }
        try folder.file("go", "")
        for connection in waiting { #expect(try connection.response().body == plaintext) }
    }

    @Test("a master playlist says which variants there are without reading all of them")
    func longVariants() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path("f"), withIntermediateDirectories: true)
        // What is behind the first lines is no playlist, and it was not looked at.
        let start = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\ns.ts\n"
        try folder.file("f/long.m3u8", Array(start.utf8) + [UInt8](repeating: 0x61, count: 100_000))
        let line = "#EXT-X-STREAM-INF:BANDWIDTH=1\n"
        try folder.file("f/all.m3u8", "#EXTM3U\n\(line)long.m3u8\n\(line)all.m3u8\n\(line)none.m3u8\n")
        let server = try ServerProcess(folder, ["--no-token", "f"], options: Self.strategy)
        let text = try server.get("/all.m3u8").text
        #expect(text.contains("long.m3u8") && !text.contains("all.m3u8") && !text.contains("none.m3u8"))
        #expect(server.errors.contains("leads back") && server.errors.contains("none.m3u8"))
        #expect(try server.get("/long.m3u8").status == 500)
    }
}
