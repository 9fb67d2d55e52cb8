import RandomAccess
import TestSupport
import Testing

@Suite("geometry")
struct GeometryTests {
    private static let iv = Block(bigEndianValue: 1)
    private static let strategies: [Strategy] = [
        .ctr(iv: iv), .cbcContinuous(iv: iv, padding: .pkcs7), .cbcContinuous(iv: iv, padding: .none),
        .cbcChunked(chunkByteCount: 48, iv: iv, ivRule: .fixed, padding: .pkcs7),
        .cbcChunked(chunkByteCount: 16, iv: iv, ivRule: .fixed, padding: .none),
        .chunked(.tinkAESGCMHKDF(associatedData: [], segmentByteCount: 41, derivedKeyByteCount: 16)),
        .chunked(.tinkAESGCMHKDF(associatedData: [], segmentByteCount: 70, derivedKeyByteCount: 32)),
        .chunked(.cobblestone(keyByteCount: 16, context: [])),
    ]

    /// Plaintext lengths that the strategy can hold: all small ones, and some around the edges of long chunks.
    private static func lengths(_ strategy: Strategy) -> [UInt64] {
        let chunk = strategy.chunkByteCount ?? 64
        let edges = (1...3 as ClosedRange<UInt64>).flatMap { chunk * $0 - min(chunk, 40)...chunk * $0 + 40 }
        return (Array(0...300) + edges).filter { strategy.padding != Padding.none || $0 % 16 == 0 }
    }

    @Test("chunks follow one another from the header to the end, and hold all of the plaintext", arguments: strategies)
    func chunks(_ strategy: Strategy) throws {
        let geometry = try #require(strategy.geometry)
        for length in Self.lengths(strategy) {
            let ciphertextByteCount = geometry.ciphertextByteCount(ofPlaintext: length)
            let count = try geometry.chunkCount(ofCiphertext: ciphertextByteCount)
            var (plaintextEnd, ciphertextEnd) = (UInt64(0), geometry.headerByteCount)
            for index in 0..<count {
                let (plaintext, ciphertext) = geometry.chunk(
                    index, plaintextByteCount: length, ciphertextByteCount: ciphertextByteCount)
                #expect(plaintext.lowerBound == plaintextEnd && ciphertext.lowerBound == ciphertextEnd)
                #expect(index == count - 1 || plaintext.count == ciphertext.count - Int(geometry.behindByteCount))
                if !plaintext.isEmpty {
                    #expect(geometry.chunkIndex(at: plaintext.lowerBound) == index)
                    #expect(geometry.chunkIndex(at: plaintext.upperBound - 1) == index)
                }
                (plaintextEnd, ciphertextEnd) = (plaintext.upperBound, ciphertext.upperBound)
            }
            #expect(plaintextEnd == length && ciphertextEnd == ciphertextByteCount, "\(length)")
        }
    }

    @Test("a plaintext of 2⁶⁴ - 1 bytes in chunks of one has a length that is no number")
    func longest() throws {
        let text = """
            short: {inputs: {key: 16}, cipher: aes-gcm, chunk: 1, layout: [data, {tag: 16}], key: key,
              nonce: "be(i, 12)", fullLast: never}
            """
        let geometry = try #require(Strategy(Format.read(Array(text.utf8))[0]).geometry)
        #expect(geometry.ciphertextByteCount(ofPlaintext: .max) == .max)
        #expect(geometry.chunkCount(ofPlaintext: .max) == .max)
    }

    @Test("a length of ciphertext is refused if no plaintext has it, and no other is", arguments: strategies)
    func impossible(_ strategy: Strategy) throws {
        let geometry = try #require(strategy.geometry)
        let chunk = geometry.storedChunkByteCount == .max ? 64 : geometry.storedChunkByteCount
        let last = geometry.headerByteCount + 3 * chunk
        var possible: Set<UInt64> = []
        for length in 0...3 * chunk where strategy.padding != Padding.none || length % 16 == 0 {
            possible.insert(geometry.ciphertextByteCount(ofPlaintext: length))
        }
        // A last chunk of Tink's without data behind others is nobody's, but has a tag to be judged by.
        if case .chunked(.tinkAESGCMHKDF)? = strategy.known { possible.formUnion((1...3).map { $0 * chunk + 16 }) }
        let wrong = (0...last).filter { byteCount in
            let isTaken = (try? geometry.chunkCount(ofCiphertext: byteCount)) != nil
            return isTaken != possible.contains(byteCount)
        }
        #expect(wrong.isEmpty)
    }
}
