import Foundation
import RandomAccess
import SystemPackage
import TestSupport
import Testing

@testable import ByteSources

private func write(_ bytes: [UInt8], to sink: some ByteSink, at offset: UInt64 = 0) throws {
    try bytes.withUnsafeBytes { try sink.write($0, at: offset) }
}

@Suite("file sinks")
struct FileSinkTests {
    /// With a file without a name, and with the hidden one of file systems that have no such files.
    static let ways = [true, false]

    @Test("nothing stands under the name before the commit, all of it afterwards", arguments: ways)
    func commit(isUnnamed: Bool) throws {
        let folder = try TemporaryFolder()
        let sink = try FileSink(path: FilePath(folder.path("out")), prefersUnnamed: isUnnamed)
        try write([4, 5, 6], to: sink, at: 3)
        try write([1, 2, 3], to: sink)
        #expect(!folder.names.contains("out"))
        #expect(isUnnamed ? folder.names.isEmpty : folder.names.count == 1, "\(folder.names)")
        try sink.commit()
        #expect(folder.names == ["out"] && folder.bytes("out") == [1, 2, 3, 4, 5, 6])
    }

    @Test("an abandoned sink leaves nothing in the folder", arguments: ways)
    func abandoned(isUnnamed: Bool) throws {
        let folder = try TemporaryFolder()
        do {
            let sink = try FileSink(path: FilePath(folder.path("out")), prefersUnnamed: isUnnamed)
            try write([1], to: sink)
        }
        #expect(folder.names.isEmpty)
    }

    @Test("a file of that name stays as it is until the commit", arguments: ways)
    func replacement(isUnnamed: Bool) throws {
        let folder = try TemporaryFolder()
        try folder.file("out", [9, 9, 9, 9])
        do {
            let abandoned = try FileSink(path: FilePath(folder.path("out")), prefersUnnamed: isUnnamed)
            try write([1], to: abandoned)
        }
        #expect(folder.bytes("out") == [9, 9, 9, 9])
        let sink = try FileSink(path: FilePath(folder.path("out")), prefersUnnamed: isUnnamed)
        try write([1], to: sink)
        #expect(folder.bytes("out") == [9, 9, 9, 9])
        try sink.commit()
        #expect(folder.names == ["out"] && folder.bytes("out") == [1])
    }

    @Test("two sinks for one name do not disturb each other; the last commit wins", arguments: ways)
    func twoSinks(isUnnamed: Bool) throws {
        let folder = try TemporaryFolder()
        let path = FilePath(folder.path("out"))
        let first = try FileSink(path: path, prefersUnnamed: isUnnamed)
        do {
            let second = try FileSink(path: path, prefersUnnamed: isUnnamed)
            try write([2], to: second)
            try write([1], to: first)
            try second.commit()
        }
        try first.commit()
        #expect(folder.names == ["out"] && folder.bytes("out") == [1])
    }

    @Test("a name as long as the file system allows can be written", arguments: ways)
    func longName(isUnnamed: Bool) throws {
        let folder = try TemporaryFolder()
        let name = String(repeating: "n", count: 255)
        let sink = try FileSink(path: FilePath(folder.path(name)), prefersUnnamed: isUnnamed)
        try sink.commit()
        #expect(folder.names == [name])
    }

    @Test("a hidden file that a killed process of the same number left is no obstacle", arguments: ways)
    func leftover(isUnnamed: Bool) throws {
        let folder = try TemporaryFolder()
        let path = FilePath(folder.path("out"))
        let name = try withExtendedLifetime(FileSink(path: path, prefersUnnamed: false)) { folder.names[0] }
        try folder.file(name, [7])
        let sink = try FileSink(path: path, prefersUnnamed: isUnnamed)
        try write([1], to: sink)
        try sink.commit()
        #expect(folder.names == [name, "out"] && folder.bytes(name) == [7] && folder.bytes("out") == [1])
    }

    @Test("a folder that is missing, a file, or closed to writing is an error when the sink is made", arguments: ways)
    func badFolders(isUnnamed: Bool) throws {
        let folder = try TemporaryFolder()
        try folder.file("file", [1])
        for name in ["missing/out", "file/out"] + (getuid() == 0 ? [] : ["closed/out"]) {
            if name.hasPrefix("closed") {
                try FileManager.default.createDirectory(
                    atPath: folder.path("closed"), withIntermediateDirectories: false,
                    attributes: [.posixPermissions: 0o500])
            }
            #expect(throws: DecryptionError.self, "\(name)") {
                try FileSink(path: FilePath(folder.path(name)), prefersUnnamed: isUnnamed)
            }
        }
        // Not even root can write there.
        #expect(throws: DecryptionError.self) { try FileSink(path: "/proc/self/out", prefersUnnamed: isUnnamed) }
        #expect(throws: DecryptionError.self) { try FileSink(path: "/", prefersUnnamed: isUnnamed) }
        #expect(folder.names == (getuid() == 0 ? ["file"] : ["closed", "file"]))
    }

    @Test("a commit that fails leaves nothing", arguments: ways)
    func failingCommit(isUnnamed: Bool) throws {
        let folder = try TemporaryFolder()
        do {
            let sink = try FileSink(path: FilePath(folder.path("out")), prefersUnnamed: isUnnamed)
            try write([1], to: sink)
            // A folder takes the name meanwhile, and cannot be replaced by a file.
            try FileManager.default.createDirectory(atPath: folder.path("out/x"), withIntermediateDirectories: true)
            #expect(throws: DecryptionError.self) { try sink.commit() }
        }
        #expect(folder.names == ["out"])
    }

    @Test("a name without a folder is one in the working directory")
    func bareName() throws {
        let name = "chunkwise-test-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: name) }
        let sink = try FileSink(path: FilePath(name))
        try sink.commit()
        #expect(FileManager.default.fileExists(atPath: name))
    }
}
