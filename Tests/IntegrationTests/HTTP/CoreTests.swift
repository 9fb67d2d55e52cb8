import ByteSources
import Foundation
import Glibc
import HLS
import OpenSSLBackend
import RandomAccess
import SystemPackage
import TestSupport
import Testing

@Suite(
    "cores of processes that are ended by a signal in the middle of their work",
    .enabled(if: Peers.areThere, "nginx, openssl, or python3 with cryptography is not installed"), .serialized)
struct CoreTests {
    private static let signals = [SIGABRT, SIGSEGV]

    @Test("a core of decrypt has no key and no plaintext", arguments: signals)
    func decrypt(signal: Int32) throws {
        let site = try FaultSite(hasTLS: true, plaintextByteCount: 4_000_000)
        let keys = try TemporaryFolder()
        let child = try HeldProcess(
            Programs.chunkwise,
            [
                "decrypt", "--strategy", "cobblestone-128:context=", "--key-file",
                try keys.file("key", FaultSite.key, isSecret: true), "--ca-file", site.peer.rootPath,
                "https://localhost:\(site.peer.port)/sealed", "-",
            ])
        // It waits for somebody who takes what it decrypted.
        try child.waitForFullPipe()
        let needles = CoreMemory.needles(key: FaultSite.key, plaintext: Array(site.plaintext.prefix(16)))
        let memory = try #require(CoreMemory(of: child.number))
        #expect(memory.found(needles).contains("plaintext"), "there was nothing to find")
        #expect(memory.foundInCore(needles).isEmpty)
        #expect(memory.filter == 0 && memory.limit == "1")
        #expect(try child.end(signal) == signal)
        #expect(child.found(needles).isEmpty, "\(child.said)")
        #expect(child.cores.isEmpty)
    }

    @Test("a core of play has no key and no plaintext", arguments: signals)
    func play(signal: Int32) throws {
        let folder = try TemporaryFolder()
        let plaintext = Array("what must not be found in a core".utf8)
        try HLSEncryptor(
            options: HLSOptions(segmentByteCounts: [100_000], segmentsPerKey: 1), backend: OpenSSL()
        ).run(MemorySource((0..<200_000).map { plaintext[$0 % 32] }), to: FolderOutput(folder: FilePath(folder.path)))
        let keyName = try #require(folder.names.first { $0.contains("key") })
        let output = try TemporaryFolder()
        let child = try HeldProcess(
            Programs.chunkwise,
            [
                "keys", "play", folder.path("playlist.m3u8"), output.path("out"), "--window", "50000", "--pause",
                "3600000",
            ])
        try child.wait { child.writtenByteCount(in: output) >= 50_000 }
        let needles = CoreMemory.needles(key: try #require(folder.bytes(keyName)), plaintext: plaintext)
        let memory = try #require(CoreMemory(of: child.number))
        #expect(memory.found(needles).contains("key"), "there was nothing to find")
        #expect(memory.foundInCore(needles).isEmpty)
        #expect(memory.filter == 0 && memory.limit == "1")
        #expect(try child.end(signal) == signal)
        #expect(child.found(needles).isEmpty, "\(child.said)")
        #expect(child.cores.isEmpty)
    }

    @Test("a core of key has no password", arguments: signals)
    func key(signal: Int32) throws {
        let password = Samples.bytes(16, seed: UInt64(signal)).map { String(Int($0) + 256, radix: 16) }.joined()
        let needles = ["password": Array(password.utf8)]
        let keys = try TemporaryFolder()
        mkfifo(keys.path("waits"), 0o600)
        let child = try HeldProcess(
            Programs.chunkwise,
            [
                "key", "rclone", "--password-file", try keys.file("password", password, isSecret: true),
                "--salt-file", keys.path("waits"),
            ])
        // It waits for the second password.
        try child.wait { CoreMemory(of: child.number)?.found(needles) == ["password"] }
        let memory = try #require(CoreMemory(of: child.number))
        #expect(memory.foundInCore(needles).isEmpty)
        #expect(memory.filter == 0 && memory.limit == "1")
        #expect(try child.end(signal) == signal)
        #expect(child.found(needles).isEmpty, "\(child.said)")
        #expect(child.cores.isEmpty)
    }

    @Test("what another program holds is found in its core", arguments: signals)
    func control(signal: Int32) throws {
        let marker = Samples.bytes(16, seed: UInt64(signal))
        let digits = marker.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        // It holds the marker, and its arguments do not.
        let script = "import sys, time\nheld = bytes.fromhex(sys.argv[1])\nprint('ready', flush=True)\ntime.sleep(600)"
        let child = try HeldProcess(Peers.python ?? "", ["-c", script, digits])
        try child.wait { child.pipedByteCount > 0 }
        let memory = try #require(CoreMemory(of: child.number))
        #expect(memory.foundInCore(["marker": marker]) == ["marker"])
        let leavesCore = CoreMemory.isFileWhereItRuns && memory.limit == "unlimited"
        #expect(try child.end(signal) == signal)
        if leavesCore {
            #expect(!child.cores.isEmpty)
            #expect(child.found(["marker": marker]) == ["marker"])
        }
    }

    @Test(
        "each command that has keys or plaintext keeps its memory out of cores",
        arguments: [
            ["chunkwise", "encrypt", "--key-file", "key", "--iv", "IV", "waits", "out"],
            [
                "chunkwise", "serve", "--key-file", "key", "--iv", "IV", "--strategy", "cbc-continuous:padding=none",
                "--port", "0", "sealed",
            ],
            ["chunkwise", "key-server", "--keys", ".", "--audit", "audit", "--port", "0"],
            ["chunkwise", "keys", "fetch", "--server", "http://127.0.0.1:PORT/v1/keys", "uri"],
            ["chunkwise", "key", "gocryptfs", "--configuration", "sealed", "--password-file", "waits"],
            ["chunkwise", "key", "openssl", "--iv", "--password-file", "waits", "sealed"],
            ["chunkwise", "keys", "measure", "--delays", "10000", "--keys", "1"],
            [
                "chunkwise", "measure", "--input", "sealed", "--key-file", "key", "--iv", "IV", "--strategy",
                "cbc-continuous:padding=none",
                "--rounds", "1000",
            ],
            [
                "chunkwise", "sweep", "--plan", "plan.yml", "--output", "r", "--input", "sealed", "--key-file", "key",
                "--iv", "IV", "--strategy", "cbc-continuous:padding=none",
            ],
        ])
    func commands(_ command: [String]) throws {
        let silent = try PeerProcess(script: "rude.py", ["silent"])
        let digits = ["IV": String(repeating: "1", count: 32), "PORT": "\(silent.port)"]
        let arguments = command.dropFirst().map { word in
            digits.reduce(word) { $0.replacing($1.key, with: $1.value) }
        }
        let child = try HeldProcess(Programs.built(command[0]), arguments) { folder in
            try folder.file("key", Samples.bytes(16), isSecret: true)
            try folder.file("sealed", Samples.bytes(1 << 20))
            try folder.file("plan.yml", "rounds: 100\ntime: 1s\ncells:\n  - backend: openssl\n")
            mkfifo(folder.path("waits"), 0o600)
        }
        try child.wait { CoreMemory(of: child.number).map { $0.filter == 0 && $0.limit == "1" } ?? false }
    }
}
