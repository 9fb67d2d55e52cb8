import ByteSources
import Glibc
import HLS
import OpenSSLBackend
import RandomAccess
import Support
import SystemPackage
import TestSupport
import Testing

@Suite("decrypt with the strategy hls-aes128")
struct PlaylistTests {
    private let folder: TemporaryFolder
    private let plaintext = Samples.bytes(5000)

    init() throws {
        folder = try TemporaryFolder()
        let options = HLSOptions(segmentByteCounts: [999], segmentsPerKey: 2, keyURIPrefix: "mykey://film/")
        try HLSEncryptor(options: options, backend: OpenSSL())
            .run(MemorySource(plaintext), to: FolderOutput(folder: FilePath(folder.path)))
    }

    private func decrypt(_ arguments: [String]) throws -> CommandRun {
        try Chunkwise.run(["decrypt", "--strategy", "hls-aes128"] + arguments, in: folder.path)
    }

    @Test(
        "segments and ranges of them, with keys of a folder or a command",
        arguments: [
            ["--keys", "."], ["--key-command", "f() { cat \"${1##*/}\"; }; f"], ["--keys", ".", "--root", "."],
        ])
    func ranges(keys: [String]) throws {
        let whole = try decrypt(keys + ["playlist.m3u8", "out", "--threads", "3", "--window", "100"])
        #expect(whole.status == 0 && whole.errorLines.isEmpty, "\(whole.errorLines)")
        #expect(Samples.difference(folder.bytes("out") ?? [], plaintext) == nil)
        for (text, range) in [("0-0", 0..<1), ("990-2100", 990..<2101), ("-17", 4983..<5000), ("4990-", 4990..<5000)] {
            let run = try decrypt(keys + ["playlist.m3u8", "-", "--range", text])
            #expect(run.status == 0 && run.output == Array(plaintext[range]), "\(text): \(run.errorLines)")
        }
    }

    @Test("what is wrong is one line with the segment, its line and what was expected, and nothing is left")
    func failures() throws {
        Chunkwise.expectFailure(try decrypt(["playlist.m3u8", "out"]), 66, "no provider handles the scheme \"mykey\"")
        Chunkwise.expectFailure(try decrypt(["none.m3u8", "out"]), 66, "none.m3u8")
        Chunkwise.expectFailure(try decrypt(["segment0.ts", "out"]), 65, "line 1")
        Chunkwise.expectFailure(try decrypt(["--iv", Chunkwise.ivHex, "playlist.m3u8", "out"]), 64, "--iv")
        Chunkwise.expectFailure(
            try decrypt(["--strategy", "hls-aes128:padding=none", "playlist.m3u8", "out"]), 64, "--strategy")
        Chunkwise.expectFailure(
            try decrypt(["--keys", ".", "--key-command", "x", "playlist.m3u8", "out"]), 64, "several sources of keys")
        Chunkwise.expectFailure(
            try Chunkwise.convert("decrypt", folder, ["segment0.ts", "out"], ["--keys", "."]), 64, "--keys")
        #expect(folder.bytes("out") == nil)
    }

    @Test(
        "a playlist has nothing read but what lies in its folder, or in the root that is named",
        arguments: ["../outside", "link", "file://", "sub/../../outside"])
    func root(uri: String) throws {
        let folder = try TemporaryFolder()
        try folder.file("outside", plaintext)
        _ = try FolderOutput(folder: FilePath(folder.path("films")))
        symlink("../outside", folder.path("films/link"))
        let target = uri == "file://" ? uri + folder.path("outside") : uri
        try folder.file(
            "films/list.m3u8", "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n\(target)\n#EXT-X-ENDLIST\n")
        let arguments = ["decrypt", "--strategy", "hls-aes128", "films/list.m3u8", "out"]
        func decrypt(_ root: [String]) throws -> CommandRun {
            try Chunkwise.run(arguments + root, in: folder.path)
        }
        let refused = try decrypt([])
        Chunkwise.expectFailure(refused, 65, "expected a file in ")
        #expect(refused.errorLines.first?.contains("outside") == true || uri == "link")
        #expect(folder.bytes("out") == nil)
        for root in [".", "/"] {
            #expect(try decrypt(["--root", root]).status == 0 && folder.bytes("out") == plaintext)
        }
    }

    @Test(
        "what belongs to the playlist is never replaced",
        arguments: ["segment1.ts", "playlist.m3u8", "./segment0.ts"])
    func outputs(name: String) throws {
        let before = folder.bytes(name)
        Chunkwise.expectFailure(try decrypt(["--keys", ".", "playlist.m3u8", name]), 64, "belongs to the playlist")
        #expect(before != nil && folder.bytes(name) == before)
    }

    @Test("byte ranges are read as the playlist says, or as an option does, which the refusal names")
    func byteRanges() throws {
        let plain = Samples.bytes(1000)
        try folder.file("hex", Chunkwise.keyHex + "\n", isSecret: true)
        try folder.file("plain", plain)
        let encrypt = ["encrypt", "--key-file", "hex", "--iv", Chunkwise.ivHex, "plain", "all"]
        #expect(try Chunkwise.run(encrypt, in: folder.path).status == 0)
        func list(_ head: String, _ ranges: [Range<Int>]) throws {
            let key = "#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0x\(Chunkwise.ivHex)\n"
            let segments = ranges.map { "#EXTINF:1,\n#EXT-X-BYTERANGE:\($0.count)@\($0.lowerBound)\nall\n" }
            try folder.file("list.m3u8", "#EXTM3U\n\(head)\(key)\(segments.joined())#EXT-X-ENDLIST\n")
        }
        let options = ["--key-file", "hex", "list.m3u8", "-"]
        let ranges = [564..<752, 32..<48, 990..<1000]
        try list("#EXT-X-I-FRAMES-ONLY\n", ranges)
        let frames = try decrypt(options)
        #expect(frames.status == 0 && frames.output == ranges.flatMap { plain[$0] }, "\(frames.errorLines)")
        #expect(try decrypt(options + ["--segment-ranges", "ciphertext"]).status == 65)
        try list("", ranges)
        Chunkwise.expectFailure(
            try decrypt(options), 65, "--segment-ranges plaintext reads it, or --segment-ranges chain")
        #expect(try decrypt(options + ["--segment-ranges", "chain"]).output == frames.output)
        try list("", [0..<1000])
        #expect(try decrypt(options + ["--segment-ranges", "plaintext"]).output == plain)
        Chunkwise.expectFailure(
            try Chunkwise.convert("decrypt", folder, ["all", "-"], ["--map-ranges", "chain"]), 64, "--map-ranges")
    }

    @Test("with --keep-going, the rest is written, what is missing is named, and the exit code is 1")
    func keepGoing() throws {
        try folder.file("segment2.ts", Array((folder.bytes("segment2.ts") ?? []).dropLast()))
        try folder.remove("segment4.ts")
        let list = String(decoding: folder.bytes("playlist.m3u8") ?? [], as: UTF8.self)
        try folder.file("gap.m3u8", list.replacing("\nsegment0.ts", with: "\n#EXT-X-GAP\nsegment0.ts"))
        let keys = ["--keys", "."]
        Chunkwise.expectFailure(try decrypt(keys + ["gap.m3u8", "out"]), 66, "(--keep-going writes the rest)")
        let run = try decrypt(keys + ["--keep-going", "gap.m3u8", "out"])
        #expect(run.status == 1, "\(run.errorLines)")
        let rest = Array(plaintext[999..<1998] + plaintext[2997..<3996] + plaintext[4995...])
        #expect(folder.bytes("out") == rest)
        for word in ["segment 1 (line ", "segment 3 (line ", "segment 5 (line ", "3 of 6 parts"] {
            #expect(run.errorLines.count { $0.contains(word) } == 1, "\(word): \(run.errorLines)")
        }
        // A range counts what is there: what is missing before it has moved it.
        for (range, expected, missingCount) in [
            ("5-900", rest[5...900], 1), ("999-999", rest[999...999], 2), ("998-1000", rest[998...1000], 2),
            ("-1000", rest.suffix(1000), 1), ("-5", rest.suffix(5), 0), ("1998-", rest[1998...], 3),
        ] {
            let run = try decrypt(keys + ["--keep-going", "gap.m3u8", "-", "--range", range])
            #expect(run.status == (missingCount == 0 ? 0 : 1) && run.output == Array(expected), "\(range)")
            #expect(run.errorLines.count { $0.contains("missing: ") } == missingCount, "\(range): \(run.errorLines)")
        }
        let none = try decrypt(["--keep-going", "playlist.m3u8", "none"])
        #expect(none.status == 1 && none.errorLines.last?.contains("6 of 6 parts") == true, "\(none.errorLines)")
        #expect(none.errorLines.count { $0.contains("missing: ") && $0.contains("mykey") } == 6)
        #expect(folder.bytes("none") == nil)
        let whole = try decrypt(keys + ["--keep-going", "playlist.m3u8", "-", "--range", "0-9"])
        #expect(whole.status == 0 && whole.errorLines.isEmpty)
    }

    @Test(
        "a key in the playlist is taken from there, and never shown",
        arguments: [[], ["--keys", "."], ["--key-command", "false"]])
    func dataKey(keys: [String]) throws {
        let key = try #require(folder.bytes("key0.key"))
        let uri = "data:," + key.map { "%" + Hexadecimal.encode([$0]) }.joined()
        let list = "#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI=\"\(uri)\",IV=0x\(Chunkwise.ivHex)\n#EXTINF:1,\nenc\n"
        try folder.file("raw", key, isSecret: true)
        try folder.file("plain", plaintext)
        let encrypt = ["encrypt", "--key-file", "raw", "--iv", Chunkwise.ivHex, "plain", "enc"]
        #expect(try Chunkwise.run(encrypt, in: folder.path).status == 0)
        try folder.file("list.m3u8", list)
        let run = try decrypt(keys + ["list.m3u8", "-"])
        #expect(run.status == 0 && run.output == plaintext, "\(run.errorLines)")
        try folder.file("list.m3u8", list.replacing(uri, with: uri + "%"))
        let refusal = try decrypt(keys + ["list.m3u8", "-"])
        Chunkwise.expectFailure(refusal, 65, "data:…")
        #expect(!refusal.errorLines[0].contains(uri.suffix(20)))
    }

    @Test("a segment that is cut short is named, and the others are served")
    func cut() throws {
        try folder.file("segment2.ts", Array((folder.bytes("segment2.ts") ?? []).dropLast()))
        let arguments = ["--keys", ".", "playlist.m3u8", "-", "--range"]
        Chunkwise.expectFailure(try decrypt(arguments + ["0-2500"]), 65, "segment 3 (line ")
        let run = try decrypt(arguments + ["0-1997"])
        #expect(run.status == 0 && run.output == Array(plaintext[..<1998]), "\(run.errorLines)")
    }

    @Test(
        "what a playlist has and nothing here reads is the playlist's fault, and named before files are looked for",
        arguments: [
            ("#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"k\"\n#EXTINF:1,\nsegment0.ts", "SAMPLE-AES"),
            ("#EXT-X-KEY:METHOD=AES-256-GCM,URI=\"k\"\n#EXTINF:1,\nsegment0.ts", "AES-256-GCM"),
            ("#EXT-X-DEFINE:NAME=\"p\",VALUE=\"segment0\"\n#EXTINF:1,\n{$p}.ts", "EXT-X-DEFINE"),
            ("#EXTINF:1,\nftp://host/segment0.ts", "ftp"),
            ("#EXT-X-DEFINE:NAME=\"p\",VALUE=\"l\"\n#EXT-X-STREAM-INF:BANDWIDTH=1\n{$p}.m3u8", "EXT-X-DEFINE"),
        ])
    func unsupported(lines: String, word: String) throws {
        try folder.file("list.m3u8", "#EXTM3U\n\(lines)\n")
        Chunkwise.expectFailure(try decrypt(["list.m3u8", "-"]), 65, word)
    }

    @Test("a segment or a key that is not there is missing input, a key of another length bad data")
    func missing() throws {
        let arguments = ["--keys", ".", "playlist.m3u8", "-", "--range"]
        try folder.remove("segment1.ts")
        Chunkwise.expectFailure(try decrypt(arguments + ["0-1500"]), 66, "segment 2 (line ")
        try folder.file("key0.key", [UInt8](repeating: 1, count: 15))
        Chunkwise.expectFailure(
            try decrypt(arguments + ["0-9"]), 65, "cannot be used: key file ./key0.key has 15 bytes: expected 16")
        try folder.remove("key0.key")
        Chunkwise.expectFailure(try decrypt(arguments + ["0-9"]), 66, "key0.key")
    }
}
