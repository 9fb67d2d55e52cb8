import Foundation
import Results
import Support
import TestSupport
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

    @Test("a share is rounded, and of the largest figure it stays in bounds")
    func shares() {
        #expect(usage(10, counters: 5).scaled(by: 0.25) == usage(3, counters: 1))
        #expect(usage(.max, counters: .max).scaled(by: 1) == usage(1 << 63, counters: 1 << 63))
    }

    @Test("figures are read from an answer, what is absent among them")
    func json() {
        var members: [String: JSONValue] = [
            "userNanoseconds": 7, "systemNanoseconds": 7, "minorFaults": 7, "majorFaults": 7, "voluntarySwitches": 7,
        ]
        #expect(ProcessUsage(.object(members)) == usage(7, counters: nil))
        members["instructions"] = 9
        members["cycles"] = 9
        #expect(ProcessUsage(.object(members)) == usage(7, counters: 9))
        #expect(ProcessUsage(nil) == nil && ProcessUsage(["userNanoseconds": 1]) == nil)
    }

    @Test("pages that a process touches are faults, from outside")
    func faults() throws {
        let before = try #require(OutsideUsage.now(of: getpid()))
        touch(64 << 20)
        let after = try #require(OutsideUsage.now(of: getpid()))
        // Even with huge pages of 2 MiB there are as many as these.
        #expect((after - before).minorFaults >= 16)
    }

    private func touch(_ byteCount: Int) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 4096)
        buffer.initializeMemory(as: UInt8.self, repeating: 1)
        buffer.deallocate()
    }

    @Test("a process that is not there has used nothing that is known")
    func gone() {
        #expect(OutsideUsage.now(of: 1 << 30) == nil)
    }
}

@Suite("process memory")
struct ProcessMemoryTests {
    @Test("what a child touches is seen in its peak")
    func child() throws {
        let folder = try TemporaryFolder()
        #expect(mkfifo(folder.path("pipe"), 0o600) == 0)
        // Waits for a reader of the pipe, then fills a buffer of 64 MiB, then waits for the reader to read.
        let process = Process()
        process.executableURL = URL(filePath: "/bin/dd")
        process.arguments = ["if=/dev/zero", "of=\(folder.path("pipe"))", "bs=64M", "count=1", "status=none"]
        try process.run()
        defer { process.waitUntilExit() }
        let id = process.processIdentifier
        // It has opened its input, and stands before its output.
        wait { input(of: id) == "/dev/zero" && ProcFile.line("/proc/\(id)/stat")?.contains(") S ") == true }
        #expect(ProcessMemory.resetPeak(of: id))
        let baseline = try #require(ProcessMemory.resident(of: id)?.byteCount)
        #expect(ProcessMemory.resident(of: id)?.peakByteCount == baseline)
        let reader = open(folder.path("pipe"), O_RDONLY | O_NONBLOCK)
        // A writer whose reader is gone ends.
        defer { close(reader) }
        wait { ProcessMemory.resident(of: id)?.byteCount ?? 0 >= baseline + (64 << 20) }
        let growth = Int(try #require(ProcessMemory.resident(of: id)?.peakByteCount)) - Int(baseline)
        #expect(abs(growth - (64 << 20)) < 2 << 20, "\(growth) bytes: expected 64 MiB")
    }

    private func input(of id: Int32) -> String? {
        try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(id)/fd/0")
    }

    /// Waits until something is so, but not without end.
    private func wait(until isSo: () -> Bool) {
        for _ in 0..<1000 where !isSo() { usleep(5000) }
    }

    @Test("a process that is not there has no memory, and no peak to be reset")
    func missing() {
        // Larger than any number that the kernel gives.
        let id: Int32 = 1 << 30
        #expect(ProcessMemory.resident(of: id) == nil)
        #expect(!ProcessMemory.resetPeak(of: id))
    }

    @Test("this process has a peak")
    func own() {
        #expect((ProcessMemory.resident(of: getpid())?.peakByteCount ?? 0) > 1 << 20)
    }
}
