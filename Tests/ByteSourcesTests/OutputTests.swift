import ByteSources
import Foundation
import Glibc
import RandomAccess
import TestSupport
import Testing

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
        // Both ways, so that opening waits for nobody.
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
