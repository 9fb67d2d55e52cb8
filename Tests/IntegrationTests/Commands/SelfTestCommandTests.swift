import Foundation
import Support
import TestSupport
import Testing

@Suite("gate self-test from the command line")
struct SelfTestCommandTests {
    /// One short cell, hardly measured: what comes out is not of interest here.
    private func folder() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try folder.file(
            "plan", "object-size: 64KiB\ncells:\n- {backend: openssl, strategy: ctr, window: 16KiB}\n")
        return folder
    }

    private let arguments = [
        "gate", "self-test", "--plan", "plan", "--seconds", "0.1", "--slowdown", "none", "--output", "log",
        "--format", "json",
    ]

    private func lineCount(_ folder: TemporaryFolder) -> Int { (folder.bytes("log") ?? []).count { $0 == 0x0A } }

    @Test("a self-test keeps each run, goes on where it was, and says rates with intervals")
    func continued() throws {
        let folder = try folder()
        let first = try Chunkwise.run(arguments + ["--runs", "2"], in: folder.path)
        #expect(first.status == 0 && first.errorLines.isEmpty, "\(first.errorLines)")
        #expect(lineCount(folder) == 3)
        let second = try Chunkwise.run(arguments + ["--runs", "3"], in: folder.path)
        #expect(second.status == 0 && lineCount(folder) == 4)
        let json = try #require(JSONValue.parse(second.output))
        let group = try #require(json["groups"]?.array?.first)
        #expect(json["groups"]?.array?.count == 1 && group["runs"] == 3 && json["isComplete"] == true)
        let rates = try #require(group["rates"])
        let counts = ["slower", "inconclusive", "noisyHost", "same", "faster", "wrong"].compactMap {
            rates[$0]?["count"]?.integer
        }
        #expect(counts.count == 6 && counts.reduce(0, +) == 3)
        // Nothing is left to do.
        #expect(try Chunkwise.run(arguments + ["--runs", "3"], in: folder.path).status == 0 && lineCount(folder) == 4)
        let text = try Chunkwise.run(arguments.dropLast() + ["text", "--runs", "3"], in: folder.path)
        #expect(text.text.contains("nothing") && text.text.contains("false alarms at most"))
    }

    @Test("a self-test that is stopped keeps what it has")
    func stopped() throws {
        let folder = try folder()
        let streams = try TemporaryFolder()
        let process = try CommandRun.start(
            Programs.chunkwise, arguments + ["--runs", "10000"], in: folder.path, streams: streams)
        for _ in 0..<5000 where process.isRunning && lineCount(folder) < 3 { usleep(2000) }
        process.interrupt()
        process.waitUntilExit()
        let run = CommandRun.finished(process, streams: streams)
        #expect(run.status == 2 && run.errorLines.last?.contains("goes on from here") == true, "\(run.errorLines)")
        #expect(JSONValue.parse(run.output)?["isComplete"] == false)
        #expect(lineCount(folder) >= 3 && folder.bytes("log")?.last == 0x0A)
    }

    @Test("another self-test's file is not added to")
    func otherFile() throws {
        let folder = try folder()
        #expect(try Chunkwise.run(arguments + ["--runs", "1"], in: folder.path).status == 0)
        let bytes = folder.bytes("log")
        let run = try Chunkwise.run(arguments + ["--runs", "2", "--busy"], in: folder.path)
        Chunkwise.expectFailure(run, 65, "busy")
        #expect(folder.bytes("log") == bytes)
    }

    @Test("a baseline that takes no extra work is refused before anything is counted")
    func noExtraWork() throws {
        let folder = try folder()
        // What follows is the shell's, and no option of the subject.
        let baseline = "'\(Programs.chunkwise)' subject; true"
        let options = arguments.filter { !["--slowdown", "none"].contains($0) }
        let run = try Chunkwise.run(options + ["--baseline", baseline, "--runs", "1"], in: folder.path)
        #expect(run.status != 0 && run.errorLines.last?.contains("--extra-work") == true, "\(run.errorLines)")
    }

    @Test(
        "options that mean nothing together are errors of usage",
        arguments: [
            ["self-test", "--candidate", "x"], ["self-test", "--runs", "0"], ["self-test", "--slowdown", "x"],
            ["self-test", "--slowdown", "-3%"], ["self-test", "--format", "junit"],
            ["self-test", "--skip-unchanged", "--slowdown", "none"], ["--runs", "3"], ["--busy"],
            ["self-test", "--window", "0"], ["self-test", "--window", "1GiB"],
        ])
    func wrong(options: [String]) throws {
        let sides = options.contains("self-test") ? [] : ["--baseline", "a", "--candidate", "b"]
        Chunkwise.expectFailure(try Chunkwise.run(["gate"] + options + sides), 64, "", "\(options)")
    }
}
