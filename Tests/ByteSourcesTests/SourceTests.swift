import ByteSources
import RandomAccess
import Synchronization
import Testing

/// A clock that only waiting moves.
private final class VirtualClock: RemoteClock {
    private let now = Mutex<UInt64>(1_000)

    var nanoseconds: UInt64 { now.withLock { $0 } }

    func sleep(until nanoseconds: UInt64) {
        now.withLock { $0 = max($0, nanoseconds) }
    }
}

@Suite("remote sources")
struct RemoteSourceTests {
    private let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0) }
    private let clock = VirtualClock()

    private func source(latency: UInt64, rate: UInt64?) throws -> RemoteSource {
        let link = try #require(RemoteLink(latencyNanoseconds: latency, bytesPerSecond: rate))
        return RemoteSource(MemorySource(bytes), link: link, clock: clock)
    }

    /// Returns the time that a read took, in the clock's nanoseconds.
    private func read(_ source: RemoteSource, _ offset: UInt64, _ count: Int) throws -> UInt64 {
        let start = clock.nanoseconds
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 1)
        defer { buffer.deallocate() }
        let delivered = try source.read(at: offset, into: FetchBuffers(buffer))
        #expect(Array(buffer[..<delivered]) == Array(bytes[Int(offset)..<Int(offset) + delivered]))
        return clock.nanoseconds - start
    }

    @Test("a read takes the latency, and its bytes at the bandwidth")
    func time() throws {
        let source = try source(latency: 20_000_000, rate: 1_000_000)
        #expect(source.byteCount == 1000)
        #expect(try read(source, 0, 100) == 20_000_000 + 100_000)
        #expect(try read(source, 500, 1) == 20_000_000 + 1000)
        // Only what there is takes time.
        #expect(try read(source, 990, 100) == 20_000_000 + 10_000)
    }

    @Test("without a bandwidth, bytes take no time; without a latency, the first comes at once")
    func parts() throws {
        #expect(try read(source(latency: 5, rate: nil), 0, 1000) == 5)
        #expect(try read(source(latency: 0, rate: 3), 0, 1) == 333_333_334)
    }

    @Test("a link that is none is refused")
    func links() {
        #expect(RemoteLink(latencyNanoseconds: 1, bytesPerSecond: 0) == nil)
        #expect(RemoteLink(latencyNanoseconds: .max, bytesPerSecond: 1) == nil)
        #expect(
            RemoteLink(latencyNanoseconds: 1, bytesPerSecond: 1)?.transferNanoseconds(byteCount: .max) ?? 0 > 1 << 54)
    }
}

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

@Suite("sources around sources")
struct WrapperTests {
    private let content = (0..<100).map { UInt8($0) }

    private func fetch(_ source: any ByteSource, at offset: UInt64, count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        try bytes.withUnsafeMutableBytes { bytes in
            // Three buffers of uneven lengths.
            let (a, b) = (count / 5, count / 2)
            try source.fetch(
                at: offset,
                into: FetchBuffers(
                    head: UnsafeMutableRawBufferPointer(rebasing: bytes[..<a]),
                    body: UnsafeMutableRawBufferPointer(rebasing: bytes[a..<b]),
                    tail: UnsafeMutableRawBufferPointer(rebasing: bytes[b...])))
        }
        return bytes
    }

    @Test("short reads add up", arguments: 1...40)
    func shortReads(largest: Int) throws {
        let source = ShortReadingSource(MemorySource(content), largestRead: largest)
        for (offset, count) in [(0, 100), (3, 37), (99, 1), (100, 0)] {
            #expect(try fetch(source, at: UInt64(offset), count: count) == Array(content[offset..<offset + count]))
        }
    }

    @Test("a recording has what was delivered, and the rest of a read that came short is no request of its own")
    func recording() throws {
        let source = RecordingSource(
            ShortReadingSource(MemorySource(content), largestRead: 30), keepsRanges: true)
        _ = try fetch(source, at: 10, count: 40)
        _ = try fetch(source, at: 50, count: 50)
        #expect(source.ranges == [10..<50, 50..<100])
        #expect(source.record.fetchedByteCount == 90 && source.record.requestCount == 2)
        source.reset()
        #expect(source.ranges.isEmpty && source.record.fetchedByteCount == 0)
    }

    @Test("faults happen and pass")
    func faults() throws {
        let source = FaultySource(MemorySource(content))
        source.inject(.failure)
        #expect { try fetch(source, at: 0, count: 1) } throws: { ($0 as? DecryptionError)?.protocolName == "io" }
        source.inject(.end(at: 50))
        #expect(try fetch(source, at: 0, count: 50) == Array(content[..<50]))
        #expect {
            try fetch(source, at: 0, count: 51)
        } throws: { ($0 as? DecryptionError)?.protocolName == "truncatedCiphertext" }
        source.inject(.none)
        #expect(try fetch(source, at: 0, count: 100) == content)
    }
}
