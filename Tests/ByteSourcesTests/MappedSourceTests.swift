import ByteSources
import Foundation
import OpenSSLBackend
import RandomAccess
import SystemPackage
import TestSupport
import Testing

/// A file that goes when the test does, and an object in it.
private final class MappedFile {
    static let page = 4096

    let path: FilePath
    let plaintext: [UInt8]
    private let key: SecretKey

    init(byteCount: Int) throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "chunkwise-\(UUID().uuidString)")
        path = FilePath(url.path(percentEncoded: false))
        // CTR's ciphertext under any key is as good a plaintext as any other.
        plaintext = (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) }
        key = try SecretKey([UInt8](repeating: 7, count: 16))
        var ciphertext = Data()
        let encryptor = try ObjectEncryptor(strategy: Self.strategy, backend: OpenSSL(), key: key)
        try plaintext.withUnsafeBytes { try encryptor.append($0) { ciphertext.append(contentsOf: $0) } }
        try encryptor.finish { ciphertext.append(contentsOf: $0) }
        try ciphertext.write(to: url)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path.string)
    }

    private static let strategy = Strategy.cbcContinuous(iv: Block(bigEndianValue: 5), padding: .pkcs7)

    func open() throws -> EncryptedObject {
        try EncryptedObject(
            source: MappedSource(path: path), strategy: Self.strategy, backend: OpenSSL(), key: key)
    }

    func resize(to byteCount: Int) throws {
        let writer = try FileDescriptor.open(path, .writeOnly)
        try writer.closeAfter { try writer.resize(to: Int64(byteCount)) }
    }
}

@Suite("mapped files")
struct MappedSourceTests {
    @Test("a mapped file is read like any other: any range, across what is given up behind")
    func reading() throws {
        let file = try MappedFile(byteCount: 3 << 20)
        let cursor = try file.open().makeCursor(windowByteCount: 1 << 18)
        let ranges = [
            0..<1, 0..<3 << 20, 5..<4101, (1 << 20) - 1..<(2 << 20) + 3, 100..<200, (3 << 20) - 1..<3 << 20,
            1 << 19..<(1 << 19) + 4096, 0..<1 << 18, 1 << 18..<1 << 19,
        ]
        for range in ranges {
            let bytes = try cursor.read(at: UInt64(range.lowerBound), count: range.count)
            #expect(bytes == Array(file.plaintext[range]), "\(range)")
        }
    }

    @Test(
        "a file that is truncated under the mapping is an error, and the process lives", arguments: [0, 4096, 40_000])
    func truncation(byteCount: Int) throws {
        let file = try MappedFile(byteCount: 1 << 20)
        let cursor = try file.open().makeCursor(windowByteCount: 1 << 16)
        // Mapped now, and touched at the start only.
        #expect(try cursor.read(at: 0, count: 10) == Array(file.plaintext[..<10]))
        try file.resize(to: byteCount)
        for _ in 0..<2 {
            #expect {
                try cursor.read(at: 1 << 19, count: 1 << 17)
            } throws: { ($0 as? DecryptionError)?.protocolName == "truncatedCiphertext" }
        }
        // What is still there is of a source that has changed.
        #expect {
            try cursor.read(at: 0, count: 10)
        } throws: { ($0 as? DecryptionError)?.protocolName == "truncatedCiphertext" }
    }

    @Test("a file that comes back is read again")
    func recovery() throws {
        let file = try MappedFile(byteCount: 1 << 18)
        let cursor = try file.open().makeCursor()
        let whole = try Data(contentsOf: URL(filePath: file.path.string))
        try file.resize(to: 0)
        #expect(throws: DecryptionError.self) { try cursor.read(at: 100_000, count: 4096) }
        let writer = try FileDescriptor.open(file.path, .writeOnly)
        try writer.closeAfter { _ = try writer.writeAll(whole) }
        var found = [UInt8](repeating: 0, count: 4096)
        _ = try found.withUnsafeMutableBytes { try cursor.read(at: 100_000, into: $0) }
        #expect(found == Array(file.plaintext[100_000..<104_096]))
        #expect(throws: DecryptionError.self) { try cursor.checkVersion() }
    }

    @Test("truncation under several threads is an error on each of them")
    func truncationUnderThreads() async throws {
        let file = try MappedFile(byteCount: 1 << 20)
        let object = try file.open()
        try file.resize(to: 4096)
        await withTaskGroup(of: Bool.self) { group in
            for index in 0..<8 {
                group.addTask {
                    do {
                        _ = try object.makeCursor().read(at: UInt64(index) << 16 + 8192, count: 50_000)
                        return false
                    } catch { return (error as? DecryptionError)?.protocolName == "truncatedCiphertext" }
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }

    @Test("reads here and there leave no more of the file mapped than is said")
    func residentPages() throws {
        // Any bytes are ciphertext without padding.
        let url = FileManager.default.temporaryDirectory.appending(path: "chunkwise-\(UUID().uuidString)")
        try Data(count: 32 << 20).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        let path = FilePath(url.path(percentEncoded: false))
        let cursor = try EncryptedObject(
            source: MappedSource(path: path),
            strategy: .cbcContinuous(iv: Block(bigEndianValue: 5), padding: .none), backend: OpenSSL(),
            key: SecretKey([UInt8](repeating: 7, count: 16))
        ).makeCursor()
        var offset: UInt64 = 1
        for _ in 0..<500 {
            offset = (offset &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407)
            _ = try cursor.read(at: offset % (31 << 20), count: 4096)
        }
        let resident = try withExtendedLifetime(cursor) {
            try #require(try Self.residentByteCount(of: path))
        }
        #expect(resident > 0 && resident <= MappedSource.boundByteCount, "\(resident) bytes")
    }

    /// The bytes of a file that this process has in memory by mapping it; `nil` where the kernel does not tell.
    private static func residentByteCount(of path: FilePath) throws -> UInt64? {
        // A file of no length, of which there is more than one read at a time.
        let maps = try FileDescriptor.open("/proc/self/smaps", .readOnly)
        let bytes = try maps.closeAfter {
            var (all, part) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 16))
            while case let count = try part.withUnsafeMutableBytes({ try maps.read(into: $0) }), count > 0 {
                all += part[..<count]
            }
            return all
        }
        let text = String(decoding: bytes, as: UTF8.self)
        var isWithin = false
        var sum: UInt64?
        for line in text.split(separator: "\n") {
            // "7f…-7f… r--s 00000000 fe:00 1234   /path", and then lines such as "Rss:   64 kB".
            if line.first?.isLowercase == true || line.first?.isNumber == true {
                isWithin = line.hasSuffix(path.string)
            }
            guard isWithin, line.hasPrefix("Rss:") else { continue }
            sum = (sum ?? 0) + (UInt64(line.split(separator: " ")[1]) ?? 0) << 10
        }
        return sum
    }

    @Test("what cannot be mapped is refused with a name")
    func refusals() throws {
        for path in ["/", "/dev/null", "/nowhere/at/all"] as [FilePath] {
            #expect {
                try MappedSource(path: path)
            } throws: { ($0 as? DecryptionError)?.protocolName == "io" }
        }
    }
}
