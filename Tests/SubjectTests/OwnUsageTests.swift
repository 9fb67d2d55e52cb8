import Testing

@testable import Subject

@Suite("what this process uses")
struct OwnUsageTests {
    @Test("pages that it touches are faults; what lies between two spans is not counted")
    func faults() throws {
        let own = OwnUsage()
        #expect(own.total == nil)
        own.begin()
        touch(64 << 20)
        own.end()
        // Even with huge pages of 2 MiB there are as many as these.
        let faults = try #require(own.total?["minorFaults"])
        #expect(faults >= 16)
        own.end()
        #expect(own.total?["minorFaults"] == faults)
        own.begin()
        touch(64 << 20)
        own.end()
        #expect(try #require(own.total?["minorFaults"]) >= faults + 16)
    }

    private func touch(_ byteCount: Int) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 4096)
        buffer.initializeMemory(as: UInt8.self, repeating: 1)
        buffer.deallocate()
    }
}
