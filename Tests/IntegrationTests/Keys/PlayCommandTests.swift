import ByteSources
import Foundation
import HLS
import RandomAccess
import SwiftAESBackend
import SystemPackage
import TestSupport
import Testing

@Suite("chunkwise keys play")
struct PlayCommandTests {
    private let folder: TemporaryFolder
    private let plain = Samples.bytes(5000)

    init() throws {
        folder = try TemporaryFolder()
        try HLSEncryptor(
            options: HLSOptions(segmentByteCounts: [999], segmentsPerKey: 2), backend: SwiftBitsliced()
        ).run(MemorySource(plain), to: FolderOutput(folder: FilePath(folder.path)))
        for name in folder.names where name.contains("key") { try permit(0o600, name) }
        try folder.file("seal", Samples.bytes(32, seed: 5), isSecret: true)
    }

    private func permit(_ mode: Int, _ name: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder.path(name))
    }

    private func play(_ options: [String]) throws -> CommandRun {
        try CommandRun.run(
            Programs.chunkwise, ["keys", "play", "playlist.m3u8", "out"] + options, in: folder.path)
    }

    private static let store = ["--store", "stored", "--device", "device", "--sealing-key", "seal"]

    @Test("decrypts what was encrypted", arguments: [[], ["--window", "100"], ["--keys", "."], ["--strict"]])
    func plays(_ options: [String]) throws {
        let run = try play(options)
        #expect(run.status == 0 && run.errorLines.isEmpty, "\(run.errorLines)")
        #expect(Samples.difference(folder.bytes("out") ?? [], plain) == nil)
    }

    @Test("stored keys play without their provider, on their device and with their sealing key only")
    func stored() throws {
        let first = try play(Self.store + ["--strict"])
        #expect(first.status == 0 && first.errorLines.isEmpty, "\(first.errorLines)")
        let names = folder.names(in: "stored")
        #expect(names.count == 3 && names.allSatisfy { $0.hasSuffix("-3.key") }, "\(names)")
        try FileManager.default.removeItem(atPath: folder.path("out"))
        let offline = ["--keys", "nothing"]
        let second = try play(Self.store + offline)
        #expect(second.status == 0 && second.errorLines.isEmpty, "\(second.errorLines)")
        #expect(Samples.difference(folder.bytes("out") ?? [], plain) == nil)
        try FileManager.default.removeItem(atPath: folder.path("out"))
        let otherSeal = try folder.file("other", Samples.bytes(32, seed: 6), isSecret: true)
        for (options, words) in [
            (["--store", "stored", "--device", "device2", "--sealing-key", "seal"], "belongs to another device"),
            (["--store", "stored", "--device", "device", "--sealing-key", otherSeal], "does not open"),
        ] {
            let run = try play(options + offline)
            #expect(run.status == 66 && folder.bytes("out") == nil, "\(run.status) \(run.errorLines)")
            #expect(run.errorLines.contains { $0.contains(words) && $0.contains("ask for an online key") })
        }
    }

    @Test("a key that has expired, is open to others, or is not there, leaves no file")
    func failures() throws {
        let expired = try play(["--validity", "0"])
        #expect(expired.status == 66 && folder.bytes("out") == nil, "\(expired.status) \(expired.errorLines)")
        let missing = try play(["--keys", "nothing"])
        #expect(missing.status == 66 && folder.bytes("out") == nil, "\(missing.status) \(missing.errorLines)")
        let key = try #require(folder.names.first { $0.contains("key") })
        try permit(0o644, key)
        let warned = try play([])
        #expect(warned.status == 0 && warned.errorLines.contains { $0.contains("permissions 644") })
        try FileManager.default.removeItem(atPath: folder.path("out"))
        let strict = try play(["--strict"])
        #expect(strict.status == 66 && folder.bytes("out") == nil, "\(strict.status) \(strict.errorLines)")
        let half = try play(["--store", "stored"])
        #expect(half.status == 64 && half.errorLines.first?.contains("expected --device") == true)
    }
}
