import ByteSources
import RandomAccess
import Synchronization
import TestSupport
import Testing

@Suite("clients of remote stores")
struct RemoteClientTests {
    /// A clock that only waiting moves.
    private final class VirtualClock: RemoteClock {
        private let now = Mutex<UInt64>(1_000)

        var nanoseconds: UInt64 { now.withLock { $0 } }

        func sleep(until nanoseconds: UInt64) { now.withLock { $0 = max($0, nanoseconds) } }
    }

    private let clock = VirtualClock()
    private let tally = RequestTally()
    private let padded = Strategy.cbcContinuous(iv: Block(bigEndianValue: 1), padding: .pkcs7)

    private static let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) }
    private static let (latency, rate) = (20_000_000 as UInt64, 10_000_000 as UInt64)

    private func open(
        _ client: RemoteClient, _ strategy: Strategy? = nil, count: Int = bytes.count
    ) throws -> any ByteSource {
        let link = try #require(RemoteLink(latencyNanoseconds: Self.latency, bytesPerSecond: Self.rate))
        return client.open(
            MemorySource(Array(Self.bytes[..<count])), strategy: strategy ?? padded, link: link, clock: clock,
            tally: tally)
    }

    /// Reads a range whole; returns how long it took.
    private func read(_ source: any ByteSource, _ range: Range<UInt64>) throws -> UInt64 {
        let start = clock.nanoseconds
        var buffer = [UInt8](repeating: 0, count: range.count)
        try buffer.withUnsafeMutableBytes { try source.fetch(at: range.lowerBound, into: $0) }
        #expect(buffer == Array(Self.bytes[Int(range.lowerBound)..<Int(range.upperBound)]), "\(range)")
        return clock.nanoseconds - start
    }

    @Test("opening takes one round trip for both ends, which are then there")
    func ends() throws {
        let source = try open(.chunkwise)
        // 64 KiB at 10 MB/s, both at once.
        #expect(clock.nanoseconds == 1_000 + Self.latency + 6_553_600)
        let counts = tally.take()
        #expect(counts.requests == 2 && counts.bytes == 131_072)
        #expect(try read(source, 0..<65_536) == 0 && read(source, 2_950_000..<3_000_000) == 0)
        #expect(tally.take().requests == 0)
        // What no opening looks at is not fetched.
        _ = try open(.chunkwise, .ctr(iv: Block(bigEndianValue: 1)))
        #expect(tally.take().requests == 1)
    }

    @Test("serial waits for each request, and for nothing to open", arguments: [1, 100_000])
    func serial(count: Int) throws {
        let source = try open(.serial)
        #expect(clock.nanoseconds == 1_000)
        for offset in [500_000, 0, 2_800_000] as [UInt64] {
            #expect(try read(source, offset..<offset + UInt64(count)) == Self.latency + UInt64(count) * 100)
        }
        let counts = tally.take()
        #expect(counts.requests == 3 && counts.bytes == Int64(3 * count))
    }

    @Test("a read out of order is one request for just its bytes")
    func outOfOrder() throws {
        let source = try open(.chunkwise)
        _ = tally.take()
        for offset in [500_000, 100_000, 1_000_000, 70_000] as [UInt64] {
            #expect(try read(source, offset..<offset + 10_000) == Self.latency + 1_000_000)
        }
        let counts = tally.take()
        #expect(counts.requests == 4 && counts.bytes == 40_000)
    }

    @Test(
        "reads in order come sooner than one after the other, whatever their length, and are the same bytes",
        arguments: [1_000, 65_536, 100_001, 1 << 20, 3_000_000])
    func inOrder(step: Int) throws {
        func all(_ client: RemoteClient) throws -> UInt64 {
            let source = try open(client)
            _ = tally.take()
            return try stride(from: 0, to: Self.bytes.count, by: step).reduce(0) { sum, start in
                try sum + read(source, UInt64(start)..<UInt64(min(start + step, Self.bytes.count)))
            }
        }
        let (ahead, after) = (try all(.chunkwise), try all(.serial))
        #expect(ahead < after, "\(ahead) \(after)")
        if step < 1 << 20 { #expect(ahead < after / 2, "\(ahead) \(after)") }
        // 3 MB at 10 MB/s take 300 ms over one connection, and there are five at most.
        #expect(ahead > 60_000_000)
    }

    @Test("what was asked for ahead and is not read is taken back as far as it had not come")
    func givenUp() throws {
        let source = try open(.chunkwise)
        _ = tally.take()
        _ = try read(source, 100_000..<200_000)
        _ = try read(source, 200_000..<201_000)
        let asked = tally.take()
        #expect(asked.requests > 1 && asked.bytes > 101_000)
        _ = try read(source, 2_000_000..<2_001_000)
        #expect(tally.take().bytes < 0)
    }

    @Test("short objects and empty ones", arguments: [0, 1, 65_535, 65_536, 65_537, 131_073])
    func short(count: Int) throws {
        for client in RemoteClient.allCases {
            let source = try open(client, count: count)
            #expect(source.byteCount == UInt64(count))
            if count > 0 { #expect(try read(source, 0..<UInt64(count)) >= 0) }
            var buffer = [UInt8](repeating: 0, count: 4)
            let atEnd = try buffer.withUnsafeMutableBytes {
                try source.read(at: UInt64(count), into: FetchBuffers($0))
            }
            #expect(atEnd == 0)
        }
    }
}
