import RandomAccess
import TestSupport
import Testing

@Suite("what the examples do")
struct ExampleTests {
    @Test("the bytes that were encrypted come out of the middle")
    func roundTripped() throws {
        #expect(try roundTrip() == (70_000..<70_020).map { UInt8(truncatingIfNeeded: $0) })
    }

    @Test("a plan over a chunk's edge fetches two blocks, and the one before the first")
    func plannedRanges() throws {
        #expect(try planned() == [1_048_544..<1_048_576, 1_048_592..<1_048_608])
    }

    @Test("a source of one's own, and what is fetched of it")
    func ownSource() throws {
        let ciphertext = [UInt8](repeating: 9, count: 160)
        let source = ArraySource(bytes: ciphertext)
        var buffer = [UInt8](repeating: 0, count: 40)
        let count = try buffer.withUnsafeMutableBytes { buffer throws(DecryptionError) in
            try source.read(at: 130, into: FetchBuffers(buffer))
        }
        #expect(count == 30 && buffer == [UInt8](repeating: 9, count: 30) + [UInt8](repeating: 0, count: 10))
        let strategy = Strategy.ctr(iv: Block(bigEndianValue: 1))
        let key = try SecretKey([UInt8](repeating: 1, count: 16))
        #expect(try recorded([UInt8](repeating: 0, count: 2000), strategy: strategy, key: key) == [992..<1010])
    }

    @Test("all backends decrypt a stretch alike")
    func backends() throws {
        let key = try SecretKey([UInt8](repeating: 1, count: 16))
        let ciphertext = (0..<64).map { UInt8($0) }
        let found = try (allBackends() + [kernelBackend()].compactMap(\.self)).map {
            try decryptStretch(ciphertext, key: key, iv: Block(bigEndianValue: 5), with: $0)
        }
        #expect(found.count >= 4 && Set(found).count == 1)
        #expect(throws: (any Error).self) { try readFileRange(key: [], iv: []) }
        #expect(try sodiumBackend().supports(.xChaCha20Poly1305))
    }
}
