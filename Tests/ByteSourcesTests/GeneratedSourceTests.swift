import ByteSources
import RandomAccess
import Testing

@Suite("generated ciphertext")
struct GeneratedSourceTests {
    @Test("the stream is SplitMix64's, little-endian")
    func knownValue() {
        // PROTOCOL.md, "measure".
        #expect(SplitMix64Stream(seed: 0).word(0) == 0xe220_a839_7b1d_cdaf)
        #expect(
            (0..<8).map { SplitMix64Stream(seed: 0).byte(UInt64($0)) } == [
                0xaf, 0xcd, 0x1d, 0x7b, 0x39, 0xa8, 0x20, 0xe2,
            ])
    }

    private func fetch(_ source: GeneratedSource, _ range: Range<UInt64>) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: range.count)
        try bytes.withUnsafeMutableBytes { try source.fetch(at: range.lowerBound, into: $0) }
        return bytes
    }

    @Test("any split gives the same bytes, replaced blocks among them", arguments: [48, 64, UInt64.max])
    func splits(stride: UInt64) throws {
        let source = GeneratedSource(stream: SplitMix64Stream(seed: 5), byteCount: 224, replacementStride: stride) {
            Block(bigEndianValue: UInt128($0) << 64 | 0xfeed)
        }
        let whole = try fetch(source, 0..<224)
        for start in 0..<UInt64(224) {
            for end in start...min(224, start + 40) {
                #expect(try fetch(source, start..<end) == Array(whole[Int(start)..<Int(end)]))
            }
        }
        for block in 0..<14 {
            let end = UInt64(16 * block + 16)
            let isReplaced = end % stride == 0 || end == 224
            let bytes = Array(whole[16 * block..<16 * block + 16])
            #expect(
                bytes
                    == (isReplaced
                        ? Block(bigEndianValue: UInt128(block) << 64 | 0xfeed).bytes
                        : (0..<16).map { SplitMix64Stream(seed: 5).byte(end - 16 + $0) }))
        }
    }

    @Test(
        "far offsets cost no more, and the end is the end",
        arguments: [1 << 31, 1 << 36, 1 << 62, UInt64.max - 15] as [UInt64])
    func farOffsets(byteCount: UInt64) throws {
        let stream = SplitMix64Stream(seed: 1)
        let source = GeneratedSource(stream: stream, byteCount: byteCount, replacementStride: 1 << 20) { _ in nil }
        #expect(try fetch(source, byteCount - 20..<byteCount) == (byteCount - 20..<byteCount).map(stream.byte))
        var byte: UInt8 = 0
        let count = try withUnsafeMutableBytes(of: &byte) { try source.read(at: byteCount, into: FetchBuffers($0)) }
        #expect(count == 0)
    }
}
