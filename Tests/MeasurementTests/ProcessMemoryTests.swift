import Foundation
import TestSupport
import Testing

@testable import Measurement

@Suite("process memory")
struct ProcessMemoryTests {
    @Test("what a child touches and gives back is seen in its peak", .enabled(if: Programs.installed("python3") != nil))
    func child() throws {
        let folder = try TemporaryFolder()
        let script = """
            import sys, mmap, os
            print(os.getpid(), flush=True); sys.stdin.readline()
            room = mmap.mmap(-1, 64 << 20)
            for place in range(0, 64 << 20, 4096): room[place] = 1
            room.close()
            print("done", flush=True); sys.stdin.readline()
            """
        let process = Process()
        let (input, output) = (Pipe(), Pipe())
        process.executableURL = URL(filePath: try #require(Programs.installed("python3")))
        process.arguments = [try folder.file("script.py", script)]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        // What is found on the path may be a script that starts another process.
        let first = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        let id = try #require(Int32(first.dropLast()))
        // Where the kernel cannot reset a peak, there is nothing to be seen.
        guard ProcessMemory.resetPeak(of: id), let baseline = ProcessMemory.residentByteCount(of: id) else { return }
        try input.fileHandleForWriting.write(contentsOf: Data("\n".utf8))
        _ = output.fileHandleForReading.availableData
        let peak = try #require(ProcessMemory.peakByteCount(of: id))
        let growth = Int(peak) - Int(baseline)
        #expect(abs(growth - (64 << 20)) < 2 << 20, "\(growth) bytes: expected 64 MiB")
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
        #expect(ProcessMemory.peakByteCount(of: id) == nil && !ProcessMemory.resetPeak(of: id))
    }

    @Test("this process has a peak")
    func own() {
        #expect((ProcessMemory.ownPeakByteCount ?? 0) > 1 << 20)
    }
}
