import ByteSources
import Foundation
import HLS
import OpenSSLBackend
import RandomAccess
import SystemPackage
import TestSupport
import Testing

@Suite("key files that others can read")
struct StrictKeyTests {
    private static func permit(_ mode: Int, _ path: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    private func folder() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try folder.file("plain", Samples.bytes(1000))
        let run = try Chunkwise.convert("encrypt", folder, ["plain", "enc"])
        #expect(run.status == 0)
        return folder
    }

    @Test("are a warning, and an error with --strict", arguments: [0o644, 0o640, 0o604])
    func permissions(_ mode: Int) throws {
        let folder = try folder()
        try Self.permit(mode, folder.path("key"))
        let octal = String(mode, radix: 8)
        let commands = [
            ["decrypt", "enc", "out"], ["encrypt", "plain", "out"],
            ["measure", "--input", "enc", "--rounds", "1", "--milliseconds", "1"],
        ]
        for command in commands {
            let arguments = command + ["--key-file", "key", "--iv", Chunkwise.ivHex]
            Chunkwise.expectFailure(
                try Chunkwise.run(arguments + ["--strict"], in: folder.path), 65,
                "key file key is open to others (permissions \(octal)): expected 600", command[0])
            #expect(folder.bytes("out") == nil)
            let run = try Chunkwise.run(arguments, in: folder.path)
            #expect(run.status == 0, "\(command[0])")
            let warning =
                "chunkwise: warning: key file key can be read by others (permissions \(octal)): expected 600"
            #expect(run.errorLines.contains(warning), "\(command[0]): \(run.errorLines)")
            #expect(run.errorLines.allSatisfy { !$0.contains("5ec2e7") })
            if folder.bytes("out") != nil { try FileManager.default.removeItem(atPath: folder.path("out")) }
        }
        try Self.permit(0o600, folder.path("key"))
        let run = try Chunkwise.convert("decrypt", folder, ["--strict", "enc", "out"])
        #expect(run.status == 0 && run.errorLines.isEmpty, "\(run.errorLines)")
    }

    @Test("of playlists are as well", arguments: [["--keys", "."], []])
    func playlists(_ keys: [String]) throws {
        let folder = try TemporaryFolder()
        try HLSEncryptor(options: HLSOptions(segmentByteCounts: [999], segmentsPerKey: 2), backend: OpenSSL())
            .run(MemorySource(Samples.bytes(5000)), to: FolderOutput(folder: FilePath(folder.path)))
        let files = folder.names.filter { $0.contains("key") }
        #expect(files.count == 3)
        for file in files { try Self.permit(0o600, folder.path(file)) }
        func decrypt(_ more: [String]) throws -> CommandRun {
            try Chunkwise.run(
                ["decrypt", "--strategy", "hls-aes128", "playlist.m3u8", "-"] + keys + more, in: folder.path)
        }
        let quiet = try decrypt(["--strict"])
        #expect(quiet.status == 0 && quiet.errorLines.isEmpty, "\(quiet.errorLines)")
        try Self.permit(0o644, folder.path(files[1]))
        let warned = try decrypt([])
        #expect(warned.status == 0 && warned.output == quiet.output)
        #expect(warned.errorLines.count == 1 && warned.errorLines.first?.contains("(permissions 644)") == true)
        let strict = try decrypt(["--strict"])
        #expect(strict.status == 66 && strict.output.isEmpty, "\(strict.status) \(strict.errorLines)")
        #expect(strict.errorLines.first?.contains("can be read by others (permissions 644): expected 600") == true)
    }

    @Test("URIs with credentials in them are shown without")
    func credentials() throws {
        let folder = try TemporaryFolder()
        let uri = "https://someone:hunter2@host.example/film.key?token=5ecret#there"
        try folder.file(
            "list.m3u8",
            """
            #EXTM3U
            #EXT-X-TARGETDURATION:6
            #EXT-X-KEY:METHOD=AES-128,URI="\(uri)"
            #EXTINF:6,
            https://someone:hunter2@host.example/0.ts?token=5ecret
            #EXT-X-ENDLIST

            """)
        for options in [[], ["--keys", "."], ["--key-command", "exit 3; :"]] {
            let run = try Chunkwise.run(
                ["decrypt", "--strategy", "hls-aes128", "list.m3u8", "out"] + options, in: folder.path)
            #expect(run.status == 66, "\(run.status) \(run.errorLines)")
            let text = run.errorLines.joined(separator: "\n")
            #expect(text.contains("no key for https://…@host.example/film.key?…"), "\(text)")
            for secret in ["someone", "hunter2", "5ecret"] { #expect(!text.contains(secret), "\(text)") }
        }
    }
}
