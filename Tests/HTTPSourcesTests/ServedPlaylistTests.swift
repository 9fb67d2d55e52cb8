import ByteSources
import Foundation
import HLS
import OpenSSLBackend
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
            Programs.built("chunkwise"), ["decrypt", "--strategy", "hls-aes128"] + arguments + trust + [url, "out"],
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
        expect(try decrypt(peer, url + "x?secret", []), 74, "badStatus")
        expect(try decrypt(peer, url, ["--root", "."]), 64, "--root")
        expect(try decrypt(peer, url.replacing("playlist.m3u8", with: "segment0.ts"), []), 65, "line 1")
        expect(
            try CommandRun.run(
                Programs.built("chunkwise"), ["decrypt", "--strategy", "hls-aes128", url, "out"], in: peer.folder.path),
            74, "incompleteChain")
        try FileManager.default.removeItem(atPath: peer.folder.path("served/film/segment2.ts"))
        expect(try decrypt(peer, url, []), 74, "segment 3")
    }
}
