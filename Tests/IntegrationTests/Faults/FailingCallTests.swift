import Foundation
import Support
import TestSupport
import Testing

/// A command that is run again and again, each time with another call to the system that fails.
struct FaultedCommand: Sendable, CustomTestStringConvertible {
    /// What it is called in messages.
    let name: String
    /// The command line.
    let arguments: [String]
    /// The exit statuses that a failure may have.
    var statuses: Set<Int32> = [74]
    /// Makes what it reads.
    let prepare: @Sendable (TemporaryFolder) throws -> Void
    /// Whether a file that it wrote is whole, given the bytes that a run without failures wrote; equal to those unless said.
    var isWhole: @Sendable (_ name: String, _ bytes: [UInt8], _ untouched: [UInt8]?) -> Bool = { $1 == $2 }
    /// Whether it prints the same each time.
    var printsTheSame = true

    var testDescription: String { name }
}

/// After SQLite's tests: the N-th call that touches a file or a pipe fails, for N = 1 and on, until a run is through
/// without meeting its failure. Never may a program be ended by a signal or wait for ever; never may a file stand under
/// its name that is not whole; and what it says must be so.
@Suite("calls that fail", .enabled(if: FailingCalls.compiler != nil))
struct FailingCallTests {
    private let calls: FailingCalls

    init() throws {
        calls = try FailingCalls()
    }

    /// How many runs a command gets at most; `CHUNKWISE_FAULT_RUNS` says another number.
    private static let limit = ProcessInfo.processInfo.environment["CHUNKWISE_FAULT_RUNS"].flatMap { Int($0) } ?? 30

    /// The calls that fail, out of `count`: all of them, or more at the start and the end than between, where a
    /// measurement reads the same file thousands of times.
    private static func calls(of count: Int) -> [Int] {
        let share = max(1, limit / FailingCalls.Failure.allCases.count)
        guard count > share else { return Array(1...count) }
        let numbers = (0..<share).map { index in
            let part = (Double(index) + 0.5) / Double(share)
            let eased = part < 0.5 ? 4 * part * part * part : 1 - 4 * (1 - part) * (1 - part) * (1 - part)
            return 1 + Int(eased * Double(count - 1))
        }
        return Set(numbers).sorted()
    }

    @Test("an error by its name, or the same result; nothing in between", arguments: FaultedCommand.all)
    func fails(command: FaultedCommand) throws {
        let template = try TemporaryFolder()
        try command.prepare(template)
        let before = Self.files(template)
        let (untouched, run, count) = try self.run(command, template, .inputOutput, at: 0)
        #expect(run.status == 0, "\(command.name): \(run.errorLines)")
        #expect(count.calls > 4)
        var (runs, failed) = (0, 0)
        for number in Self.calls(of: count.calls) {
            for kind in FailingCalls.Failure.allCases {
                let (after, faulted, count) = try self.run(command, template, kind, at: number)
                runs += 1
                failed += count.failed == nil ? 0 : 1
                let mismatch = self.mismatch(
                    command, faulted, kind, count, before: before, after: after, untouched: untouched,
                    output: run.output)
                #expect(
                    mismatch == nil,
                    "\(command.name), call \(number) (\(count.failed ?? "none")), \(kind.rawValue): \(mismatch ?? "") → \(faulted.status) \(faulted.errorLines)"
                )
            }
        }
        #expect(failed > 0)
        print("failing calls: \(command.name): \(count.calls) calls, \(runs) runs, \(failed) with a failure")
    }

    /// What is wrong with a run whose call failed, or `nil`.
    private func mismatch(
        _ command: FaultedCommand, _ run: CommandRun, _ kind: FailingCalls.Failure, _ count: FailingCalls.Count,
        before: [String: [UInt8]], after: [String: [UInt8]], untouched: [String: [UInt8]], output: [UInt8]
    ) -> String? {
        let isKilled = kind == .kill && count.failed != nil
        for (name, bytes) in after where before[name] != bytes && !command.isWhole(name, bytes, untouched[name]) {
            // What a kill leaves under another name, it has under no final one.
            if untouched[name] == nil, isKilled { continue }
            return "\(name) is not whole: \(bytes.count) bytes"
        }
        for name in before.keys where after[name] == nil && untouched[name] != nil { return "\(name) is gone" }
        if isKilled { return nil }
        if run.status == 124 { return "it did not end" }
        if run.status > 128 { return "ended by a signal" }
        if run.status == 0 {
            if let name = untouched.keys.first(where: { after[$0] == nil }) { return "no \(name)" }
            if command.printsTheSame, run.output != output { return "it printed something else" }
            return nil
        }
        if !command.statuses.contains(run.status) { return "another status" }
        // The failing call may be the one that writes the message.
        if run.errorLines.isEmpty, count.failed != "write" { return "no message" }
        if let line = run.errorLines.first(where: { $0.contains("Fatal error") }) { return line }
        return nil
    }

    /// Runs a command in a copy of a folder. Returns the folder's files afterwards.
    private func run(
        _ command: FaultedCommand, _ template: TemporaryFolder, _ kind: FailingCalls.Failure, at number: Int
    ) throws -> (after: [String: [UInt8]], run: CommandRun, count: FailingCalls.Count) {
        let folder = try TemporaryFolder()
        try FileManager.default.removeItem(atPath: folder.path)
        try FileManager.default.copyItem(atPath: template.path, toPath: folder.path)
        let run = try CommandRun.run(
            "/usr/bin/timeout", ["-s", "KILL", "600", Programs.chunkwise] + command.arguments, in: folder.path,
            environment: try calls.environment(kind, at: number))
        return (Self.files(folder), run, calls.count)
    }

    /// The bytes of all files below a folder.
    private static func files(_ folder: TemporaryFolder) -> [String: [UInt8]] {
        let names = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        return Dictionary(uniqueKeysWithValues: names.compactMap { name in folder.bytes(name).map { (name, $0) } })
    }
}

extension FaultedCommand {
    private static let plain = Samples.bytes(300_000, seed: 11)
    private static let options = ["--key-file", "key", "--iv", Chunkwise.ivHex]

    private static func prepareKey(_ folder: TemporaryFolder) throws {
        try folder.file("key", Chunkwise.keyHex + "\n", isSecret: true)
        try folder.file("plain", plain)
    }

    private static func prepareEncrypted(_ folder: TemporaryFolder) throws {
        try prepareKey(folder)
        let run = try Chunkwise.convert("encrypt", folder, ["plain", "encrypted"])
        try #require(run.status == 0, "\(run.errorLines)")
    }

    private static func preparePlan(_ folder: TemporaryFolder) throws {
        try folder.file(
            "plan",
            """
            rounds: 1
            time: 1ms
            object-size: 64KiB
            cells:
            - {backend: openssl, window: [4KiB, 64KiB]}
            """)
    }

    private static func prepareRun(_ folder: TemporaryFolder) throws {
        try preparePlan(folder)
        let run = try Chunkwise.run(["sweep", "--plan", "plan", "--output", "run"], in: folder.path)
        try #require(run.status == 0, "\(run.errorLines)")
    }

    /// What a sweep left that was killed in the middle of a line.
    private static func prepareCutRun(_ folder: TemporaryFolder) throws {
        try prepareRun(folder)
        let bytes = try #require(folder.bytes("run/results.jsonl"))
        let ends = bytes.indices.filter { bytes[$0] == 0x0A }
        for name in folder.names(in: "run") { try folder.remove("run/" + name) }
        try folder.file("run/results.jsonl", Array(bytes[..<(ends[2] + 9)]))
    }

    /// Whether a file of a run's folder is whole, where figures differ each time.
    @Sendable private static func isWholeResult(_ name: String, _ bytes: [UInt8], _ untouched: [UInt8]?) -> Bool {
        guard untouched != nil else { return false }
        let text = String(decoding: bytes, as: UTF8.self)
        switch name.split(separator: ".").last {
        // A log grows line by line, and its last one may be cut.
        case "jsonl":
            return bytes.split(separator: 0x0A, omittingEmptySubsequences: false).dropLast().allSatisfy {
                JSONValue.parse(Array($0)) != nil
            }
        case "json": return JSONValue.parse(bytes) != nil
        case "html": return text.hasSuffix("</html>\n")
        case "svg": return text.hasSuffix("</svg>\n")
        case "xml": return text.hasSuffix("</testsuites>\n")
        default: return bytes.last == 0x0A
        }
    }

    static let all: [FaultedCommand] = [
        FaultedCommand(
            name: "encrypt", arguments: ["encrypt"] + options + ["plain", "encrypted"], prepare: prepareKey),
        FaultedCommand(
            name: "decrypt", arguments: ["decrypt"] + options + ["encrypted", "decrypted"], prepare: prepareEncrypted),
        FaultedCommand(
            name: "decrypt a range", arguments: ["decrypt"] + options + ["--range", "4099-99000", "encrypted", "-"],
            prepare: prepareEncrypted),
        FaultedCommand(
            name: "measure",
            arguments: [
                "measure", "--backend", "openssl", "--object-size", "64KiB", "--rounds", "1", "--milliseconds", "1",
            ],
            statuses: [1, 74], prepare: { _ in }, printsTheSame: false),
        FaultedCommand(
            name: "sweep", arguments: ["sweep", "--plan", "plan", "--output", "run"], statuses: [1, 74],
            prepare: preparePlan, isWhole: isWholeResult, printsTheSame: false),
        FaultedCommand(
            name: "sweep, going on", arguments: ["sweep", "--plan", "plan", "--output", "run"], statuses: [1, 74],
            prepare: prepareCutRun, isWhole: isWholeResult, printsTheSame: false),
        // 66: what cannot be looked at is no folder of results.
        FaultedCommand(name: "report", arguments: ["report", "run"], statuses: [66, 74], prepare: prepareRun),
        FaultedCommand(
            name: "report --compare", arguments: ["report", "--compare", "run", "run", "--output", "comparison"],
            statuses: [66, 74], prepare: prepareRun),
        FaultedCommand(
            name: "report --history", arguments: ["report", "--history", ".", "--output", "history"],
            statuses: [66, 74], prepare: prepareRun),
        FaultedCommand(
            name: "verify",
            arguments: ["verify", "--backend", "openssl", "--vectors", "vectors.json", "--evidence", "evidence"],
            statuses: [1, 74],
            prepare: { folder in
                try FileManager.default.copyItem(
                    atPath: Project.path("data/vectors/nist-ctr.json"), toPath: folder.path("vectors.json"))
            },
            isWhole: isWholeResult),
    ]
}
