#if Network
import BackendRegistry
import ByteSources
import Glibc
import RandomAccess
import Server
import Synchronization
import SystemPackage
import TestSupport
import Testing

@Suite("encrypted files that are served")
struct EncryptedFilesTests {
    private static let byteCount = 300_000

    private func content(_ file: FilePath) throws -> ServedContent {
        let backend = try BackendRegistry.backend(named: "openssl")
        let (key, iv) = (try SecretKey([UInt8](repeating: 7, count: 16)), Block(bigEndianValue: 1 << 100).bytes)
        let format = EncryptedFiles.Format(description: "ctr", iv: iv, key: key) {
            (source, iv) throws(DecryptionError) in
            try EncryptedObject(source: source, strategy: .ctr(iv: try Block(iv)), backend: backend, key: key)
        }
        let name = try #require(file.lastComponent?.string)
        return try #require(try EncryptedFiles(files: [file], format: format).content(at: [name]))
    }

    private func readAtOnce(_ content: ServedContent, _ range: Range<UInt64>) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: range.count)
        let isRead = bytes.withUnsafeMutableBytes { content.readAtOnce?(range.lowerBound, $0) ?? false }
        return isRead ? bytes : nil
    }

    @Test("what is in memory is read at once, by many threads, as by a reader; what changed is not, or was dropped")
    func atOnce() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("file", (0..<Self.byteCount).map { UInt8(truncatingIfNeeded: $0 * 7) })
        folder.settle()
        let content = try content(FilePath(path))
        let all = try content.makeReader().read(at: 0, count: Self.byteCount)
        let file = try FileDescriptor.open(path, .readWrite)
        defer { try? file.close() }
        // Where the file system cannot tell, nothing is said to be in memory.
        let tells = readAtOnce(content, 0..<10) != nil
        await withTaskGroup(of: Bool.self) { group in
            for index in 0..<200 {
                let start = index * 1_499 % (Self.byteCount - 5_000)
                let range = UInt64(start)..<UInt64(start + 1 + index * 23)
                let expected = tells ? Array(all[start..<Int(range.upperBound)]) : nil
                group.addTask { readAtOnce(content, range) == expected }
            }
            for await isRight in group { #expect(isRight) }
        }
        #expect(fsync(file.rawValue) == 0 && posix_fadvise(file.rawValue, 0, 0, POSIX_FADV_DONTNEED) == 0)
        // A file system that is in memory drops nothing.
        #expect([nil, Array(all[..<10])].contains(readAtOnce(content, 0..<10)))
        _ = try content.makeReader().read(at: 0, count: Self.byteCount)
        #expect((readAtOnce(content, 0..<10) != nil) == tells)
        #expect(content.isCurrent?() == true)
        try file.resize(to: Int64(Self.byteCount - 1))
        #expect(readAtOnce(content, 0..<10) == nil && content.isCurrent?() == false)
    }

    @Test("of a file that is being written nothing is kept, and no client joins ranges by its tag")
    func beingWritten() throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("file", [UInt8](repeating: 1, count: 100))
        folder.settle()
        let before = try content(FilePath(path))
        #expect(!before.entityTag.isWeak && before.modified != nil && before.isCurrent != nil)
        let writer = try FileDescriptor.open(path, .readWrite)
        try writer.writeAll([2])
        // Whether a write still goes on cannot be told from here.
        let during = try (0..<2).map { _ in try content(FilePath(path)) }
        for content in during {
            #expect(content.entityTag.isWeak && content.modified == nil)
            #expect(content.isCurrent == nil && content.readAtOnce == nil)
        }
        #expect(during[0].entityTag != during[1].entityTag)
        try writer.close()
        folder.settle()
        let after = try content(FilePath(path))
        #expect(!after.entityTag.isWeak && after.entityTag != before.entityTag)
    }
}
#endif
