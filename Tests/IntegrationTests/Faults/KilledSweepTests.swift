import Foundation
import TestSupport
import Testing

/// SIGKILL at random instants: where a call fails, ``FailingCallTests`` says; here the program may be anywhere.
@Suite("sweeps that are killed")
struct KilledSweepTests {
    /// How many kills; `CHUNKWISE_KILLS` says another number.
    private static let count = ProcessInfo.processInfo.environment["CHUNKWISE_KILLS"].flatMap { Int($0) } ?? 3
    private static let arguments = ["sweep", "--plan", "plan", "--output", "run"]

    /// A folder with a plan of many short passes.
    private static func makeFolder() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try folder.file(
            "plan",
            """
            rounds: 3
            time: 2ms
            object-size: 256KiB
            cells:
            - {backend: [libgcrypt, openssl], window: [4KiB, 64KiB, 256KiB]}
            - {backend: openssl, strategy: ctr, window: [16KiB, 64KiB]}
            """)
        return folder
    }

    @Test("go on until all cells are there, each once, and lose nothing that was written")
    func kills() throws {
        let reference = try Self.makeFolder()
        let start = ContinuousClock.now
        #expect(try Chunkwise.run(Self.arguments, in: reference.path).status == 0)
        // A sweep that was killed late has less to do, so that later kills come often enough in time.
        let span = max(100_000, UInt32((ContinuousClock.now - start) / .microseconds(1)))
        let planned = try #require(reference.bytes("run/results.jsonl"))
        var (kills, ends) = (0, 0)
        while kills < Self.count {
            let folder = try Self.makeFolder()
            var left: [UInt8] = []
            // The last run of a folder is not killed.
            for isLast in Array(repeating: false, count: 20) + [true] {
                let streams = try TemporaryFolder()
                let process = try CommandRun.start(
                    Programs.chunkwise, Self.arguments, in: folder.path, streams: streams)
                if !isLast, kills < Self.count {
                    usleep(.random(in: 0..<span))
                    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
                }
                process.waitUntilExit()
                let run = CommandRun.finished(process, streams: streams)
                let isKilled = run.status == 128 + SIGKILL
                kills += isKilled ? 1 : 0
                #expect(isKilled || run.status == 0, "\(run.status) \(run.errorLines)")
                let now = folder.bytes("run/results.jsonl") ?? []
                let mismatch = ResultLines.mismatch(left, now, planned: isKilled ? nil : planned)
                #expect(mismatch == nil, "after \(kills) kills: \(mismatch ?? "")")
                left = now
                if !isKilled { break }
            }
            ends += 1
            #expect(folder.names(in: "run").contains("index.html"))
            #expect(!folder.names(in: "run").contains(".chunkwise-objects"), "objects are left behind")
        }
        print("killed sweeps: \(kills) kills in \(ends) sweeps of \(span / 1000) ms, each of which came to its end")
    }
}
