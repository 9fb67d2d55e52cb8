import ByteSources
import Foundation
import HLS
import OpenSSLBackend
import RandomAccess
import SystemPackage
import TestSupport
import Testing

/// Playlists and segments of other programs, read by ours, and ours, read by them.
@Suite(
    "ffmpeg and openssl",
    .enabled(if: Programs.installed("ffmpeg") != nil, "ffmpeg is not installed (scripts/setup tests)"),
    .enabled(if: Programs.installed("openssl") != nil, "the openssl command is not installed (scripts/setup tests)"))
struct InteroperationTests {
    private let folder: TemporaryFolder
    private let key = Samples.bytes(16, seed: 7)

    init() throws {
        folder = try TemporaryFolder()
        try folder.file("film.key", key, isSecret: true)
        // Three seconds of pictures and sound; MPEG-4 and MP2 are in every build of ffmpeg.
        try ffmpeg([
            "-f", "lavfi", "-i", "testsrc=size=64x48:rate=10:duration=3", "-f", "lavfi", "-i", "sine=duration=3",
            "-c:v",
            "mpeg4", "-g", "10", "-c:a", "mp2", "-fflags", "+bitexact", "plain.ts",
        ])
    }

    @discardableResult
    private func ffmpeg(_ arguments: [String], in path: String? = nil) throws -> CommandRun {
        let run = try CommandRun.run(
            try #require(Programs.installed("ffmpeg")), ["-nostdin", "-loglevel", "error", "-y"] + arguments,
            in: path ?? folder.path)
        try #require(run.status == 0, "ffmpeg \(arguments): \(run.errorLines)")
        return run
    }

    /// The decoded pictures and sound, as hashes with times.
    private func frames(_ input: String) throws -> [String] {
        let demuxer = input.hasSuffix(".m3u8") ? ["-allowed_extensions", "ALL"] : []
        return try ffmpeg(demuxer + ["-i", input, "-map", "0", "-f", "framemd5", "-"]).text
            .split(separator: "\n").filter { !$0.hasPrefix("#") }.map(String.init)
    }

    private func openssl(_ ciphertext: [UInt8], iv: String) throws -> [UInt8] {
        let run = try CommandRun.run(
            try #require(Programs.installed("openssl")),
            ["enc", "-d", "-aes-128-cbc", "-K", key.map { String(format: "%02x", $0) }.joined(), "-iv", iv],
            input: ciphertext)
        try #require(run.status == 0, "openssl: \(run.errorLines)")
        return run.output
    }

    private func open(_ path: String) throws -> HLSObject {
        let file = try PlaylistFile(path: FilePath(folder.path(path)), root: FilePath(folder.path))
        #expect(file.playlist.problems.isEmpty)
        let object = try HLSObject(
            playlist: file.playlist, resources: file.resources,
            keys: KeyRing(SchemeKeys(["mykey": FolderKeys(folder: FilePath(folder.path))])), backend: OpenSSL())
        try object.requireAll()
        return object
    }

    /// Makes ffmpeg write encrypted segments.
    private func encrypted(iv: String?, _ options: [String]) throws {
        try folder.file("info", "mykey://films/film.key\n\(folder.path("film.key"))\n" + (iv.map { $0 + "\n" } ?? ""))
        try ffmpeg(
            ["-i", "plain.ts", "-c", "copy", "-hls_time", "1", "-hls_list_size", "0", "-hls_key_info_file", "info"]
                + options + ["list.m3u8"])
    }

    @Test(
        "segments of ffmpeg are what openssl decrypts, one behind the other, and what was encrypted",
        arguments: [nil, "00112233445566778899aabbccddeeff"], [[], ["-start_number", "300"]])
    func segments(iv: String?, options: [String]) throws {
        try encrypted(iv: iv, options)
        let object = try open("list.m3u8")
        #expect(object.playlist.segments.count == 3)
        var expected: [UInt8] = []
        for segment in object.playlist.segments {
            guard case .aes128(_, let block, _) = segment.encryption else { return #expect(Bool(false)) }
            let digits = block.bytes.map { String(format: "%02x", $0) }.joined()
            if let iv { #expect(digits == iv) }
            expected += try openssl(folder.bytes(segment.uri) ?? [], iv: digits)
        }
        let bytes = try object.makeCursor().read(at: 0, count: Int(object.plaintextByteCount))
        #expect(bytes == expected)
        try folder.file("joined.ts", bytes)
        #expect(try frames("joined.ts") == frames("plain.ts"))
    }

    @Test("byte ranges of ffmpeg in one file", arguments: [nil, "00112233445566778899aabbccddeeff"])
    func singleFile(iv: String?) throws {
        try encrypted(iv: iv, ["-hls_flags", "single_file"])
        let object = try open("list.m3u8")
        let all = folder.bytes("list.ts") ?? []
        var expected: [UInt8] = []
        for segment in object.playlist.segments {
            let range = try #require(segment.byteRange)
            guard case .aes128(_, let block, _) = segment.encryption else { return #expect(Bool(false)) }
            expected += try openssl(
                Array(all[Int(range.lowerBound)..<Int(range.upperBound)]),
                iv: block.bytes.map { String(format: "%02x", $0) }.joined())
        }
        let cursor = try object.makeCursor()
        #expect(try cursor.read(at: 0, count: expected.count + 1) == expected)
        try folder.file("joined.ts", expected)
        #expect(try frames("joined.ts") == frames("plain.ts"))
    }

    /// Fragmented MP4 with an initialization section: this ffmpeg makes it without encryption only.
    private func fragments() throws -> (section: [UInt8], segments: [[UInt8]]) {
        try ffmpeg([
            "-i", "plain.ts", "-c:v", "copy", "-c:a", "aac", "-hls_time", "1", "-hls_list_size", "0",
            "-hls_segment_type", "fmp4", "fragments.m3u8",
        ])
        let object = try open("fragments.m3u8")
        let segments = object.playlist.segments.map { folder.bytes($0.uri) ?? [] }
        let section = folder.bytes("init.mp4") ?? []
        let bytes = try object.makeCursor().read(at: 0, count: Int(object.plaintextByteCount))
        #expect(bytes == section + segments.flatMap { $0 })
        return (section, segments)
    }

    // Not with encrypted byte ranges, which this ffmpeg does not open in fragmented MP4.
    @Test(
        "what we make is played by ffmpeg: initialization section, keys that change, stretches in the clear",
        arguments: SegmentIVRule.allCases)
    func ours(rule: SegmentIVRule) throws {
        let (section, segments) = try fragments()
        let plain = section + segments.flatMap { $0 }
        let options = HLSOptions(
            segmentByteCounts: segments.map { UInt64($0.count) }, segmentsPerKey: 1, ivRule: rule, mediaSequence: 41,
            clearSegments: [1], initializationByteCount: UInt64(section.count),
            secondsPerSegment: 1, segmentSuffix: ".m4s")
        try HLSEncryptor(options: options, backend: OpenSSL())
            .run(MemorySource(plain), to: FolderOutput(folder: FilePath(folder.path("ours"))))
        let file = try PlaylistFile(path: FilePath(folder.path("ours/playlist.m3u8")))
        let object = try HLSObject(
            playlist: file.playlist, resources: file.resources, keys: KeyRing(PlaylistKeys(file.resources)),
            backend: OpenSSL())
        #expect(try object.makeCursor().read(at: 0, count: plain.count + 1) == plain)
        try folder.file("joined.mp4", plain)
        #expect(try frames("ours/playlist.m3u8") == frames("joined.mp4"))
    }

    @Test("the key's file of an encryptor is for its owner only")
    func permissions() throws {
        try HLSEncryptor(options: HLSOptions(), backend: OpenSSL())
            .run(MemorySource(Samples.bytes(10)), to: FolderOutput(folder: FilePath(folder.path("ours"))))
        let ring = KeyRing(FolderKeys(folder: FilePath(folder.path("ours"))))
        #expect(try ring.key(for: "key0.key").byteCount == 16)
        #expect(ring.warnings.isEmpty)
    }
}
