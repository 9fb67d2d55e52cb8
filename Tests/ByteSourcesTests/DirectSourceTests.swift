import ByteSources
import Foundation
import OpenSSLBackend
import RandomAccess
import SystemPackage
import TestSupport
import Testing

/// A file on a disk that goes when the test does: what lies in memory has no direct reads.
private final class DiskFile {
    let path = FilePath("/var/tmp/chunkwise-\(UUID().uuidString)")
    let bytes: [UInt8]

    init(byteCount: Int) throws {
        bytes = (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) }
        try Data(bytes).write(to: URL(filePath: path.string))
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path.string)
    }

    func resize(to byteCount: Int) throws {
        let writer = try FileDescriptor.open(path, .writeOnly)
        try writer.closeAfter { try writer.resize(to: Int64(byteCount)) }
    }
}

/// The engines that this machine has, on the disk that temporary files are on.
private let engines = DirectSource.Engine.allCases.filter { engine in
    guard let file = try? DiskFile(byteCount: 1) else { return false }
    return (try? DirectSource(path: file.path, engine: engine)) != nil
}

private func read(_ source: some ByteSource, at offset: UInt64, count: Int) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    try bytes.withUnsafeMutableBytes { try source.fetch(at: offset, into: $0) }
    return bytes
}

private func expectTruncation(_ body: () throws -> Void) {
    #expect {
        try body()
    } throws: { ($0 as? DecryptionError)?.protocolName == "truncatedCiphertext" }
}

@Suite(
    "reads past the page cache", .enabled(if: !engines.isEmpty, "the disk of /var/tmp takes no direct reads"),
    .serialized)
struct DirectSourceTests {
    @Test("a file is read at any offset, however long, into one buffer or three", arguments: engines)
    func reading(engine: DirectSource.Engine) throws {
        let file = try DiskFile(byteCount: (3 << 20) + 77)
        let source = try DirectSource(path: file.path, engine: engine)
        #expect(source.byteCount == UInt64(file.bytes.count))
        for range in [
            0..<1, 511..<513, 4095..<4097, 5..<(2 << 20) + 3, 0..<file.bytes.count, (3 << 20) + 76..<(3 << 20) + 77,
            (1 << 20) - 1..<(1 << 20) + 4097,
        ] {
            let found = try read(source, at: UInt64(range.lowerBound), count: range.count)
            #expect(found == Array(file.bytes[range]), "\(range)")
        }
        var buffer = [UInt8](repeating: 0, count: 30)
        try buffer.withUnsafeMutableBytes { bytes in
            try source.fetch(
                at: 500,
                into: FetchBuffers(
                    head: UnsafeMutableRawBufferPointer(rebasing: bytes[20..<30]),
                    body: UnsafeMutableRawBufferPointer(rebasing: bytes[0..<19]),
                    tail: UnsafeMutableRawBufferPointer(rebasing: bytes[19..<20])))
        }
        #expect(Array(buffer[20..<30] + buffer[0..<20]) == Array(file.bytes[500..<530]))
        try source.checkVersion()
    }

    @Test("an empty file, and the end", arguments: engines)
    func end(engine: DirectSource.Engine) throws {
        let empty = try DiskFile(byteCount: 0)
        let nothing = try DirectSource(path: empty.path, engine: engine)
        #expect(nothing.byteCount == 0)
        expectTruncation { _ = try read(nothing, at: 0, count: 1) }
        for byteCount in [100, 512, 4096, 4097] {
            let file = try DiskFile(byteCount: byteCount)
            let source = try DirectSource(path: file.path, engine: engine)
            #expect(try read(source, at: UInt64(byteCount) - 1, count: 1) == file.bytes.suffix(1))
            expectTruncation { _ = try read(source, at: UInt64(byteCount) - 10, count: 11) }
            for offset in [UInt64(byteCount), UInt64(byteCount) + 1, 1 << 63, UInt64.max - 1] {
                #expect(throws: DecryptionError.self) { try read(source, at: offset, count: 1) }
            }
        }
    }

    @Test("a file that shrank is an error, in a read and in a view", arguments: engines, [0, 60, 4096, 8192])
    func truncation(engine: DirectSource.Engine, byteCount: Int) throws {
        let file = try DiskFile(byteCount: 10_000)
        let source = try DirectSource(path: file.path, engine: engine)
        let view = try source.makeView()
        #expect(try Array(view.bytes(9000..<9100)) == Array(file.bytes[9000..<9100]))
        try file.resize(to: byteCount)
        expectTruncation { _ = try read(source, at: 8190, count: 20) }
        expectTruncation { _ = try view.bytes(8190..<8210) }
        #expect(throws: DecryptionError.sourceChanged(byteCount: UInt64(byteCount), expected: 10_000)) {
            try source.checkVersion()
        }
    }

    @Test("objects are decrypted by several threads as from any other file", arguments: engines)
    func objects(engine: DirectSource.Engine) async throws {
        let file = try DiskFile(byteCount: 2 << 20)
        let key = try SecretKey([UInt8](repeating: 7, count: 16))
        for strategy in [
            Strategy.ctr(iv: Block(bigEndianValue: 5)), .cbcContinuous(iv: Block(bigEndianValue: 5), padding: .none),
        ] {
            func object(_ source: any ByteSource) throws -> EncryptedObject {
                try EncryptedObject(source: source, strategy: strategy, backend: OpenSSL(), key: key)
            }
            let expected = try object(MemorySource(file.bytes)).makeCursor().read(at: 0, count: 2 << 20)
            let direct = try object(DirectSource(path: file.path, engine: engine))
            await withTaskGroup(of: Bool.self) { group in
                for index in 0..<4 {
                    group.addTask {
                        let start = index * 300_001
                        let found = try? direct.makeCursor(windowByteCount: 1 << 18)
                            .read(at: UInt64(start), count: 400_003)
                        return found == Array(expected[start..<start + 400_003])
                    }
                }
                for await isRight in group { #expect(isRight) }
            }
        }
    }

    @Test("what has no direct reads is refused with a name", arguments: DirectSource.Engine.allCases)
    func refusals(engine: DirectSource.Engine) throws {
        for path in ["/", "/dev/null", "/nowhere/at/all", "/proc/self/status"] as [FilePath] {
            #expect {
                try DirectSource(path: path, engine: engine)
            } throws: { ($0 as? DecryptionError)?.protocolName == "io" }
        }
        let shared = "/dev/shm/chunkwise-\(UUID().uuidString)"
        guard FileManager.default.createFile(atPath: shared, contents: Data([1])) else { return }
        defer { try? FileManager.default.removeItem(atPath: shared) }
        #expect {
            try DirectSource(path: FilePath(shared), engine: engine)
        } throws: { "\($0)".contains("expected one on a disk") }
    }
}
