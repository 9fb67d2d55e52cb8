import Results
import Testing

@Suite("open loop records")
struct OpenLoopRecordTests {
    private func record(_ latencies: [UInt64], elapsed: UInt64 = 1_000_000_000) throws -> OpenLoopRecord {
        let process = OpenLoopRecord.Process(
            latencies: latencies, services: latencies.map { _ in 5 }, dueNanoseconds: 960_000_000,
            elapsedNanoseconds: elapsed)
        return try #require(OpenLoopRecord(arrivals: "fixed:100", offeredPerSecond: 100, [process]))
    }

    @Test("a percentile stands only where there are reads enough for it")
    func needed() throws {
        for (index, count) in [29, 299, 2995, 29_956].enumerated() {
            for (reads, isThere) in [(count - 1, false), (count, true)] {
                let latency = try record(Array(1...UInt64(reads))).latency
                #expect((latency.all[index + 1] != nil) == isThere, "\(reads)")
                #expect(latency.max == UInt64(reads) && latency.p50 == UInt64((reads + 1) / 2))
            }
        }
        let many = try record(Array((1...100_000 as ClosedRange<UInt64>).reversed())).latency
        #expect(many.all == [50_000, 90_000, 99_000, 99_900, 99_990, 100_000])
    }

    @Test("reads of several processes are put together; one that falls behind is said")
    func several() throws {
        func process(_ latency: UInt64, elapsed: UInt64) -> OpenLoopRecord.Process {
            OpenLoopRecord.Process(
                latencies: [1, 2, 3].map { $0 * latency }, services: [1, 1, 1], dueNanoseconds: 30_000_000,
                elapsedNanoseconds: elapsed)
        }
        let (one, two) = (process(1, elapsed: 30_000_000), process(9, elapsed: 60_000_000))
        let both = try #require(OpenLoopRecord(arrivals: "fixed:100", offeredPerSecond: 100, [one, two]))
        #expect(both.readCount == 6 && both.processCount == 2 && both.latency.p50 == 3 && both.latency.max == 27)
        #expect(both.achievedPerSecond == 50 && both.isOverloaded)
        #expect(!(try record(Array(repeating: 1, count: 96)).isOverloaded))
        #expect(try record([1], elapsed: 2_000_000_000).isOverloaded)
        #expect(OpenLoopRecord(arrivals: "fixed:100", offeredPerSecond: 100, []) == nil)
    }
}
