import ByteSources
import Foundation
import Glibc
import RandomAccess
import SwiftAESBackend
import TestSupport
import Testing

@Suite("inputs that are read as streams")
struct StreamInputTests {
    private static let strategy = Strategy.ctr(iv: Block(bigEndianValue: 7))

    /// What comes out in the end.
    private func encrypted(_ name: String) throws -> (bytes: [UInt8], progress: [UInt64]) {
        let folder = try TemporaryFolder()
        let encryptor = try ObjectEncryptor(
            strategy: Self.strategy, backend: SwiftReference(), key: SecretKey(Samples.bytes(16)))
        let sink = try Output.open(folder.path("out"))
        var progress: [UInt64] = []
        try StreamInput(name).encrypt(with: encryptor, to: sink) { progress.append($0) }
        try sink.commit()
        return (folder.bytes("out") ?? [], progress)
    }

    @Test("a file of any length comes whole", arguments: [0, 1, 16, 17, 1000])
    func files(count: Int) throws {
        let folder = try TemporaryFolder()
        let result = try encrypted(folder.file("in", Samples.bytes(count)))
        #expect(result.bytes.count == count && result.progress.last ?? 0 == count)
    }

    @Test("what comes in pieces through a pipe is the same as a file")
    func pieces() throws {
        let folder = try TemporaryFolder()
        let pieces = ["abc", "defghijklmnopqrs", "t"]
        #expect(mkfifo(folder.path("pipe"), 0o600) == 0)
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments =
            [
                "-c", "exec >\"$0\"; for piece; do printf %s \"$piece\"; sleep 0.05; done", folder.path("pipe"),
            ] + pieces
        try process.run()
        let fromPipe = try encrypted(folder.path("pipe"))
        process.waitUntilExit()
        #expect(fromPipe.bytes == (try encrypted(folder.file("in", pieces.joined()))).bytes)
    }

    @Test("a missing file and a directory are errors that name it")
    func unreadable() throws {
        let folder = try TemporaryFolder()
        for path in [folder.path("missing"), folder.path] {
            let error = #expect(throws: DecryptionError.self) { try StreamInput(path) }
            #expect(error?.protocolName == "io" && error?.description.contains(path) == true)
        }
    }
}

@Suite("text files")
struct TextFileTests {
    @Test("a file is read whole", arguments: ["", "a", "zeile\nzwei – é\n"])
    func reading(text: String) throws {
        let folder = try TemporaryFolder()
        #expect(try TextFile.read(folder.file("text", text)) == text)
    }

    @Test("a missing file, a directory and a pipe are errors, without waiting")
    func unreadable() throws {
        let folder = try TemporaryFolder()
        #expect(mkfifo(folder.path("pipe"), 0o600) == 0)
        for path in [folder.path("missing"), folder.path, folder.path("pipe")] {
            #expect(throws: DecryptionError.self) { try TextFile.read(path) }
        }
    }

    @Test("a file that is too long to be text is an error, and is not read")
    func tooLong() throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("text", [])
        #expect(truncate(path, (16 << 20) + 1) == 0)
        let error = #expect(throws: DecryptionError.self) { try TextFile.read(path) }
        #expect(error?.description.contains("16 MiB") == true)
    }
}
