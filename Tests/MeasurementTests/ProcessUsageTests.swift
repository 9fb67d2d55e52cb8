import Foundation
import Results
import Testing

@testable import Measurement

@Suite("what processes use")
struct ProcessUsageTests {
    private func usage(_ value: UInt64, counters: UInt64?) -> ProcessUsage {
        ProcessUsage(
            userNanoseconds: value, systemNanoseconds: value, minorFaults: value, majorFaults: value,
            voluntarySwitches: value, involuntarySwitches: nil, instructions: counters, cycles: counters)
    }

    @Test("a counter that is missing on one side is missing in sums and differences, and never 0")
    func missing() {
        #expect(usage(3, counters: 5) - usage(1, counters: 2) == usage(2, counters: 3))
        #expect(usage(3, counters: 5) + usage(1, counters: nil) == usage(4, counters: nil))
        #expect((usage(1, counters: nil) - usage(3, counters: 1)).instructions == nil)
        #expect(usage(1, counters: 1) - usage(3, counters: 3) == usage(0, counters: 0))
    }

    @Test("figures survive the protocol, what is absent among them")
    func json() {
        for figures in [usage(7, counters: 9), usage(7, counters: nil)] {
            #expect(ProcessUsage(figures.json) == figures)
        }
        #expect(ProcessUsage(nil) == nil && ProcessUsage(["userNanoseconds": 1]) == nil)
    }

    @Test("pages that a process touches are faults, from inside and from outside")
    func faults() throws {
        let own = OwnUsage()
        #expect(own.total == nil)
        let before = try #require(OutsideUsage.now(of: getpid()))
        own.begin()
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 20, alignment: 4096)
        room.initializeMemory(as: UInt8.self, repeating: 1)
        own.end()
        let after = try #require(OutsideUsage.now(of: getpid()))
        room.deallocate()
        // Even with huge pages of 2 MiB there are as many as these.
        #expect(try #require(own.total).minorFaults >= 16)
        #expect((after - before).minorFaults >= 16)
    }

    @Test("a process that is not there has used nothing that is known")
    func gone() {
        #expect(OutsideUsage.now(of: 1 << 30) == nil)
    }
}
