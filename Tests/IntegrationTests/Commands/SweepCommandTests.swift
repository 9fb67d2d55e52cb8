import BackendRegistry
import Foundation
import RandomAccess
import Results
import Support
import TestSupport
import Testing

private let plan = """
    rounds: 2
    time: 20ms
    object-size: 64KiB
    cells:
    - {backend: [libgcrypt, openssl], window: [4KiB, 64KiB]}
    """

/// The subject of each line of a result file, without figures.
private func kinds(_ folder: TemporaryFolder) throws -> [String] {
    let lines = (folder.bytes("run/results.jsonl") ?? []).split(separator: 0x0A)
    return try lines.map { line in
        let record = try #require(JSONValue.parse(Array(line)), "a line is no JSON")
        guard case .object(let members) = record, let (name, value) = members.first else { return "?" }
        return [name, value["cellID"]?.string ?? value["cell"]?.text ?? "", value["round"]?.text ?? ""].joined(
            separator: " ")
    }
}

@Suite("sweeps from the command line")
struct SweepCommandTests {
    private let arguments = ["sweep", "--plan", "plan", "--output", "run"]

    private func folder() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try folder.file("plan", plan)
        return folder
    }

    /// Starts a sweep and lets it write some lines.
    private func started(_ folder: TemporaryFolder, streams: TemporaryFolder, lines: Int) throws -> Process {
        let process = try CommandRun.start(Programs.chunkwise, arguments, in: folder.path, streams: streams)
        for _ in 0..<2000
        where process.isRunning && (folder.bytes("run/results.jsonl") ?? []).filter({ $0 == 0x0A }).count < lines {
            usleep(2000)
        }
        return process
    }

    @Test("a sweep that was killed goes on where it was, and its report is whole", arguments: [1, 6, 14])
    func killed(lines: Int) throws {
        let folder = try folder()
        let streams = try TemporaryFolder()
        let process = try started(folder, streams: streams, lines: lines)
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        let run = try Chunkwise.run(arguments, in: folder.path)
        #expect(run.status == 0 && run.errorLines.isEmpty, "\(run.errorLines)")
        let found = try kinds(folder)
        // The header; check, and two rounds of memory, latencies and time of four cells; and the end.
        #expect(found.count == 30 && Set(found).count == 30, "\(found)")
        #expect(try Chunkwise.run(["report", "run"], in: folder.path).status == 0)
        #expect(folder.bytes("run/index.html") != nil && folder.bytes("run/results.json") != nil)
    }

    @Test("Ctrl-C ends a sweep after the running process, with its results whole and no cell failed")
    func interrupted() throws {
        // On a busy machine the sweep may be through before the signal reaches it: then once more, in a new folder.
        for _ in 0..<20 {
            let folder = try self.folder()
            let streams = try TemporaryFolder()
            let process = try started(folder, streams: streams, lines: 4)
            kill(process.processIdentifier, SIGINT)
            process.waitUntilExit()
            let run = CommandRun.finished(process, streams: streams)
            guard run.status != 0 else { continue }
            #expect(run.status == 2 && run.errorLines.count == 1, "\(run.status) \(run.errorLines)")
            #expect(run.errorLines.first?.hasPrefix("chunkwise: stopped") == true)
            #expect(folder.bytes("run/results.jsonl")?.last == 0x0A)
            let found = try kinds(folder)
            #expect(found.count < 30 && !found.contains { $0.hasPrefix("failure") || $0.hasPrefix("end") }, "\(found)")
            #expect(try Chunkwise.run(arguments, in: folder.path).status == 0)
            #expect(try Set(kinds(folder)).count == 30)
            return
        }
        Issue.record("20 sweeps ended before the signal")
    }

    @Test("a sweep on an input of one's own goes on with that one, and with no other of the same length or another")
    func otherInput() throws {
        let folder = try TemporaryFolder()
        try folder.file("plan", "time: 1ms\ncells:\n- {backend: [libgcrypt, openssl], window: 4KiB}\n")
        try folder.file("key", Chunkwise.keyHex + "\n", isSecret: true)
        for (number, byteCount) in [5000, 5000, 6000].enumerated() {
            try folder.file("input\(number)", Samples.bytes(byteCount, seed: UInt64(number)))
        }
        func sweep(_ input: String, iv: String = Chunkwise.ivHex) throws -> CommandRun {
            let own = ["--input", input, "--strategy", "ctr", "--key-file", "key", "--iv", iv]
            return try Chunkwise.run(arguments + own, in: folder.path)
        }
        let first = try sweep("input0")
        #expect(first.status == 0, "\(first.errorLines)")
        let results = folder.bytes("run/results.jsonl")
        #expect(try sweep("input0").status == 0)
        let otherIV = String(Chunkwise.ivHex.reversed())
        for run in [try sweep("input1"), try sweep("input2"), try sweep("input0", iv: otherIV)] {
            Chunkwise.expectFailure(run, 65, "input is another one")
        }
        try folder.file("input0", Samples.bytes(5000, seed: 9))
        Chunkwise.expectFailure(try sweep("input0"), 65, "input is another one")
        #expect(folder.bytes("run/results.jsonl") == results)
    }

    @Test("a file of results that was changed in the middle is named, and not written to")
    func damaged() throws {
        let folder = try folder()
        #expect(try Chunkwise.run(arguments, in: folder.path).status == 0)
        var bytes = folder.bytes("run/results.jsonl") ?? []
        let place = (bytes.firstIndex(of: 0x0A) ?? 0) + 3
        bytes[place] = 0x0A
        try folder.file("run/results.jsonl", bytes)
        Chunkwise.expectFailure(try Chunkwise.run(arguments, in: folder.path), 65, "line 2")
        Chunkwise.expectFailure(try Chunkwise.run(["report", "run"], in: folder.path), 65, "line 2")
        #expect(folder.bytes("run/results.jsonl") == bytes)
    }

    @Test(
        "a library without AES measures formats of its ciphers",
        .enabled(if: BackendRegistry.availableNames(having: .xSalsa20Poly1305).contains("sodium")))
    func withoutAES() throws {
        let folder = try TemporaryFolder()
        try folder.file(
            "plan",
            "{rounds: 1, time: 1ms, object-size: 64KiB, cells: [{backend: [sodium, swift-bitsliced], strategy: "
                + "rclone-crypt}]}")
        let run = try Chunkwise.run(arguments, in: folder.path)
        #expect(run.status == 0 && run.errorLines.isEmpty, "\(run.errorLines)")
        #expect(try kinds(folder).contains { $0.hasPrefix("time sodium ") })
    }

    @Test("the subject answers PROTOCOL.md's first request")
    func subject() throws {
        let run = try Chunkwise.run(
            ["subject", "--backend", "openssl"],
            input: Array("{\"op\":\"hello\",\"protocol\":1}\n{\"op\":\"bye\"}\n".utf8))
        #expect(run.status == 0 && run.errorLines.isEmpty)
        let answers = run.text.split(separator: "\n").map { JSONValue.parse(Array($0.utf8)) }
        #expect(answers.count == 2 && answers[0]?["protocol"] == 1 && answers[0]?["measures"] == true)
        #expect(answers[1]?["ok"] == true)
        let names = Set(answers[0]?["strategies"]?.array?.compactMap(\.string) ?? [])
        #expect(names.contains("dare") && !names.contains("rclone-crypt"))
    }

    @Test("help and version end well", arguments: [["--help"], ["--version"], ["decrypt", "--help"], []])
    func help(arguments: [String]) throws {
        let run = try Chunkwise.run(arguments)
        #expect(run.status == 0 && !run.output.isEmpty && run.errorLines.isEmpty)
    }

    @Test("programs that speak the protocol are measured beside backends, and their plaintext is checked")
    func programs() throws {
        let folder = try TemporaryFolder()
        try folder.file(
            "plan",
            "{rounds: 1, time: 1us, object-size: 64KiB, cells: [{backend: openssl, strategy: cbc-continuous:padding=none, window: 4KiB}]}"
        )
        // Zeros instead of plaintext.
        try folder.file(
            "zeros.py",
            """
            import sys
            sys.path.insert(0, "\(Project.path("Examples/subjects"))")
            from subject_protocol import Reader, serve
            serve(lambda request: Reader(request, lambda mode, key, iv, data: bytes(len(data))), name="zeros",
                  version="1", measures=sys.argv[1:] == [])
            """)
        let commands = [
            "python3 '\(Project.path("Examples/subjects"))/python_cryptography.py'", "python3 zeros.py",
            "python3 zeros.py silent",
        ]
        let run = try Chunkwise.run(arguments + commands.flatMap { ["--subject", $0] }, in: folder.path)
        #expect(run.status == 1, "\(run.errorLines)")
        let results = folder.bytes("run/results.json").flatMap(JSONValue.parse)
        let cells = results?["cells"]?.array ?? []
        #expect(cells.map { $0["backend"]?.string } == ["openssl"] + commands.map { "subject:\($0)" })
        let failures = cells.map { $0["failure"]?.string ?? "" }
        try #require(failures.count == 4, "\(failures)")
        #expect(failures[0].isEmpty && failures[1].isEmpty, "\(failures)")
        #expect(failures[2].contains("wrong plaintext") && failures[3].contains("answers no measure"), "\(failures)")
        // What it fetches it does not say.
        #expect(cells[1]["amplification"] == .null)

        let own = "'\(Programs.chunkwise)' subject --backend libgcrypt"
        let measure = ["measure", "--subject", own, "--object-size", "64KiB", "--rounds", "1", "--milliseconds", "1"]
        #expect(try Chunkwise.run(measure).status == 0)
        Chunkwise.expectFailure(
            try Chunkwise.run(measure + ["--threads", "2"]), 64, "threads 2: expected 1", "threads")
        Chunkwise.expectFailure(
            try Chunkwise.run(["measure", "--subject", "exit 3"]), 65, "subject:exit 3", "a program that ends")
    }
}
