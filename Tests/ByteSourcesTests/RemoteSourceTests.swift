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

    /// How long a read took, in the clock's nanoseconds.
    private func read(_ source: RemoteSource, _ offset: UInt64, _ count: Int) throws -> UInt64 {
        let start = clock.nanoseconds
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 1)
        defer { room.deallocate() }
        let delivered = try source.read(at: offset, into: FetchBuffers(room))
        #expect(Array(room[..<delivered]) == Array(bytes[Int(offset)..<Int(offset) + delivered]))
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
