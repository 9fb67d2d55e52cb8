import Foundation
import TestSupport
import Testing

/// After SQLite's tests: the N-th call that touches a file or a pipe fails, for N = 1 and on, until a run is through
/// without meeting its failure. Never may a program be ended by a signal or wait for ever; never may a file stand under
/// its name that is not whole; what it says must be so; and the same command, run again, must come to its end.
@Suite("calls that fail", .enabled(if: FailingCalls.compiler != nil))
struct FailingCallTests {
    private let calls: FailingCalls

    init() throws {
        calls = try FailingCalls()
    }

    /// The maximum number of runs of a command, if `CHUNKWISE_FAULT_RUNS` gives one.
    private static let given = ProcessInfo.processInfo.environment["CHUNKWISE_FAULT_RUNS"].flatMap { Int($0) }

    /// The calls that fail, out of `count`: all of them, or more at the start and the end than between, where a
    /// measurement reads the same file thousands of times.
    private static func calls(of count: Int, cost: Int) -> [Int] {
        let share = max(1, (given ?? 30) / cost / FailingCalls.Failure.allCases.count)
        guard count > share else { return Array(1...count) }
        let numbers = (0..<share).map { index in
            let part = (Double(index) + 0.5) / Double(share)
            let eased = part < 0.5 ? 4 * part * part * part : 1 - 4 * (1 - part) * (1 - part) * (1 - part)
            return 1 + Int(eased * Double(count - 1))
        }
        return Set(numbers).sorted()
    }

    @Test(
        "an error by its name, or the same result; nothing in between",
        arguments: (FaultedCommand.all + FaultedCommand.servers).filter { !$0.isLong || given != nil })
    func fails(command: FaultedCommand) throws {
        let template = try TemporaryFolder()
        try command.prepare(template)
        let before = Self.files(template)
        let (untouched, first, count) = try self.run(command, template, .inputOutput, at: 0)
        #expect(command.untouched.contains(first.run.status), "\(command.name): \(first.run.errorLines)")
        #expect(first.mismatch == nil, "\(command.name): \(first.mismatch ?? "")")
        #expect(count.calls > 4)
        var (runs, failed, repeated) = (0, 0, 0)
        for number in Self.calls(of: count.calls, cost: command.cost) {
            for kind in FailingCalls.Failure.allCases {
                let folder = try Self.copy(template)
                let (after, faulted, count) = try self.run(command, in: folder, kind, at: number)
                runs += 1
                failed += count.failed == nil ? 0 : 1
                var mismatch = self.mismatch(
                    command, faulted.run, kind, count, before: before, after: after, untouched: untouched,
                    output: first.run.output)
                // What was sent before a kill is as right as anything.
                mismatch = mismatch ?? faulted.mismatch
                if mismatch == nil, kind == .kill || Self.given != nil, count.failed != nil {
                    repeated += 1
                    mismatch = try again(command, folder, kind, after: after, untouched: untouched)
                }
                #expect(
                    mismatch == nil,
                    """
                    \(command.name), call \(number) (\(count.failed ?? "none")), \(kind.rawValue): \(mismatch ?? "") → \
                    \(faulted.run.status) \(faulted.run.errorLines)
                    """)
            }
        }
        #expect(failed > 0)
        print(
            "failing calls: \(command.name): \(count.calls) calls, \(runs) runs, \(failed) with a failure, "
                + "\(repeated) repeated without")
    }

    /// Runs a command again, without failures, where one left it; returns what is wrong then, or `nil`.
    private func again(
        _ command: FaultedCommand, _ folder: TemporaryFolder, _ kind: FailingCalls.Failure,
        after: [String: [UInt8]], untouched: [String: [UInt8]]
    ) throws -> String? {
        let outcome = try command.outcome(in: folder, environment: [:])
        if let mismatch = outcome.mismatch { return "again: \(mismatch)" }
        if !command.untouched.contains(outcome.run.status) {
            return "again: status \(outcome.run.status) \(outcome.run.errorLines)"
        }
        let files = Self.files(folder)
        for (name, bytes) in untouched where files[name] != bytes && !Self.isOfItsRun(name) {
            guard let found = files[name], command.isWhole(name, found, bytes) else {
                return "again: \(name) is not whole"
            }
        }
        return command.goesOn(kind, after, files, untouched).map { "again: \($0)" }
    }

    /// Tells if another run may lack a file: some pictures are drawn where there are figures for them, and stored keys
    /// are numbered by how often they were.
    private static func isOfItsRun(_ name: String) -> Bool { name.hasSuffix(".svg") || name.hasPrefix("stored/") }

    /// The fault of a run whose call failed, or `nil`.
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
        if command.untouched.contains(run.status) {
            if let name = untouched.keys.first(where: { after[$0] == nil && !Self.isOfItsRun($0) }) {
                return "no \(name)"
            }
            if command.printsTheSame, run.output != output { return "it printed something else" }
            return nil
        }
        if kind == .clock, !command.knowsClock { return "the clock is no reason" }
        if !command.statuses.contains(run.status) { return "another status" }
        // The failing call may be the one that writes the message.
        if run.errorLines.isEmpty, count.failed != "write" { return "no message" }
        if let line = run.errorLines.first(where: { $0.contains("Fatal error") }) { return line }
        return nil
    }

    /// Runs a command in a copy of a folder. Returns the folder's files afterwards.
    private func run(
        _ command: FaultedCommand, _ template: TemporaryFolder, _ kind: FailingCalls.Failure, at number: Int
    ) throws -> (after: [String: [UInt8]], outcome: FaultedCommand.Outcome, count: FailingCalls.Count) {
        try run(command, in: Self.copy(template), kind, at: number)
    }

    private func run(
        _ command: FaultedCommand, in folder: TemporaryFolder, _ kind: FailingCalls.Failure, at number: Int
    ) throws -> (after: [String: [UInt8]], outcome: FaultedCommand.Outcome, count: FailingCalls.Count) {
        let environment = try calls.environment(kind, at: number, onFiles: command.isServer)
        let outcome = try command.outcome(in: folder, environment: environment)
        return (Self.files(folder), outcome, calls.count)
    }

    private static func copy(_ template: TemporaryFolder) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try FileManager.default.removeItem(atPath: folder.path)
        try FileManager.default.copyItem(atPath: template.path, toPath: folder.path)
        return folder
    }

    /// The bytes of all files below a folder.
    private static func files(_ folder: TemporaryFolder) -> [String: [UInt8]] {
        let names = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        return Dictionary(uniqueKeysWithValues: names.compactMap { name in folder.bytes(name).map { (name, $0) } })
    }
}
