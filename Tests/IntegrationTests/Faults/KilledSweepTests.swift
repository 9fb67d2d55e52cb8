import Foundation
import Statistics
import TestSupport
import Testing

/// SIGKILL wherever the program is: where a call fails, ``FailingCallTests`` says. Each kill comes when the result file has
/// a drawn length, and up to some milliseconds later.
@Suite("sweeps that are killed")
struct KilledSweepTests {
    /// The number of kills, which `CHUNKWISE_KILLS` changes.
    private static let count = ProcessInfo.processInfo.environment["CHUNKWISE_KILLS"].flatMap { Int($0) } ?? 3
    /// The first draw; `CHUNKWISE_KILL_SEED` says another number.
    private static let seed =
        ProcessInfo.processInfo.environment["CHUNKWISE_KILL_SEED"].flatMap { UInt64($0) } ?? 1
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
        #expect(try Chunkwise.run(Self.arguments, in: reference.path).status == 0)
        let planned = try #require(reference.bytes("run/results.jsonl"))
        var (kills, ends) = (0, 0)
        var generator = SplitMix64(seed: Self.seed)
        while kills < Self.count {
            let folder = try Self.makeFolder()
            var left: [UInt8] = []
            // The last run of a folder is not killed.
            for isLast in Array(repeating: false, count: 20) + [true] {
                let streams = try TemporaryFolder()
                let process = try CommandRun.start(
                    Programs.chunkwise, Self.arguments, in: folder.path, streams: streams)
                if !isLast, kills < Self.count {
                    // A sweep goes on behind what was there. Its last bytes may come with its end.
                    let length = left.count + Int.random(in: 0...max(0, planned.count - left.count), using: &generator)
                    let later = UInt32.random(in: 0..<5000, using: &generator)
                    while process.isRunning, folder.byteCount("run/results.jsonl") < length { usleep(200) }
                    usleep(later)
                    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
                }
                process.waitUntilExit()
                let run = CommandRun.finished(process, streams: streams)
                let isKilled = run.status == 128 + SIGKILL
                kills += isKilled ? 1 : 0
                #expect(isKilled || run.status == 0, "seed \(Self.seed): \(run.status) \(run.errorLines)")
                let now = folder.bytes("run/results.jsonl") ?? []
                let mismatch = ResultLines.mismatch(left, now, planned: isKilled ? nil : planned)
                #expect(mismatch == nil, "seed \(Self.seed), after \(kills) kills: \(mismatch ?? "")")
                left = now
                if !isKilled { break }
            }
            ends += 1
            #expect(folder.names(in: "run").contains("index.html"))
            #expect(!folder.names(in: "run").contains(".chunkwise-objects"), "objects are left behind")
        }
        print("killed sweeps: \(kills) kills in \(ends) sweeps, each of which came to its end")
    }
}
