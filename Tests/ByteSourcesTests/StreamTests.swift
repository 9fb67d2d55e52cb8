import ByteSources
import Foundation
import Glibc
import RandomAccess
import SwiftAESBackend
import SystemPackage
import TestSupport
import Testing

@Suite("inputs that are read as streams")
struct StreamInputTests {
    private static let strategy = Strategy.ctr(iv: Block(bigEndianValue: 7))

    /// The output in the end, and the progress until then.
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

@Suite("outputs that are pipes")
struct PipeOutputTests {
    @Test("a pipe is made to hold several windows, and one that holds more stays", arguments: [1 << 16, 1 << 20])
    func capacity(byteCount: Int32) throws {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        // `F_SETPIPE_SZ` and `F_GETPIPE_SZ`, which Swift does not take.
        #expect(fcntl(ends[1], 1031, byteCount) >= byteCount)
        let sink = StreamSink(descriptor: FileDescriptor(rawValue: ends[1]), name: "pipe", closesAtEnd: false)
        #expect(fcntl(ends[0], 1032) == 1 << 20)
        // More than it held at first, which nobody takes yet.
        let bytes = Samples.bytes(1 << 19)
        try bytes.withUnsafeBytes { try sink.write($0, at: 0) }
        var taken = [UInt8](repeating: 0, count: bytes.count)
        #expect(taken.withUnsafeMutableBytes { read(ends[0], $0.baseAddress, $0.count) } == bytes.count)
        #expect(taken == bytes)
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

private func write(_ bytes: [UInt8], to sink: any ByteSink) throws {
    try bytes.withUnsafeBytes { try sink.write($0, at: 0) }
    try sink.commit()
}

@Suite("outputs")
struct OutputTests {
    @Test("a directory is refused, with and without a slash")
    func directory() throws {
        let folder = try TemporaryFolder()
        for name in [folder.path, folder.path + "/"] {
            #expect(throws: DecryptionError.self) { try Output.open(name) }
        }
        #expect(folder.names.isEmpty)
    }

    @Test("the file behind a symbolic link is replaced, and the link stays")
    func link() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path("deep"), withIntermediateDirectories: false)
        try folder.file("deep/file", [9])
        try FileManager.default.createSymbolicLink(atPath: folder.path("link"), withDestinationPath: "deep/file")
        try write([1, 2], to: try Output.open(folder.path("link")))
        #expect(folder.bytes("deep/file") == [1, 2])
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder.path("link")) == "deep/file")
    }

    @Test("a link to a file that is not there yet makes that file")
    func danglingLink() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path("deep"), withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(atPath: folder.path("link"), withDestinationPath: "deep/file")
        try write([1, 2], to: try Output.open(folder.path("link")))
        #expect(folder.bytes("deep/file") == [1, 2])
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder.path("link")) == "deep/file")
    }

    @Test("links in a circle are an error")
    func circle() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createSymbolicLink(atPath: folder.path("a"), withDestinationPath: "b")
        try FileManager.default.createSymbolicLink(atPath: folder.path("b"), withDestinationPath: "a")
        #expect(throws: DecryptionError.self) { try Output.open(folder.path("a")) }
        #expect(folder.names == ["a", "b"])
    }

    @Test("a device is written to and stays a device")
    func device() throws {
        let sink = try Output.open("/dev/null")
        #expect(!sink.isSeekable)
        try write(Samples.bytes(1 << 17), to: sink)
        var status = stat()
        #expect(stat("/dev/null", &status) == 0 && status.st_mode & S_IFMT == S_IFCHR)
    }

    @Test("a full device is an error of the write")
    func full() throws {
        let sink = try Output.open("/dev/full")
        let error = #expect(throws: DecryptionError.self) { try write([1], to: sink) }
        guard case .io(_, ENOSPC, _) = error else {
            Issue.record("\(String(describing: error)): expected an error that says that there is no space")
            return
        }
    }

    @Test("a pipe gets the bytes in order")
    func pipe() throws {
        let folder = try TemporaryFolder()
        #expect(mkfifo(folder.path("pipe"), 0o600) == 0)
        // Both ways, so that opening waits for no other end.
        let reader = open(folder.path("pipe"), O_RDWR)
        defer { close(reader) }
        try write([1, 2, 3], to: try Output.open(folder.path("pipe")))
        var bytes = [UInt8](repeating: 0, count: 4)
        #expect(read(reader, &bytes, 4) == 3 && bytes == [1, 2, 3, 0])
        #expect(folder.names == ["pipe"])
    }

    @Test("a hyphen is standard output, in order")
    func standardOutput() throws {
        #expect(try !Output.open("-").isSeekable)
    }
}
