import BackendRegistry
import ByteSources
import RandomAccess
import TestSupport
import Testing

@testable import Vectors

@Suite("vectors of authenticated chunks")
struct ChunkVectorTests {
    private static let groups =
        VectorSet.chunkReads() + VectorSet.largeChunks()

    private static func bytes(_ source: any ByteSource) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Int(source.byteCount))
        try bytes.withUnsafeMutableBytes { try source.fetch(at: 0, into: $0) }
        return bytes
    }

    @Test("the oracle finds generated objects authentic, and as long as they are")
    func generated() throws {
        for group in Self.groups {
            let oracle = Oracle(strategy: group.strategy, key: group.key)
            #expect(try oracle.plaintextByteCount(of: group.ciphertext) == group.plaintext.byteCount, "\(group.id)")
        }
    }

    @Test("what our encryptor writes, the oracle reads", arguments: VectorSet.tagged)
    func encrypted(strategy: Strategy) throws {
        let key = VectorSet.key(1, for: strategy)
        for count in [0, 5, 4056, 16384, 20000] {
            let plaintext = VectorSet.streamBytes(seed: 3, count: count)
            let encryptor = try ObjectEncryptor(
                strategy: strategy, backend: BackendRegistry.backend(named: "openssl"), key: key)
            var ciphertext: [UInt8] = []
            try plaintext.withUnsafeBytes { try encryptor.append($0) { ciphertext += $0 } }
            try encryptor.finish { ciphertext += $0 }
            let oracle = Oracle(strategy: strategy, key: key)
            let source = MemorySource(ciphertext)
            #expect(try oracle.plaintextByteCount(of: source) == UInt64(count))
            let found = GroupPlaintext(oracle: oracle, ciphertext: source, byteCount: UInt64(count))
            var buffer = [UInt8](repeating: 0, count: count)
            try buffer.withUnsafeMutableBytes { try found.copy(0..<UInt64(count), into: $0) }
            #expect(buffer == plaintext)
        }
    }

    @Test("a part of a generated ciphertext is that part of the whole")
    func parts() throws {
        for group in VectorSet.chunkReads() {
            let whole = try Self.bytes(group.ciphertext)
            for offset in [0, 1, 24, 55, 56, 57, 16384, 16430, 16439, 16440, 16455, 16456] where offset < whole.count {
                var part = [UInt8](repeating: 0, count: min(37, whole.count - offset))
                try part.withUnsafeMutableBytes { try group.ciphertext.fetch(at: UInt64(offset), into: $0) }
                #expect(part == Array(whole[offset..<offset + part.count]), "\(group.id) at \(offset)")
            }
        }
    }

    /// Wycheproof's form of a Cobblestone case whose last chunk is good.
    private func wycheproof(_ object: GeneratedObject, msgLength: UInt64) throws -> String {
        let bytes = try Self.bytes(object.source)
        let (low, high) = (UInt8(bytes.count & 255), UInt8(bytes.count >> 8))
        let sums = bytes.reduce((a: UInt32(1), b: UInt32(0))) { sums, byte in
            let a = (sums.a + UInt32(byte)) % 65521
            return (a, (sums.b + a) % 65521)
        }
        let sum = (0..<4).map { UInt8(truncatingIfNeeded: (sums.b << 16 | sums.a) >> (24 - 8 * $0)) }
        // zlib's header, one block that is stored, Adler-32. Source: RFC 1950; RFC 1951, section 3.2.4.
        let packed = [0x78, 1, 1, low, high, ~low, ~high] + bytes + sum
        func hex(_ bytes: [UInt8]) -> String { bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
        return """
            {"algorithm":"Cobblestone-128","notes":{"ValidFinalChunk":{}},"testGroups":[{"tests":[{"tcId":1,"ctx":"",
            "key":"\(hex(object.key.withUnsafeBytes { Array($0) }))","ct":"\(hex(packed))","result":"invalid",
            "flags":["ValidFinalChunk"],"msgLength":\(msgLength)}]}]}
            """
    }

    @Test("a Wycheproof case cannot claim more valid plaintext than its ciphertext holds")
    func msgLength() throws {
        let byteCount: UInt64 = 1000
        let object = try GeneratedObject(
            strategy: .chunked(.cobblestone(keyByteCount: 16, context: [])),
            key: SecretKey([UInt8](repeating: 1, count: 16)), plaintextByteCount: byteCount, seed: 1)
        let file = try VectorFile(Array(try wycheproof(object, msgLength: byteCount).utf8), path: "file.json")
        #expect(file.groups.count == 1 && file.groups[0].readCount > 0)
        for length in [byteCount + 1, 1 << 32, (1 << 53) - 1] as [UInt64] {
            #expect {
                try VectorFile(Array(try wycheproof(object, msgLength: length).utf8), path: "file.json")
            } throws: { "\($0)".contains("msgLength is \(length): expected at most \(byteCount)") }
        }
    }

    @Test("pieces of a ciphertext that are longer together than any source are refused")
    func pieces() throws {
        let object = try GeneratedObject(
            strategy: .ctr(iv: Block(bigEndianValue: 1)), key: SecretKey([UInt8](repeating: 1, count: 16)),
            plaintextByteCount: 1 << 53 - 1, seed: 1)
        func edited(_ count: Int) throws -> any ByteSource {
            try CiphertextEdits(pieces: Array(repeating: .init(0..<1 << 53 - 1), count: count)).apply(to: object)
        }
        #expect(try edited(128).byteCount == 128 * (1 << 53 - 1))
        for count in [129, 2049, 5000] {
            #expect { try edited(count) } throws: { "\($0)".contains("expected at most 1152921504606846976 bytes") }
        }
    }

    /// Source: Python's zlib, levels 0, 1 and 9.
    @Test(
        "what zlib packed is unpacked",
        arguments: [
            [
                120, 1, 51, 80, 48, 84, 48, 82, 48, 86, 48, 81, 48, 85, 48, 83, 48, 24, 229, 141, 134, 196, 104, 42, 64,
                202, 15, 0, 245, 40, 129, 174,
            ],
            [
                120, 218, 51, 80, 48, 84, 48, 82, 48, 86, 48, 81, 48, 85, 48, 83, 48, 24, 229, 141, 242, 70, 121, 72,
                60, 0, 245, 40, 129, 174,
            ],
        ])
    func inflate(packed: [UInt8]) {
        let text = (0..<400).flatMap { Array("\($0 % 7) ".utf8) }
        #expect(Inflate.zlib(packed) == text)
        for index in packed.indices {
            #expect(Inflate.zlib(Array(packed[..<index])) == nil, "cut at \(index)")
            var changed = packed
            changed[index] ^= 1
            #expect(Inflate.zlib(changed) != text, "byte \(index)")
        }
        #expect(Inflate.zlib(packed + [0]) == nil, "something follows")
    }
}
