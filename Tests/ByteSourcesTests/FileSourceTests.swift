import ByteSources
import CLinux
import Foundation
import RandomAccess
import Synchronization
import SystemPackage
import Testing

/// A folder that goes when the test does.
private final class Folder {
    let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "chunkwise-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path(percentEncoded: false)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    func file(_ bytes: [UInt8]) throws -> FilePath {
        let name = "\(path)/file"
        try Data(bytes).write(to: URL(filePath: name))
        return FilePath(name)
    }
}

private func read(_ source: some ByteSource, at offset: UInt64, count: Int) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    try bytes.withUnsafeMutableBytes { try source.fetch(at: offset, into: $0) }
    return bytes
}

@Suite("files")
struct FileSourceTests {
    private let content = (0..<100).map { UInt8($0) }

    /// A disk that this user may read.
    private static let blockDevice: String? = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/sys/block")) ?? []
        return names.map { "/dev/" + $0 }.first { (try? FileSource(path: FilePath($0)))?.byteCount ?? 0 > 0 }
    }()

    @Test("what was read is in memory, what was dropped is not, as far as the file system tells")
    func memory() throws {
        let folder = try Folder()
        let path = try folder.file([UInt8](repeating: 1, count: 600_000))
        let source = try FileSource(path: path)
        let file = try FileDescriptor.open(path, .readWrite)
        defer { try? file.close() }
        // Where it cannot tell, nothing is said to be in memory.
        var byte: UInt8 = 0
        let tells = chunkwise_read_at_once(file.rawValue, &byte, 1, 0) >= 0
        _ = try read(source, at: 0, count: 600_000)
        #expect(source.isInMemory(0..<600_000) == tells && source.isInMemory(599_999..<600_000) == tells)
        #expect(source.isInMemory(0..<0))
        // A file system that is in memory drops nothing.
        #expect(fsync(file.rawValue) == 0 && posix_fadvise(file.rawValue, 0, 0, POSIX_FADV_DONTNEED) == 0)
        // Another may keep a part of it.
        let isKept = source.isInMemory(0..<600_000)
        #expect(!isKept || source.isInMemory(0..<1) && source.isInMemory(500_000..<600_000))
        _ = try read(source, at: 0, count: 600_000)
        #expect(source.isInMemory(0..<600_000) == tells)
    }

    /// True if the file system says who writes to a file.
    private static let hasLeases: Bool = {
        guard let folder = try? Folder(), let path = try? folder.file([1]),
            let file = try? FileDescriptor.open(path, .readOnly)
        else { return false }
        defer { try? file.close() }
        return chunkwise_has_no_writer(file.rawValue)
    }()

    private static func time(of file: FileIdentity) -> Double {
        Double(file.changedSeconds) + Double(file.changedNanoseconds) / 1e9
    }

    @Test(
        "a file is of one version where nobody writes to it and its clock went on, or two seconds after a change",
        .enabled(if: hasLeases, "the file system has no leases"))
    func pinning() throws {
        let folder = try Folder()
        let path = try folder.file(content)
        let source = try FileSource(path: path)
        let changed = Self.time(of: source.opened)
        func canBePinned(after seconds: Double) -> Bool { source.canBePinned(now: changed + seconds) }
        #expect(canBePinned(after: 0.1) && canBePinned(after: 3))
        #expect(!canBePinned(after: 0.01) && !canBePinned(after: -1000))
        let writer = try FileDescriptor.open(path, .writeOnly)
        #expect(!canBePinned(after: 0.1) && !canBePinned(after: 1.9) && canBePinned(after: 2.1))
        try writer.close()
        #expect(canBePinned(after: 0.1))
    }

    @Test(
        "opening waits for the end of a write that had begun, or for two seconds without one",
        .enabled(if: hasLeases, "the file system has no leases"))
    func waiting() throws {
        let folder = try Folder()
        let path = try folder.file(content)
        let file = try FileDescriptor.open(path, .readOnly)
        let changed = Self.time(of: try FileSource(path: path).opened)
        defer { try? file.close() }
        func pauses(now: (Int) -> Double = { _ in 0.1 }, _ body: (Int) throws -> Void) throws -> Int {
            var count = 0
            _ = try FileSource.settledIdentity(
                of: file, path: path, now: { changed + now(count) },
                pause: {
                    count += 1
                    try? body(count)
                })
            return count
        }
        #expect(try pauses { _ in } == 0)
        let writer = try FileDescriptor.open(path, .writeOnly)
        #expect(try pauses { _ in } == 100)
        #expect(try pauses(now: { Double($0) * 0.6 }) { _ in } == 4)
        // The clock of a server may be far ahead of ours.
        #expect(try pauses(now: { _ in -1000 }) { _ in } == 100)
        try writer.seek(offset: 0, from: .end)
        let error = #expect(throws: DecryptionError.self) { try pauses { _ in try writer.writeAll([1]) } }
        #expect(error?.description.contains("it is being written: expected a file that does not change") == true)
        #expect(try pauses { if $0 == 3 { try writer.close() } } == 3)
    }

    @Test("a source waits when it is opened by its path", .enabled(if: hasLeases, "the file system has no leases"))
    func waitingSource() throws {
        let folder = try Folder()
        let path = try folder.file(content)
        let writer = try FileDescriptor.open(path, .writeOnly)
        let isClosed = Mutex(false)
        let thread = Thread {
            usleep(50_000)
            isClosed.withLock { $0 = true }
            try? writer.close()
        }
        thread.start()
        let source = try FileSource(path: path)
        #expect(isClosed.withLock { $0 } && source.byteCount == 100)
    }

    @Test("a block device's version has its length", .enabled(if: blockDevice != nil))
    func blockDevices() throws {
        let source = try FileSource(path: FilePath(try #require(Self.blockDevice)))
        #expect(try source.identity().byteCount == source.byteCount)
    }

    @Test("a file is read at any offset, into one buffer or three")
    func reading() throws {
        let folder = try Folder()
        let source = try FileSource(path: folder.file(content))
        #expect(source.byteCount == 100)
        #expect(try read(source, at: 7, count: 20) == Array(content[7..<27]))
        var buffer = [UInt8](repeating: 0, count: 30)
        try buffer.withUnsafeMutableBytes { bytes in
            try source.fetch(
                at: 50,
                into: FetchBuffers(
                    head: UnsafeMutableRawBufferPointer(rebasing: bytes[20..<30]),
                    body: UnsafeMutableRawBufferPointer(rebasing: bytes[0..<19]),
                    tail: UnsafeMutableRawBufferPointer(rebasing: bytes[19..<20])))
        }
        #expect(Array(buffer[20..<30] + buffer[0..<20]) == Array(content[50..<80]))
        try source.checkVersion()
    }

    @Test("the end is the end")
    func end() throws {
        let folder = try Folder()
        let source = try FileSource(path: folder.file(content))
        #expect {
            try read(source, at: 90, count: 11)
        } throws: { ($0 as? DecryptionError)?.protocolName == "truncatedCiphertext" }
        for offset in [101, 1 << 63, UInt64.max - 1] as [UInt64] {
            #expect(throws: DecryptionError.self) { try read(source, at: offset, count: 1) }
        }
    }

    @Test("a file that shrank is an error, when it is read and when it is asked")
    func truncation() throws {
        let folder = try Folder()
        let path = try folder.file(content)
        let source = try FileSource(path: path)
        let writer = try FileDescriptor.open(path, .writeOnly)
        try writer.closeAfter { try writer.resize(to: 60) }
        #expect {
            try read(source, at: 50, count: 20)
        } throws: { ($0 as? DecryptionError)?.protocolName == "truncatedCiphertext" }
        #expect(throws: DecryptionError.sourceChanged(byteCount: 60, expected: 100)) { try source.checkVersion() }
    }

    @Test("a file that grew is an error")
    func growth() throws {
        let folder = try Folder()
        let path = try folder.file(content)
        let source = try FileSource(path: path)
        let writer = try FileDescriptor.open(path, .writeOnly, options: .append)
        try writer.closeAfter { _ = try writer.writeAll([1, 2, 3]) }
        #expect(throws: DecryptionError.sourceChanged(byteCount: 103, expected: 100)) { try source.checkVersion() }
    }

    @Test("other bytes of the same length are another version")
    func rewritten() throws {
        let folder = try Folder()
        let path = try folder.file(content)
        // Some time ago, so that the change is not within the same step of the system's clock.
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_000_000_000)], ofItemAtPath: path.string)
        let sources: [any ByteSource] = [try FileSource(path: path), try MappedSource(path: path)]
        let versions = sources.map(\.openedVersion)
        for source in sources { try source.checkVersion() }
        let writer = try FileDescriptor.open(path, .writeOnly)
        try writer.closeAfter { _ = try writer.writeAll(content.reversed()) }
        for source in sources {
            #expect {
                try source.checkVersion()
            } throws: { "\($0)".contains("changed while it was read") }
            for wrapped: any ByteSource in [
                RecordingSource(source, keepsRanges: false), ShortReadingSource(source, largestRead: 1),
                FaultySource(source), try SlicedSource(source, 0..<50),
            ] {
                #expect(throws: DecryptionError.self) { try wrapped.checkVersion() }
                #expect(wrapped.openedVersion == source.openedVersion)
            }
        }
        #expect(sources.map(\.openedVersion) == versions)
        #expect(try FileSource(path: path).openedVersion != versions[0])
    }

    @Test("a length that no disk has is refused, as files with holes may have it")
    func huge() throws {
        try FileSource.checkLength(1 << 60, of: "film")
        #expect {
            try FileSource.checkLength(1 << 60 + 1, of: "film")
        } throws: { "\($0)".contains("open film failed: it has 1152921504606846977 bytes: expected at most") }
    }

    @Test("what cannot be read at an offset is refused: folders, pipes, devices, nothing at all")
    func refusals() throws {
        let folder = try Folder()
        let pipe = "\(folder.path)/pipe"
        // It has no writer: opening it must not wait for someone.
        try #require(mkfifo(pipe, 0o600) == 0)
        for path in [folder.path, pipe, "/dev/null", "\(folder.path)/missing"] {
            #expect {
                try FileSource(path: FilePath(path))
            } throws: { ($0 as? DecryptionError)?.protocolName == "io" }
        }
    }
}
