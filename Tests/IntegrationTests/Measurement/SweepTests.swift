import BackendRegistry
import Foundation
import Measurement
import RandomAccess
import Results
import Statistics
import SystemPackage
import TestSupport
import Testing

/// The subject of a record, without figures.
private func kind(_ record: ResultRecord) -> String {
    switch record {
    case .header: "header"
    case .conformance(let record): "conformance \(record.subject)"
    case .mutants(let record): "mutants \(record.backend)"
    case .check(let record): "check \(record.cell.id) \(record.digest)"
    case .memory(let record): "memory \(record.cellID) \(record.round ?? 0)"
    case .latency(let record): "latency \(record.cellID) \(record.round ?? 0)"
    case .time(let record): "time \(record.cellID) \(record.round)"
    case .failure(let record): "failure \(record.cell.id)"
    case .end: "end"
    case .seal: "seal"
    }
}

/// A sweep of a small plan in a folder of its own.
private struct SmallSweep {
    let folder: TemporaryFolder
    let run: RunFolder
    let plan: Plan
    var program = [Programs.chunkwise, "subject"]
    var version = "0"
    var digest: String? = "d"

    init(_ text: String, otherBackends: [String] = []) throws {
        Programs.ignoreBrokenPipes()
        folder = try TemporaryFolder()
        run = RunFolder(path: FilePath(folder.path("run")))
        let film = PlayerTrace(
            name: "film", source: "", minByteCount: 5000,
            requests: [.init(offset: 100, count: 2000), .init(offset: 4000, count: nil)])
        plan = try PlanReader(file: "p.yml", knownBackends: BackendRegistry.names + otherBackends) {
            $0 == "film" ? film : nil
        }.read(text)
    }

    var lines: [ResultRecord] {
        get throws { try ResultLog(path: run.resultFile).earlierRecords }
    }

    /// Runs it until it is done, or that many steps were made.
    @discardableResult
    func run(
        steps: Int = .max, verify: (() -> [ConformanceRecord])? = nil, limits: (() -> MachineLimits?)? = nil,
        mutants: (() -> MutantsRecord?)? = nil
    ) throws -> RunResults {
        var asked = 0
        return try Sweep(
            folder: run, plan: plan, program: program, programVersion: version, programDigest: digest, command: [],
            startedAt: "",
            backends: [BackendRegistry.backend(named: "libgcrypt"), BackendRegistry.backend(named: "openssl")]
        ).run(
            limits: limits, verify: verify, mutants: mutants, progress: { _ in },
            shouldStop: {
                asked += 1
                return asked > steps
            })
    }
}

private let smallPlan = """
    rounds: 2
    time: 1us
    object-size: 4KiB
    cells:
    - {backend: libgcrypt, window: 1KiB}
    - {backend: openssl, strategy: cbc-chunked:chunk=1008, workload: random:100, reads: 5, threads: 2}
    """

@Suite("sweeps")
struct SweepTests {
    @Test("broken off after any number of steps and started again, a sweep has each record once and lacks none")
    func resuming() throws {
        let whole = try SmallSweep(smallPlan)
        #expect(try whole.run().isComplete)
        let expected = try whole.lines.map(kind)
        let stepCount = expected.count - 2
        #expect(Set(expected).count == expected.count && stepCount == 14, "\(expected)")
        for steps in 0...stepCount {
            let cut = try SmallSweep(smallPlan)
            let first = try cut.run(steps: steps)
            #expect(first.isComplete == (steps == stepCount))
            #expect(try cut.lines.count == (steps == stepCount ? expected.count : steps + 1), "\(steps) steps")
            #expect(try cut.run().isComplete)
            #expect(try cut.lines.map(kind).sorted() == expected.sorted(), "\(steps) steps")
            // Done is done, and the objects are gone.
            let done = cut.folder.bytes("run/results.jsonl")
            #expect(try cut.run(steps: 0).isComplete)
            #expect(cut.folder.bytes("run/results.jsonl") == done)
            #expect(!FileManager.default.fileExists(atPath: cut.run.objectFolder.string), "\(steps) steps")
        }
    }

    @Test(
        "a subject that answers with a figure beyond all bounds fails its cell, and no other one",
        arguments: [#""fetchedByteCount":"#, #""boundByteCount":"#, #""userNanoseconds":"#, #""nanoseconds":["#])
    func absurdFigures(start: String) throws {
        let folder = try TemporaryFolder()
        let substitution = start.replacing("[", with: #"\["#) + "[0-9]*/" + start + "18446744073709551615"
        let script = try folder.file(
            "subject", "'\(Programs.chunkwise)' subject --backend libgcrypt | sed -u 's/\(substitution)/'")
        let subject = "subject:sh \(script)"
        let sweep = try SmallSweep(
            """
            rounds: 1
            time: 1us
            object-size: 4KiB
            cells:
            - {backend: ["\(subject)", libgcrypt], window: 1KiB}
            """, otherBackends: [subject])
        let results = try sweep.run()
        #expect(results.isComplete && results.cells.count == 2)
        for cell in results.cells where cell.cell.backend == "libgcrypt" {
            #expect(cell.failure == nil && cell.rounds.count == 1)
        }
        let failed = try #require(results.cells.first { $0.cell.backend.hasPrefix("subject:") })
        #expect(failed.failure?.contains("18446744073709551615: expected integers below 2^53") == true)
        // What was written is read again.
        #expect(try sweep.lines.contains { if case .failure = $0 { true } else { false } })
    }

    @Test("a subject that measures less than it was asked for has no speed")
    func tooFewIterations() throws {
        let folder = try TemporaryFolder()
        let change = #"s/"nanoseconds":\[[0-9,]*\]/"nanoseconds":[1]/"#
        let script = try folder.file(
            "subject", "'\(Programs.chunkwise)' subject --backend libgcrypt | sed -u '\(change)'")
        let subject = "subject:sh \(script)"
        let results = try SmallSweep(
            """
            rounds: 1
            time: 1us
            object-size: 4KiB
            cells:
            - {backend: ["\(subject)", libgcrypt], window: 1KiB}
            """, otherBackends: [subject]
        ).run()
        let failed = try #require(results.cells.first { $0.cell.backend == subject })
        #expect(failed.failure?.contains("1 iterations of 1 ns together: expected ") == true, "\(failed.failure ?? "")")
        #expect(failed.rounds.isEmpty && results.cells.count { $0.failure == nil } == 1)
    }

    @Test("memory and latencies are of as many processes as there are rounds, three at most")
    func untimedRounds() throws {
        let results = try SmallSweep(
            """
            rounds: 5
            time: 1us
            object-size: 4KiB
            cells:
            - {backend: libgcrypt, window: 1KiB}
            - {backend: libgcrypt, window: 2KiB, rounds: 1}
            """
        ).run()
        #expect(results.cells.map(\.rounds.count) == [5, 1])
        #expect(results.cells.map { $0.latencies.map(\.round) } == [[0, 1, 2], [0]])
        #expect(results.cells.map { $0.memories.map(\.round) } == [[0, 1, 2], [0]])
        // 4 reads an iteration, 16 iterations.
        #expect(results.cells[0].latencies.allSatisfy { $0.latency.readCount == 64 && $0.firstByte?.readCount == 32 })
    }

    @Test(
        "rounds are added until the interval is narrow, or there are as many as may be; broken off, it goes on the same"
    )
    func precision() throws {
        func text(_ precision: String) -> String {
            """
            rounds: 3
            precision: \(precision)
            max-rounds: 6
            time: 1us
            object-size: 4KiB
            cells: [{backend: libgcrypt, window: 1KiB}]
            """
        }
        // No interval of iterations of a microsecond is narrower than 0.1 %.
        let precise = try SmallSweep(text("0.1%"))
        #expect(try precise.run(steps: 8).isComplete == false)
        #expect(try precise.run().cells[0].rounds.count == 6)
        let wide = try SmallSweep(text("100%")).run()
        #expect((3...6).contains(wide.cells[0].rounds.count) && wide.isComplete)
        if let interval = LogInterval(processes: wide.cells[0].rounds.compactMap { median(of: $0) }) {
            #expect(interval.relativeHalfWidth <= 1 || wide.cells[0].rounds.count == 6)
        }
    }

    @Test("a sweep goes on with the build that began it, and with no other")
    func otherBuild() throws {
        var sweep = try SmallSweep(smallPlan)
        try sweep.run(steps: 3)
        let before = sweep.folder.bytes("run/results.jsonl")
        for digest in ["e", nil] {
            sweep.digest = digest
            let error = #expect(throws: SweepError.self) { try sweep.run() }
            #expect(error?.exitStatus == .badData && "\(error, default: "")".contains("another build (d)"))
        }
        #expect(sweep.folder.bytes("run/results.jsonl") == before)
        sweep.digest = "d"
        #expect(try sweep.run().isComplete)
    }

    @Test("the machine's limits are measured once, and kept when a sweep goes on")
    func limits() throws {
        let sweep = try SmallSweep(smallPlan)
        let rate = Rate(byteCount: 7, nanoseconds: [3])
        let buffers = BufferRate(bufferByteCount: 1, rate: rate)
        let threads = ThreadLimits(
            threads: 1, aesDecrypt: [KeyRate(keyByteCount: 16, rate: rate)], cacheCopy: buffers, memoryCopy: buffers,
            memoryRead: [buffers], pageCacheRead: [buffers])
        let limits = MachineLimits(aesUnit: "none", oneThread: threads, allThreads: threads)
        var asked = 0
        func ask() -> MachineLimits? {
            asked += 1
            return limits
        }
        try sweep.run(steps: 1, limits: ask)
        #expect(try sweep.run(limits: ask).header.limits == limits && asked == 1)
    }

    @Test("injected faults are tried once, and again only where that was stopped")
    func mutants() throws {
        let record = MutantsRecord(
            backend: "libgcrypt", outcomes: [.init(name: "m", flag: "f", killedBy: ["f"])], controls: [])
        let sweep = try SmallSweep(smallPlan)
        var answers: [MutantsRecord?] = [nil, record]
        func ask() -> MutantsRecord? { answers.removeFirst() }
        #expect(try sweep.run(steps: 1, mutants: ask).mutants == nil && answers.count == 1)
        #expect(try sweep.run(steps: 1, mutants: ask).mutants == record && answers.isEmpty)
        #expect(try sweep.run(mutants: ask).isComplete)
        let finished = try SmallSweep(smallPlan)
        try finished.run()
        #expect(try finished.run(mutants: ask).mutants == nil)
    }

    @Test("a sweep of another plan, version or machine is not mixed in")
    func externalResults() throws {
        var sweep = try SmallSweep(smallPlan)
        try sweep.run(steps: 0)
        let before = sweep.folder.bytes("run/results.jsonl")
        sweep.version = "1"
        #expect(throws: SweepError.self) { try sweep.run() }
        let other = try SmallSweep(smallPlan + "\n- {backend: libgcrypt}")
        try FileManager.default.createDirectory(atPath: other.run.path.string, withIntermediateDirectories: true)
        try other.folder.file("run/results.jsonl", before ?? [])
        #expect(throws: SweepError.self) { try other.run() }
        #expect(other.folder.bytes("run/results.jsonl") == before)
    }

    @Test("a backend that failed a vector, or ran none, gets a failure and no figures", arguments: [1, 0])
    func refusal(failed: Int) throws {
        let sweep = try SmallSweep(smallPlan)
        let results = try sweep.run {
            [
                ConformanceRecord(
                    subject: "openssl", passed: 0, failed: failed, unsupported: 0, notRun: 0, failures: []),
                ConformanceRecord(subject: "libgcrypt", passed: 1, failed: 0, unsupported: 0, notRun: 0, failures: []),
            ]
        }
        let refused = try #require(results.cells.first { $0.cell.backend == "openssl" })
        #expect(refused.failure?.contains("vectors failed") == true)
        #expect(refused.check == nil && refused.rounds.isEmpty && refused.latencies.isEmpty && refused.memories.isEmpty)
        #expect(results.cells.first { $0.cell.backend == "libgcrypt" }?.rounds.count == 2)
    }

    @Test("a run that was killed among the outcomes of the vectors judges all backends when it goes on")
    func halfVerified() throws {
        let sweep = try SmallSweep(smallPlan)
        let outcomes = ["libgcrypt", "openssl"].map {
            ConformanceRecord(
                subject: $0, passed: 1, failed: $0 == "openssl" ? 1 : 0, unsupported: 0, notRun: 0, failures: [])
        }
        try sweep.run(steps: 0) { outcomes }
        let lines = try #require(sweep.folder.bytes("run/results.jsonl")).split(separator: 0x0A)
        #expect(lines.count == 3)
        try sweep.folder.file("run/results.jsonl", Array(lines[..<2].joined(separator: [0x0A])) + [0x0A])
        let results = try sweep.run { outcomes }
        #expect(results.conformance.map(\.subject) == ["libgcrypt", "openssl"])
        #expect(results.cells.first { $0.cell.backend == "openssl" }?.failure != nil)
    }

    @Test(
        "a subject that delivers something else, too little or nothing is a failure without any time",
        .enabled(if: Programs.installed("python3") != nil),
        arguments: ["wrong", "short", "length", "refuse", "die", "x"])
    func fakeSubjects(fault: String) throws {
        let folder = try TemporaryFolder()
        let script = """
            import sys, json
            for line in sys.stdin:
                request = json.loads(line)
                op, fault = request["op"], "\(fault)"
                answer = {"ok": True}
                if op == "open": answer["plaintextByteCount"] = 4095 if fault == "length" else 4096
                if op == "measure":
                    if fault == "die": sys.exit("last words")
                    if fault == "refuse": answer = {"ok": False, "error": "internal", "message": "no"}
                    answer["deliveredByteCount"] = 4095 if fault == "short" else 4096
                    answer["digest"] = "00" * 32
                    if fault == "x": answer = {"ok": True}
                print(json.dumps(answer), flush=True)
                if op == "bye": break
            """
        var sweep = try SmallSweep("rounds: 1\nobject-size: 4KiB\ncells:\n- backend: libgcrypt")
        sweep.program = [try #require(Programs.installed("python3")), try folder.file("subject.py", script)]
        let results = try sweep.run()
        let cell = try #require(results.cells.first)
        let words = [
            "wrong": "wrong plaintext", "short": "4095", "length": "4095", "refuse": "internal: no",
            "die": "last words",
            "x": "without digest",
        ]
        #expect(cell.failure?.contains(words[fault] ?? "?") == true, "\(cell.failure ?? "no failure")")
        #expect(try sweep.lines.map(kind) == ["header", "failure \(cell.cell.id)", "end"])
        #expect(results.isComplete)
    }

    @Test(
        "objects and windows at the edges are measured",
        arguments: [
            "{backend: libgcrypt, object-size: 0}", "{backend: libgcrypt, object-size: 1, window: 256MiB}",
            "{backend: libgcrypt, object-size: 100, window: 1}",
            "{backend: libgcrypt, object-size: 0, source: generated}",
            """
            {backend: libgcrypt, object-size: 48, strategy: cbc-continuous:padding=none, window: 7, \
            access: fresh-buffers, threads: 4}
            """,
            "{backend: libgcrypt, strategy: cbc-chunked:chunk=16, access: chunk-cache, object-size: 160}",
            "{backend: openssl, strategy: ctr, key-size: 192, object-size: 33, source: generated, workload: random:33}",
            "{backend: libgcrypt, object-size: 100KiB, window: 1KiB, workload: [trace:film], access: whole-chunk}",
            "{backend: libgcrypt, object-size: 100KiB, window: 64KiB, latency: 1us, bandwidth: 1GB/s}",
            "{backend: libgcrypt, object-size: 300KiB, window: 64KiB, latency: 1us, bandwidth: 1GB/s, client: serial}",
            "{backend: openssl, strategy: cobblestone-128, object-size: 3MiB, window: 64KiB, latency: 1us, threads: 2}",
            "{backend: libgcrypt, object-size: 100KiB, cold: yes}",
            "{backend: libgcrypt, object-size: 100KiB, source: mmap, window: 4KiB}",
            "{backend: openssl, strategy: hls-aes128:segment=1KiB, object-size: 5000, workload: random:1500, threads: 2}",
            "{backend: openssl, strategy: hls-aes128, object-size: 0}",
            "{backend: libgcrypt, strategy: hls-aes128:segment=4KiB, object-size: 20000, source: generated}",
            "{backend: libgcrypt, strategy: hls-aes128:segment=4KiB, object-size: 20000, cold: yes}",
            "{backend: libgcrypt, strategy: hls-aes128:segment=4KiB, object-size: 20000, latency: 1us}",
        ])
    func edges(entry: String) throws {
        let results = try SmallSweep("rounds: 1\ntime: 1us\ncells:\n- \(entry)").run()
        let cell = try #require(results.cells.first)
        #expect(cell.failure == nil && cell.check != nil && cell.rounds.count == 1)
        // No reads, no latencies.
        #expect((cell.latencies.isEmpty) == (cell.cell.objectByteCount == 0))
        #expect((cell.latencies.first?.firstByte == nil) == (cell.cell.objectByteCount == 0))
        #expect(cell.usage != nil)
        #expect((cell.residentByteCount == nil) == (cell.cell.isCold != true))
    }
}
