import Foundation
import TestSupport
import Testing

@Suite("Ctrl-C")
struct InterruptionTests {
    private let folder: TemporaryFolder
    private let streams: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        streams = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path("tmp"), withIntermediateDirectories: false)
        try folder.file(
            "plan",
            """
            rounds: 3
            time: 20ms
            object-size: 1MiB
            cells:
            - {backend: [libgcrypt, openssl], window: [4KiB, 64KiB, 256KiB]}
            """)
    }

    /// Starts the program with a folder for temporary files of its own.
    private func start(_ arguments: [String]) throws -> Process {
        try CommandRun.start(
            "/usr/bin/env", ["TMPDIR=\(folder.path("tmp"))", Programs.chunkwise] + arguments, in: folder.path,
            streams: streams)
    }

    /// Waits until something is there, or the process has ended.
    private func wait(_ process: Process, until isThere: () -> Bool) {
        var rest = 10_000
        while rest > 0, process.isRunning, !isThere() {
            usleep(2000)
            rest -= 1
        }
    }

    /// The processes that were started with this test's temporary folder.
    private func family() -> [String] {
        let mark = Data("TMPDIR=\(folder.path("tmp"))".utf8)
        let numbers = ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []).filter { Int($0) != nil }
        return numbers.filter { number in
            FileManager.default.contents(atPath: "/proc/\(number)/environ").map { $0.range(of: mark) != nil } ?? false
        }
    }

    private func expectNothingLeft(_ what: String) {
        var rest = 500
        while rest > 0, !family().isEmpty {
            usleep(2000)
            rest -= 1
        }
        #expect(family().isEmpty, "\(what) left processes behind")
        let temporary = try? FileManager.default.contentsOfDirectory(atPath: folder.path("tmp"))
        #expect(temporary == [], "\(what) left temporary files behind: \(temporary ?? [])")
    }

    private func lineCount() -> Int { (folder.bytes("run/results.jsonl") ?? []).count { $0 == 0x0A } }

    @Test("a sweep leaves a report that says how far it came, and the command to go on", arguments: [3, 16, 30])
    func partialReport(lines: Int) throws {
        let process = try start(["sweep", "--plan", "plan", "--output", "run"])
        wait(process) { lineCount() >= lines }
        process.interrupt()
        process.waitUntilExit()
        let run = CommandRun.finished(process, streams: streams)
        #expect(run.status == 2 && run.errorLines.count == 1, "\(run.status) \(run.errorLines)")
        #expect(run.errorLines.last?.contains("to go on: chunkwise sweep --plan plan --output run") == true)
        #expect(run.text.contains("INCOMPLETE: of 6 cells, "))
        let page = String(decoding: folder.bytes("run/index.html") ?? [], as: UTF8.self)
        #expect(page.contains("INCOMPLETE") || page.contains("broken off") || page.contains("incomplete"))
        #expect(!folder.names(in: "run").contains(".chunkwise-objects"), "objects are left behind")
        expectNothingLeft("a sweep")
        let again = try Chunkwise.run(["sweep", "--plan", "plan", "--output", "run"], in: folder.path)
        #expect(again.status == 0 && !again.text.contains("INCOMPLETE"), "\(again.errorLines)")
        let whole = String(decoding: folder.bytes("run/index.html") ?? [], as: UTF8.self)
        #expect(!whole.contains("INCOMPLETE"))
    }

    @Test("stopped before anything was measured, it says so and leaves no report")
    func nothing() throws {
        // The vectors are found here, wherever the program was built.
        try FileManager.default.createSymbolicLink(
            at: URL(fileURLWithPath: folder.path("data")), withDestinationURL: Project.folder.appending(path: "data"))
        let process = try start(["run", "--plan", "plan", "--output", "run"])
        wait(process) { lineCount() >= 1 }
        process.interrupt()
        process.waitUntilExit()
        let run = CommandRun.finished(process, streams: streams)
        #expect(run.status == 2, "\(run.errorLines)")
        #expect(run.errorLines.last?.contains("stopped before anything was measured") == true, "\(run.errorLines)")
        #expect(folder.bytes("run/index.html") == nil)
        expectNothingLeft("a run")
    }

    @Test("however often it is pressed, nothing is left behind", arguments: [1, 2, 20])
    func repeated(count: Int) throws {
        let process = try start(["measure", "--object-size", "32MiB", "--rounds", "100"])
        wait(process) { (try? FileManager.default.contentsOfDirectory(atPath: folder.path("tmp")))?.isEmpty == false }
        for _ in 0..<count where process.isRunning {
            process.interrupt()
            usleep(500)
        }
        process.waitUntilExit()
        let status = CommandRun.finished(process, streams: streams).status
        // In good order, or at once by the signal.
        #expect([2, 128 + SIGINT].contains(status), "\(status)")
        expectNothingLeft("measure")
    }

    @Test("what waits for a subject that never answers ends at once, and the subject with it")
    func silentSubject() throws {
        let process = try start(["verify", "memory", "--subject", "sleep 1000", "--timeout", "600"])
        wait(process) { family().count >= 2 }
        process.interrupt()
        process.waitUntilExit()
        #expect(CommandRun.finished(process, streams: streams).status == 128 + SIGINT)
        expectNothingLeft("verify memory")
    }
}
