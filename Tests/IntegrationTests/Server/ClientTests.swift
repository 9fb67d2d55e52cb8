import Foundation
import RandomAccess
import TestSupport
import Testing

/// Clients that others wrote, as far as they are installed.
@Suite("clients", .serialized)
struct ClientTests {
    private static let curl = Programs.installed("curl")
    private static let ffmpeg = Programs.installed("ffmpeg")
    private static let ffprobe = Programs.installed("ffprobe")
    private static let chromium = Programs.installed("chromium")
    private static let python = Programs.installed("python3")
    private static let clients = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Clients")

    private static let plaintext = Samples.bytes(5_000_011, seed: 7)
    private static let chunked = ["--strategy", "cbc-chunked:chunk=16MB"]

    private static func strategy() throws -> Strategy {
        .cbcChunked(
            chunkByteCount: 16_000_000, iv: try Block(ServerProcess.iv), ivRule: .sequence, padding: .pkcs7)
    }

    private static func run(_ program: String?, _ arguments: [String], in folder: String? = nil) throws -> CommandRun {
        let run = try CommandRun.run(try #require(program), arguments, in: folder)
        #expect(run.status == 0, "\(arguments.joined(separator: " ")): \(run.errorLines.suffix(3))")
        return run
    }

    @Test("curl asks for parts, resumes, and asks for the head", .enabled(if: curl != nil))
    func curlRanges() throws {
        let folder = try ServerProcess.makeFolder()
        try ServerProcess.encrypt(Self.plaintext, to: "film.mp4", in: folder)
        let server = try ServerProcess(folder, ["film.mp4"])
        let url = server.root + "film.mp4"
        let count = Self.plaintext.count
        for (range, expected) in [
            ("0-0", 0..<1), ("1000000-1999999", 1_000_000..<2_000_000), ("-500", count - 500..<count),
            ("4999999-", 4_999_999..<count), ("0-", 0..<count),
        ] {
            let run = try Self.run(Self.curl, ["--silent", "--fail", "-r", range, url])
            #expect(Samples.difference(run.output, Array(Self.plaintext[expected])) == nil)
        }
        try folder.file("part", Array(Self.plaintext[..<1_234_567]))
        let resumed = try Self.run(
            Self.curl,
            ["--silent", "--fail", "-C", "-", "-o", folder.path("part"), "-w", "%{http_code} %{size_download}", url])
        #expect(resumed.text == "206 \(count - 1_234_567)")
        #expect(Samples.difference(try #require(folder.bytes("part")), Self.plaintext) == nil)
        let head = try Self.run(Self.curl, ["--silent", "--fail", "--head", url]).text.lowercased()
        #expect(head.contains("content-length: \(count)\r\n") && head.contains("accept-ranges: bytes\r\n"))
        let bearer = ["--silent", "--fail", "-H", "Authorization: Bearer \(server.token)"]
        let other = try Self.run(
            Self.curl, bearer + ["--http2", "-r", "7-9", "http://127.0.0.1:\(server.port)/film.mp4"])
        #expect(other.output == Array(Self.plaintext[7..<10]))
        let two = try Self.run(
            Self.curl, ["--silent", "--fail", "-r", "1-2", url, "--next", "--silent", "-r", "3-4", url])
        #expect(two.output == Array(Self.plaintext[1..<5]))
    }

    /// A video of 20 s that noise makes hard to compress.
    private static func makeVideo(_ name: String, size: String, in folder: TemporaryFolder, _ options: [String]) throws
    {
        let source = "testsrc2=size=\(size):rate=25:duration=20,noise=alls=30:allf=t:all_seed=1"
        _ = try run(
            ffmpeg,
            [
                "-v", "error", "-f", "lavfi", "-i", source, "-pix_fmt", "yuv420p", "-c:v", "libx264", "-preset",
                "ultrafast",
            ]
                + options + [folder.path(name)])
    }

    @Test(
        "ffprobe and ffmpeg read and seek what is served like the plain file",
        .enabled(if: ffmpeg != nil && ffprobe != nil), arguments: ["film.mp4", "film.ts", "film.mkv"])
    func ffmpegSeeks(name: String) throws {
        let folder = try ServerProcess.makeFolder()
        let plain = try TemporaryFolder()
        try Self.makeVideo(name, size: "320x240", in: plain, ["-crf", "30", "-g", "5"])
        try ServerProcess.encrypt(
            try #require(plain.bytes(name)), strategy: try Self.strategy(), to: name, in: folder)
        let server = try ServerProcess(folder, Self.chunked + [name])
        let url = server.root + name
        let entries = [
            "-v", "error", "-show_entries", "format=duration,size,format_name:stream=codec_name,width,height,nb_frames",
        ]
        #expect(
            try Self.run(Self.ffprobe, entries + [url]).text
                == Self.run(Self.ffprobe, entries + [plain.path(name)]).text)
        for time in ["0", "3.3", "11.72", "19.5"] {
            let frame = ["-frames:v", "3", "-f", "framemd5", "-"]
            let served = try Self.run(Self.ffmpeg, ["-v", "error", "-ss", time, "-i", url] + frame)
            let read = try Self.run(Self.ffmpeg, ["-v", "error", "-ss", time, "-i", plain.path(name)] + frame)
            #expect(served.text == read.text && read.text.contains("115200,"), "at \(time)")
        }
        let all = ["-map", "0:v", "-f", "md5", "-"]
        #expect(
            try Self.run(Self.ffmpeg, ["-v", "error", "-i", url] + all).text
                == Self.run(Self.ffmpeg, ["-v", "error", "-i", plain.path(name)] + all).text)
    }

    @Test(
        "Chromium plays and seeks a video in chunks of 16 MB, and shows the plain file's frames at ten places",
        .enabled(if: chromium != nil && ffmpeg != nil && python != nil))
    func chromiumFrames() throws {
        let folder = try ServerProcess.makeFolder()
        let plain = try TemporaryFolder()
        let name = "film.mp4"
        try Self.makeVideo(
            name, size: "640x360", in: plain, ["-b:v", "16M", "-minrate", "16M", "-bufsize", "4M", "-g", "25"])
        let video = try #require(plain.bytes(name))
        try #require(video.count > 33_000_000, "\(video.count) bytes: expected more than two chunks")
        let page = Array(try Data(contentsOf: Self.clients.appending(path: "frames.html")))
        try plain.file("frames.html", page)
        try ServerProcess.encrypt(video, strategy: try Self.strategy(), to: name, in: folder)
        let server = try ServerProcess(folder, Self.chunked + ["--allow-origin", "*", name])
        // Back and forth, so that what was read ahead is of no use.
        let times = "19.42,0.02,10.02,5.5,15.14,1.06,18.9,7.7,13.38,3.3"
        let script = Self.clients.appending(path: "chromium_frames.py").path
        let expected = try Self.run(Self.python, [script, "--whole", plain.path, name, times]).text
        let served = try Self.run(Self.python, [script, plain.path, server.root + name, times]).text
        let lines = expected.split(separator: "\n")
        #expect(lines.count == 12 && Set(lines.dropFirst(2)).count == 10)
        #expect(served == expected)
        #expect(server.errors.isEmpty)
    }
}
