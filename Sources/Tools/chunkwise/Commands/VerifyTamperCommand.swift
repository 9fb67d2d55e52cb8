import ArgumentParser
import Conformance
import Report
import Results
import Support
import Vectors

extension VerifyCommand {
    /// `chunkwise verify tamper`
    struct Tamper: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "tamper",
            abstract: "Shows which changes of a ciphertext a reader detects.",
            discussion: helpText(
                """
                Each change is shown with the read that detects it, and with the number of wrong bytes that the reader
                delivers before that. A reader fails if it detects less than the format's description demands.

                EXAMPLES
                  chunkwise verify tamper --backend openssl --only ctr
                  chunkwise verify tamper --subject 'python3 Examples/subjects/python_cryptography.py'
                  chunkwise verify tamper --strategy ./mine.yml --format json

                EXIT CODES
                  0 all as demanded; 1 something failed; 2 a subject executed nothing, or was given up
                """))

        @OptionGroup var tested: TestedSubjects
        @OptionGroup var formats: TestedFormats

        @Option(
            help: .taking("strategy", "Tamper only with this strategy, such as ctr. May be repeated."),
            completion: .strategies)
        var only: [String] = []

        @OptionGroup var threads: VerifyThreads
        @OptionGroup var output: VerifyOutputOptions

        func run() throws {
            try tested.check()
            let records = try TamperRunning.records(
                tested, formats: formats.formats(), only: only, threadCount: threads.count)
            output.show(TamperRecord.text(records), json: TamperRecord.json(records))
            try TamperRunning.requirePass(records)
        }
    }
}

/// The integrity matrix.
enum TamperRunning {
    /// The objects with the given names of strategies, or names with a distinguishing part. All objects if there are no
    /// names.
    private static func targets(_ formats: FormatVerification?, _ names: [String]) throws -> [TamperTarget] {
        let all = try formats?.tamperTargets() ?? TamperTarget.all
        for name in names where !all.contains(where: { $0.isCalled(name) }) {
            throw CommandFailure(
                .usage, "--only \(name): expected a strategy, such as \(all.map(\.label).joined(separator: ", "))")
        }
        return names.isEmpty ? all : all.filter { target in names.contains(where: target.isCalled) }
    }

    /// Tampers with the objects of all strategies, or of those in `only`, for the given subjects.
    static func records(
        _ tested: TestedSubjects, formats: FormatVerification? = nil, only: [String] = [], threadCount: Int
    ) throws -> [TamperRecord] {
        let targets = try targets(formats, only)
        Interruption.install()
        defer { Terminal.clearProgress() }
        let verification = TamperVerification(targets: targets, isInterrupted: { Interruption.wasRequested })
        let display = ProgressDisplay()
        guard tested.isAsked else {
            return verification.run(
                Backends.subjects(try tested.own.backends(all: formats != nil || only.isEmpty)),
                threadCount: threadCount
            ) { progress in
                display.show(progress.finished, of: progress.total, "rows", name: progress.subject)
            }
        }
        return try tested.commands.map { command in
            do throws(ExternalVerification.Failure) {
                return try verification.run(command: command, timeout: tested.answerTime) { finished, total in
                    display.show(finished, of: total, "rows", name: command)
                }
            } catch {
                throw TestedSubjects.failure(error, command)
            }
        }
    }

    /// Checks that the records are a pass.
    ///
    /// - Throws: `ExitCode` 1 if something failed; `CommandFailure` if a subject executed nothing.
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
    /// Returns whether this is the strategy's name, with or without its distinguishing part.
    fileprivate func isCalled(_ name: String) -> Bool {
        label == name || [":", ","].contains { label.hasPrefix(name + $0) }
    }
}
