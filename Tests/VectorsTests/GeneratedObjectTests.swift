import BackendRegistry
import ByteSources
import RandomAccess
import TestSupport
import Testing

@testable import Vectors

@Suite("generated objects")
struct GeneratedObjectTests {
    private func fetch(_ source: some ByteSource, _ range: Range<UInt64>) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: range.count)
        try bytes.withUnsafeMutableBytes { try source.fetch(at: range.lowerBound, into: $0) }
        return bytes
    }

    @Test(
        "every chunk is an object of its own, with the right padding", arguments: IVRule.allCases,
        [1, 47, 48, 49, 96, 100, 250])
    func chunks(ivRule: IVRule, byteCount: UInt64) throws {
        let iv = Block(bigEndianValue: .max)
        let key = VectorSet.key(Int(byteCount))
        let object = try GeneratedObject(
            strategy: .cbcChunked(chunkByteCount: 48, iv: iv, ivRule: ivRule, padding: .pkcs7), key: key,
            plaintextByteCount: byteCount, seed: 3)
        var (chunk, start) = (UInt64(0), UInt64(0))
        while start < object.source.byteCount {
            let end = min(start + 64, object.source.byteCount)
            let ciphertext = try fetch(object.source, start..<end)
            let chunkIV = ivRule == .fixed ? iv : Block(bigEndianValue: iv.bigEndianValue &+ UInt128(chunk))
            let opened = try EncryptedObject(
                source: MemorySource(ciphertext), strategy: .cbcContinuous(iv: chunkIV, padding: .pkcs7),
                backend: BackendRegistry.backend(named: "openssl"), key: key)
            #expect(opened.plaintextByteCount == min(48, byteCount - 48 * chunk))
            // The rule of the documentation: all but the last block is the stream's.
            let stream = SplitMix64Stream(seed: 3)
            #expect(ciphertext.dropLast(16).elementsEqual((start..<end - 16).map(stream.byte)))
            let tail = opened.plaintextByteCount % 16
            let last = try opened.makeCursor().read(at: opened.plaintextByteCount - tail, count: 16)
            #expect(last == (0..<tail).map { stream.byte(end - 16 + $0) })
            (chunk, start) = (chunk + 1, end)
        }
        #expect(chunk == (byteCount + 47) / 48)
    }

    @Test(
        "lengths come back, at any size", arguments: VectorSet.smallStrategies,
        [0, 16, 4800, 1 << 31, 1 << 36, 1 << 61] as [UInt64])
    func lengths(strategy: Strategy, byteCount: UInt64) throws {
        let object = try GeneratedObject(
            strategy: strategy, key: VectorSet.key(1), plaintextByteCount: byteCount, seed: 9)
        #expect(try object.oracle.plaintextByteCount(of: object.source) == byteCount)
        let opened = try EncryptedObject(
            source: object.source, strategy: strategy, backend: BackendRegistry.backend(named: "libgcrypt"),
            key: object.key)
        #expect(opened.plaintextByteCount == byteCount)
        let range = byteCount - min(byteCount, 70)..<byteCount
        var expected = [UInt8](repeating: 0, count: range.count)
        try expected.withUnsafeMutableBytes {
            try object.oracle.decrypt(
                ciphertext: object.source, plaintextByteCount: byteCount, range: range, into: $0)
        }
        #expect(try opened.makeCursor().read(at: range.lowerBound, count: 100) == expected)
    }

    @Test("impossible objects are refused")
    func refusals() throws {
        let key = VectorSet.key(0)
        let iv = Block(bigEndianValue: 0)
        #expect(throws: DecryptionError.unalignedPlaintext(byteCount: 17)) {
            try GeneratedObject(
                strategy: .cbcContinuous(iv: iv, padding: .none), key: key, plaintextByteCount: 17, seed: 0)
        }
        #expect(throws: DecryptionError.self) {
            try GeneratedObject(strategy: .ctr(iv: iv), key: key, plaintextByteCount: .max, seed: 0)
        }
        #expect(throws: DecryptionError.self) {
            try GeneratedObject(
                strategy: .cbcChunked(chunkByteCount: 15, iv: iv, ivRule: .fixed, padding: .none), key: key,
                plaintextByteCount: 16, seed: 0)
        }
    }
}
