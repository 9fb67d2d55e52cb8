import ByteSources
import Foundation
import Glibc
import RandomAccess
import SystemPackage
import TestSupport
import Testing

@Suite("logs of lines")
struct LineLogTests {
    private let folder: TemporaryFolder
    private var path: FilePath { FilePath(folder.path("log")) }

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test(
        "what follows the last line break is cut off, however far that is",
        arguments: [
            ("", ""), ("a\n", "a\n"), ("a", ""), ("a\nb", "a\n"), ("a\n\nb\nc", "a\n\nb\n"), ("\n", "\n"),
            ("a\n" + String(repeating: "b", count: 200_000), "a\n"), (String(repeating: "b", count: 65_536), ""),
            (String(repeating: "b", count: 65_535) + "\n", String(repeating: "b", count: 65_535) + "\n"),
            (String(repeating: "b", count: 65_536) + "\nc", String(repeating: "b", count: 65_536) + "\n"),
        ])
    func wholeLines(_ before: String, _ after: String) throws {
        try folder.file("log", before)
        let log = try LineLog(path: path)
        #expect(try log.earlierBytes() == Array(before.utf8))
        try log.keepWholeLines()
        #expect(folder.bytes("log") == Array(after.utf8))
        try log.append(Array("c\nd\n".utf8))
        #expect(folder.bytes("log") == Array((after + "c\nd\n").utf8))
    }

    @Test("one process writes at a time, and permissions are those that are asked for")
    func lock() throws {
        let log = try LineLog(path: path, permissions: [.ownerReadWrite])
        #expect(throws: DecryptionError.self) { try LineLog(path: path) }
        try log.append(Array("a\n".utf8))
        let attributes = try FileManager.default.attributesOfItem(atPath: path.string)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test("a device that takes nothing is an error each time")
    func full() throws {
        let log = try LineLog(path: "/dev/full")
        for _ in 0..<3 { #expect(throws: DecryptionError.self) { try log.append(Array("a\n".utf8)) } }
        // What cannot be read back, cut or synchronized takes lines all the same.
        let other = try LineLog(path: "/dev/null")
        try other.keepWholeLines()
        try other.append(Array("a\n".utf8))
        #expect(try other.earlierBytes().isEmpty)
    }

    @Test("a pipe without a reader is an error, and one that was torn goes on with a line of its own")
    func pipe() throws {
        var ends: [Int32] = [-1, -1]
        try #require(Glibc.pipe(&ends) == 0)
        signal(SIGPIPE, SIG_IGN)
        let log = LineLog(stream: FileDescriptor(rawValue: ends[1]), name: "pipe")
        try log.append(Array("a\n".utf8))
        let end = ends[0]
        // More than a pipe holds: a part is taken before the reader goes.
        let reader = Thread {
            var byte = [UInt8](repeating: 0, count: 100_000)
            _ = read(end, &byte, byte.count)
            close(end)
        }
        reader.start()
        #expect(throws: DecryptionError.self) { try log.append([UInt8](repeating: 98, count: 1_000_000)) }
        #expect(throws: DecryptionError.self) { try log.append(Array("c\n".utf8)) }
        close(ends[1])
    }
}
