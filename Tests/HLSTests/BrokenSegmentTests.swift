import ByteSources
import Foundation
import HLS
import OpenSSLBackend
import RandomAccess
import TestSupport
import Testing

/// Three segments of 40 bytes, the second of which is broken in some way.
private struct Broken: CustomTestStringConvertible {
    let testDescription: String
    var resources: @Sendable ([String: [UInt8]]) -> [String: [UInt8]] = { $0 }
    var text: @Sendable (String) -> String = { $0 }
    /// The error's name in the subject protocol.
    let name: String
    /// The buffer that the segment takes.
    let byteCount: UInt64

    static let all = [
        Broken(
            testDescription: "missing", resources: { $0.filter { $0.key != "segment1.ts" } }, name: "io", byteCount: 1),
        Broken(
            testDescription: "empty", resources: { $0.merging(["segment1.ts": []]) { $1 } },
            name: "truncatedCiphertext", byteCount: 1),
        Broken(
            testDescription: "cut inside a block",
            resources: { $0.merging(["segment1.ts": Array(repeating: 0, count: 47)]) { $1 } },
            name: "truncatedCiphertext", byteCount: 46),
        Broken(
            testDescription: "cut behind a block",
            resources: { $0.merging(["segment1.ts": Array(($0["segment1.ts"] ?? []).prefix(32))]) { $1 } },
            name: "invalidPadding", byteCount: 31),
        Broken(
            testDescription: "a byte range behind the end",
            text: {
                $0.replacing("segment1", with: "#EXT-X-BYTERANGE:64@0\nsegment1").replacing(
                    "#EXTINF:6.0,\n#EXT-X-BYTERANGE", with: "#EXTINF:6.0,\n#EXT-X-BYTERANGE")
            }, name: "truncatedCiphertext", byteCount: 1),
        Broken(
            testDescription: "no key", text: { $0.replacing("key1.key", with: "key.key") }, name: "invalidKey",
            byteCount: 47),
        Broken(
            testDescription: "curly quotes", text: { $0.replacing("\"key1.key\"", with: "\u{201C}key1.key\u{201D}") },
            name: "invalidRequest", byteCount: 1),
        Broken(
            testDescription: "SAMPLE-AES",
            text: { $0.replacing("AES-128,URI=\"key1.key\"", with: "SAMPLE-AES,URI=\"key1.key\"") },
            name: "unsupported", byteCount: 1),
        Broken(
            testDescription: "an IV with a digit too few",
            text: { $0.replacing("URI=\"key1.key\",IV=0x0", with: "URI=\"key1.key\",IV=0x") }, name: "invalidRequest",
            byteCount: 1),
    ]
}

@Suite("segments that are broken")
struct BrokenSegmentTests {
    @Test("the others can be read, and a read that touches it fails by name, with its line", arguments: Broken.all)
    private func neighbours(_ broken: Broken) throws {
        let plain = Samples.bytes(120)
        let stored = try encrypted(plain, HLSOptions(segmentByteCounts: [40], segmentsPerKey: 1))
        let text = String(decoding: stored["playlist.m3u8"] ?? [], as: UTF8.self)
        let changed = broken.text(text)
        #expect(changed != text || broken.resources(stored) != stored)
        let object = try open(broken.resources(stored), changed)
        #expect(object.plaintextByteCount == 80 + broken.byteCount)
        let cursor = try object.makeCursor()
        for _ in 0..<2 {
            #expect(try cursor.read(at: 0, count: 40) == Array(plain[..<40]))
            #expect(try cursor.read(at: 40 + broken.byteCount, count: 99) == Array(plain[80...]))
            for (start, count) in [(0, 41), (40, 1), (39 + broken.byteCount, 2), (0, 200)] {
                #expect {
                    try cursor.read(at: UInt64(start), count: Int(count))
                } throws: {
                    guard let error = ($0 as? DecryptionError)?.partError else { return false }
                    return error.part.hasPrefix("segment 2 (line ") && error.protocolName == broken.name
                }
            }
        }
        #expect(object.problems.map(\.range) == [40..<40 + broken.byteCount])
        #expect(throws: DecryptionError.self) { try object.requireAll() }
        let rest = try open(broken.resources(stored), changed, leavesOutBroken: true)
        #expect(rest.problems.map(\.range) == [40..<40] && rest.problems[0].error == object.problems[0].error)
        #expect(try rest.makeCursor().read(at: 0, count: 200) == Array(plain[..<40] + plain[80...]))
    }

    @Test("a resource that changes between opening and reading is an error, and never other data")
    func changed() throws {
        let folder = try TemporaryFolder()
        let plain = Samples.bytes(120)
        let stored = try encrypted(plain, HLSOptions(segmentByteCounts: [1], segmentsPerKey: 1000))
        for (name, bytes) in stored { try folder.file(name, bytes) }
        let file = try PlaylistFile(path: .init(folder.path("playlist.m3u8")))
        let object = try HLSObject(
            playlist: file.playlist, resources: file.resources, keys: KeyRing(PlaylistKeys(file.resources)),
            backend: OpenSSL())
        // The first were closed again, since more than the pool's were opened after them.
        try folder.file("segment3.ts", [UInt8](repeating: 0, count: 32))
        try FileManager.default.removeItem(atPath: folder.path("segment4.ts"))
        let cursor = try object.makeCursor()
        #expect(try cursor.read(at: 0, count: 3) == Array(plain[..<3]))
        for (offset, name) in [(3, "truncatedCiphertext"), (4, "io")] as [(UInt64, String)] {
            #expect {
                try cursor.read(at: offset, count: 1)
            } throws: {
                ($0 as? DecryptionError)?.protocolName == name
            }
        }
        #expect(try cursor.read(at: 5, count: 200) == Array(plain[5...]))
    }

    @Test("a playlist that claims 2^64 bytes traps nowhere")
    func tooLong() throws {
        struct Endless: SegmentResources {
            struct Source: ByteSource {
                let byteCount = UInt64.max - 15
                func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
                    buffers.forEach { $1.initializeMemory(as: UInt8.self, repeating: 1) }
                    return buffers.byteCount
                }
            }
            func source(for uri: String) throws(DecryptionError) -> any ByteSource { Source() }
        }
        let playlist = try mediaPlaylist("#EXTM3U\n#EXTINF:1,\na\n#EXTINF:1,\nb\n#EXTINF:1,\nc\n")
        let object = try HLSObject(
            playlist: playlist, resources: Endless(), keys: KeyRing(CountingKeys()), backend: OpenSSL())
        #expect(object.plaintextByteCount == .max)
        let cursor = try object.makeCursor()
        #expect(try cursor.read(at: UInt64.max - 20, count: 4) == [1, 1, 1, 1])
        #expect(throws: DecryptionError.self) { try cursor.read(at: UInt64.max - 15, count: 1) }
    }
}
