import ArgumentParser
import CommandOptions
import Conformance
import RandomAccess
import Report
import Results
import Vectors

/// `chunkwise verify --tamper`: the integrity matrix.
enum TamperRunning {
    /// Tampers with ciphertexts, and prints what was noticed.
    ///
    /// - Throws: `ExitCode` 1 if something failed; `CommandFailure` if nothing was executed.
    static func run(
        backends: [any CipherBackend], foreign: ExternalOptions, only: [String], threadCount: Int,
        format: OutputFormat, color: ColorOptions
    ) throws {
        let records = try records(backends: backends, foreign: foreign, only: only, threadCount: threadCount)
        switch format {
        case .json: print(TamperRecord.json(records).text)
        case .text: color.show(TamperRecord.text(records))
        }
        try requirePass(records)
    }

    /// The objects of strategies by their names, or by their names with what tells them from others; all for no names.
    private static func targets(_ names: [String]) throws -> [TamperTarget] {
        let all = TamperTarget.all
        for name in names where !all.contains(where: { $0.isCalled(name) }) {
            throw CommandFailure(
                .usage, "--only \(name): expected a strategy, such as \(all.map(\.label).joined(separator: ", "))")
        }
        return names.isEmpty ? all : all.filter { target in names.contains(where: target.isCalled) }
    }

    /// Puts the subjects that are asked for to all of it, or to some strategies.
    static func records(
        backends: [any CipherBackend], foreign: ExternalOptions, only: [String] = [], threadCount: Int
    ) throws -> [TamperRecord] {
        let targets = try targets(only)
        Interruption.install()
        defer { Terminal.clearProgress() }
        let verification = TamperVerification(targets: targets, isInterrupted: { Interruption.wasRequested })
        let display = ProgressDisplay()
        guard foreign.isAsked else {
            return verification.run(
                Backends.subjects(backends), threadCount: threadCount
            ) { progress in
                display.show(progress.finished, of: progress.total, "rows", name: progress.subject)
            }
        }
        return try foreign.subject.map { command in
            do throws(ExternalVerification.Failure) {
                return try verification.run(command: command, timeout: .seconds(foreign.timeout)) { finished, total in
                    display.show(finished, of: total, "rows", name: command)
                }
            } catch {
                throw ExternalOptions.failure(error, command)
            }
        }
    }

    /// Says whether the records are a pass.
    ///
    /// - Throws: `ExitCode` 1 if something failed; `CommandFailure` if nothing was executed, by any of the subjects.
    static func requirePass(_ records: [TamperRecord]) throws {
        if records.contains(where: { $0.failed > 0 }) { throw ExitCode(CommandFailure.Code.no.rawValue) }
        if Interruption.wasRequested { throw CommandFailure(.noAnswer, "stopped before the end") }
        if let silent = records.first(where: { $0.executed == 0 }) {
            throw CommandFailure(
                .noAnswer, "\(silent.subject) executed no tampering: expected at least one that it supports")
        }
        if let broken = records.first(where: { $0.rows.contains { $0.state == .notRun } }) {
            throw CommandFailure(
                .noAnswer, "\(broken.subject) was given up before the end: expected answers to everything")
        }
    }
}

extension TamperTarget {
    /// Whether this is the strategy's name, with or without what tells it from others.
    fileprivate func isCalled(_ name: String) -> Bool { label == name || label.hasPrefix(name + " ") }
}
