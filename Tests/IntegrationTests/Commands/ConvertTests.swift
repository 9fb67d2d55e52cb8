import Foundation
import TestSupport
import Testing

@Suite("encrypt and decrypt")
struct ConvertTests {
    @Test(
        "what was encrypted is decrypted again, by another backend, window and number of threads",
        arguments: strategyOptions)
    func roundTrip(options: [String]) throws {
        let folder = try TemporaryFolder()
        for count in [0, 1008, 49_392] {
            let plaintext = Samples.bytes(count)
            try folder.file("plain", plaintext)
            let encrypted = try Chunkwise.convert(
                "encrypt", folder, ["plain", "enc"], options + ["--backend", "openssl"])
            #expect(encrypted.status == 0 && encrypted.errorLines.isEmpty, "\(encrypted.errorLines)")
            let decrypted = try Chunkwise.convert(
                "decrypt", folder, ["enc", "back"], options + ["--threads", "3", "--window", "1000"])
            #expect(decrypted.status == 0 && decrypted.errorLines.isEmpty, "\(decrypted.errorLines)")
            #expect(Samples.difference(folder.bytes("back") ?? [], plaintext) == nil, "\(count) bytes")
        }
        #expect(folder.names == ["back", "enc", "enc.iv", "key", "plain"])
    }

    @Test("a file's name is said as it is, whatever is in it", arguments: ["a@b.enc", "what?.enc"])
    func names(name: String) throws {
        let folder = try TemporaryFolder()
        try folder.file(name, [UInt8](repeating: 1, count: 17))
        Chunkwise.expectFailure(try Chunkwise.convert("decrypt", folder, [name, "back"], []), 65, name)
    }

    @Test("a range is the slice of the plaintext, in a file and on standard output", arguments: strategyOptions)
    func ranges(options: [String]) throws {
        let folder = try TemporaryFolder()
        let plaintext = Samples.bytes(5040)
        _ = try Chunkwise.convert("encrypt", folder, ["-", "enc"], options, input: plaintext)
        for (text, range) in [
            ("0-0", 0..<1), ("1000-2047", 1000..<2048), ("5039-", 5039..<5040), ("-17", 5023..<5040),
            ("4000-99999", 4000..<5040),
            ("-99999", 0..<5040), ("0-99999999999999999999", 0..<5040),
        ] {
            let threads = ["--threads", "2", "--window", "100"]
            let run = try Chunkwise.convert("decrypt", folder, ["enc", "-"], options + threads + ["--range=\(text)"])
            #expect(run.status == 0 && run.output == Array(plaintext[range]), "\(text): \(run.errorLines)")
        }
        let file = try Chunkwise.convert("decrypt", folder, ["enc", "part"], options + ["--range", "-17"])
        #expect(file.status == 0 && folder.bytes("part") == Array(plaintext[5023...]), "\(file.errorLines)")
    }

    @Test(
        "openssl enc reads what encrypt writes, and writes what decrypt reads",
        .enabled(if: Programs.installed("openssl") != nil, "openssl is not installed"),
        arguments: [
            ("aes-128-cbc", 16, []), ("aes-192-cbc", 24, []), ("aes-256-cbc", 32, []),
            ("aes-128-ctr", 16, ["--strategy", "ctr"]),
        ])
    func openSSL(cipher: String, keyByteCount: Int, options: [String]) throws {
        let folder = try TemporaryFolder()
        let key = Samples.bytes(keyByteCount, seed: 4)
        try folder.file("key", key, isSecret: true)
        let program = try #require(Programs.installed("openssl"))
        let parameters = ["-K", key.map { String(format: "%02x", $0) }.joined(), "-iv", Chunkwise.ivHex]
        for count in [0, 15, 70_001] {
            let plaintext = Samples.bytes(count)
            try folder.file("plain", plaintext)
            _ = try Chunkwise.convert("encrypt", folder, ["plain", "ours"], options)
            let theirs = ["enc", "-e", "-\(cipher)", "-in", folder.path("plain"), "-out", folder.path("theirs")]
            #expect(try CommandRun.run(program, theirs + parameters).status == 0)
            #expect(folder.bytes("ours") == folder.bytes("theirs"), "\(count) bytes")
            let run = try Chunkwise.convert("decrypt", folder, ["theirs", "-"], options)
            #expect(run.output == plaintext, "\(count) bytes: \(run.errorLines)")
        }
    }

    @Test("a decryption that is killed leaves nothing in the folder of its output")
    func killed() throws {
        let folder = try TemporaryFolder()
        let streams = try TemporaryFolder()
        try folder.file("key", Chunkwise.keyHex + "\n", isSecret: true)
        // As much as the readable AES needs many seconds for.
        try folder.file("enc", [])
        try FileHandle(forWritingTo: URL(filePath: folder.path("enc"))).truncate(atOffset: 256 << 20)
        try FileManager.default.createDirectory(atPath: folder.path("out"), withIntermediateDirectories: false)
        let process = try CommandRun.start(
            Programs.chunkwise,
            [
                "decrypt", "--key-file", folder.path("key"), "--iv", Chunkwise.ivHex, "--strategy", "ctr", "--backend",
                "swift-reference", folder.path("enc"), folder.path("out/plain"),
            ], streams: streams)
        for _ in 0..<500 where !hasOutput(process.processIdentifier) { usleep(10_000) }
        #expect(hasOutput(process.processIdentifier), "nothing was written before the kill")
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        #expect(CommandRun.finished(process, streams: streams).status == 128 + SIGKILL)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("out")).isEmpty)
    }

    /// Tells if a process has an open file that was never in a folder.
    private func hasOutput(_ id: Int32) -> Bool {
        let folder = "/proc/\(id)/fd"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.contains {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)"))?.hasSuffix(" (deleted)")
                == true
        }
    }
}
