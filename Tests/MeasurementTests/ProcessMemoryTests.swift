import Foundation
import TestSupport
import Testing

@testable import Measurement

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
        let baseline = try #require(ProcessMemory.residentByteCount(of: id))
        #expect(ProcessMemory.peakByteCount(of: id) == baseline)
        let reader = open(folder.path("pipe"), O_RDONLY | O_NONBLOCK)
        // A writer whose reader is gone ends.
        defer { close(reader) }
        wait { ProcessMemory.residentByteCount(of: id) ?? 0 >= baseline + (64 << 20) }
        let growth = Int(try #require(ProcessMemory.peakByteCount(of: id))) - Int(baseline)
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
        #expect(ProcessMemory.peakByteCount(of: id) == nil && ProcessMemory.residentByteCount(of: id) == nil)
        #expect(!ProcessMemory.resetPeak(of: id))
    }

    @Test("this process has a peak")
    func own() {
        #expect((ProcessMemory.ownPeakByteCount ?? 0) > 1 << 20)
    }
}
