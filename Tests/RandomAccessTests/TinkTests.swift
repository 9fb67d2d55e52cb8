import BackendRegistry
import ByteSources
import Foundation
import RandomAccess
import TestSupport
import Testing

/// Python's `tink`, where the variable `CHUNKWISE_TINK_PYTHON` names an interpreter that has it, or `python3` does.
private enum Tink {
    static let python = ProcessInfo.processInfo.environment["CHUNKWISE_TINK_PYTHON"] ?? "python3"

    static let isThere = (try? run(["-c", "import tink"]))?.status == 0

    static func run(_ arguments: [String]) throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [python] + arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: output, as: UTF8.self))
    }

    /// Encrypts or decrypts; `nil` if Tink refuses.
    static func stream(_ mode: String, _ input: [UInt8], _ format: ChunkFormat, key: [UInt8]) throws -> [UInt8]? {
        guard case .tinkAESGCMHKDF(let data, let segmentByteCount, let derivedKeyByteCount) = format else { return nil }
        let folder = FileManager.default.temporaryDirectory.appending(path: "chunkwise-tink-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (source, target) = (folder.appending(path: "in"), folder.appending(path: "out"))
        try Data(input).write(to: source)
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "tink_streaming.py")
        let result = try run([
            script.path(percentEncoded: false), mode, hex(key), hex(data), "\(segmentByteCount)",
            "\(derivedKeyByteCount)", source.path(percentEncoded: false), target.path(percentEncoded: false),
        ])
        return result.status == 0 ? Array(try Data(contentsOf: target)) : nil
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

@Suite(
    "Tink itself", .enabled(if: Tink.isThere, "python3 with its package tink is not installed"))
struct TinkTests {
    static let formats = [
        ChunkFormat.tinkAESGCMHKDF(associatedData: [], segmentByteCount: 4096, derivedKeyByteCount: 16),
        .tinkAESGCMHKDF(associatedData: [0x61, 0], segmentByteCount: 4096, derivedKeyByteCount: 32),
        .tinkAESGCMHKDF(associatedData: [0x61], segmentByteCount: 1 << 20, derivedKeyByteCount: 32),
    ]
    private static let key = (0..<32).map { UInt8($0 * 5) }

    private static func lengths(_ format: ChunkFormat) -> [Int] {
        let full = Int(format.chunkByteCount)
        return [0, 1, full - format.headerByteCount, full - format.headerByteCount + 1, 2 * full + 7]
    }

    private static func plaintext(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 / 251) }
    }

    @Test("what Tink writes is read, from the middle, too", arguments: formats)
    func reads(format: ChunkFormat) throws {
        for count in Self.lengths(format) {
            let plaintext = Self.plaintext(count)
            let ciphertext = try #require(try Tink.stream("encrypt", plaintext, format, key: Self.key))
            let object = try EncryptedObject(
                source: MemorySource(ciphertext), strategy: .chunked(format),
                backend: BackendRegistry.backend(named: "openssl"), key: SecretKey(Self.key))
            #expect(object.plaintextByteCount == UInt64(count))
            let cursor = try object.makeCursor()
            for offset in [count / 2, max(0, count - 1), 0] {
                #expect(try cursor.read(at: UInt64(offset), count: count) == Array(plaintext[offset...]), "\(offset)")
            }
        }
    }

    @Test("what is written, Tink reads; what is cut, it refuses as we do", arguments: formats)
    func writes(format: ChunkFormat) throws {
        for count in Self.lengths(format) {
            let plaintext = Self.plaintext(count)
            let encryptor = try ObjectEncryptor(
                strategy: .chunked(format), backend: BackendRegistry.backend(named: "openssl"),
                key: SecretKey(Self.key))
            var ciphertext: [UInt8] = []
            try plaintext.withUnsafeBytes { try encryptor.append($0) { ciphertext += $0 } }
            try encryptor.finish { ciphertext += $0 }
            #expect(try Tink.stream("decrypt", ciphertext, format, key: Self.key) == plaintext, "\(count) bytes")
            ciphertext.removeLast()
            #expect(try Tink.stream("decrypt", ciphertext, format, key: Self.key) == nil)
            #expect(throws: DecryptionError.self) {
                try EncryptedObject(
                    source: MemorySource(ciphertext), strategy: .chunked(format),
                    backend: BackendRegistry.backend(named: "openssl"), key: SecretKey(Self.key))
            }
        }
    }
}
