import ArgumentParser
import BackendRegistry
import Conformance
import Measurement
import RandomAccess
import Report
import Results
import SubjectProtocol
import Support
import Vectors

/// `chunkwise verify --mutants`: the mutation test of the vectors.
enum MutantVerification {
    /// Runs the kill matrix and prints it.
    ///
    /// - Throws: `ExitCode` 1 unless the vectors with its own flag kill every mutant.
    static func run(
        backend: any CipherBackend, formats: FormatVerification? = nil, threadCount: Int, format: OutputFormat,
        color: ColorOptions
    ) throws {
        let (matrix, choice): (KillMatrix, ChoiceMatrix?)
        if let formats {
            matrix = self.matrix(
                formats.mutants, backend: backend, groups: try formats.chosenGroups(), threadCount: threadCount)
            choice = self.choice(
                formats.mutants, backend: backend, groups: try formats.groups(), threadCount: threadCount)
        } else {
            matrix = self.matrix(
                backend: backend, published: try DefaultVectors.publishedGroups(), threadCount: threadCount)
            choice = self.choice(backend: backend, threadCount: threadCount)
        }
        switch format {
        case .json: print(json(matrix, choice).text)
        case .text: color.show(text(matrix, choice))
        }
        try requireComplete(matrix, choice)
    }

    /// Checks that every mutant was killed by its own class of vectors, and by the selection that programs get.
    ///
    /// - Throws: `ExitCode` 1 otherwise.
    private static func requireComplete(_ matrix: KillMatrix, _ choice: ChoiceMatrix?) throws {
        guard matrix.isComplete, choice?.survivors.isEmpty == true else {
            throw ExitCode(CommandFailure.Code.no.rawValue)
        }
    }

    /// Runs the selection of vectors that programs get on the mutants. Returns `nil` if the user stopped it.
    private static func choice(
        _ mutants: [Mutant] = Mutant.all, backend: any CipherBackend, groups: [VectorGroup] = VectorSet.standard(),
        threadCount: Int
    ) -> ChoiceMatrix? {
        Terminal.showProgress("injected faults in programs")
        defer { Terminal.clearProgress() }
        return ChoiceMatrix.run(
            mutants, over: backend, groups: groups, threadCount: threadCount,
            shouldStop: { Interruption.wasRequested })
    }

    /// Runs the kill matrix over a plug-in or a provider, which is loaded into this process.
    ///
    /// - Throws: The errors of `run(backend:)`, and of loading.
    static func run(loading name: String, threadCount: Int, format: OutputFormat) throws {
        // Keeps the library's own output out of the result.
        let output = PipeEnd.standard(besideForeignCode: true)
        let backend = try attempt { try BackendRegistry.foreignBackend(named: name, isGuarded: false) }
        let matrix = matrix(
            backend: backend, published: try DefaultVectors.publishedGroups(), threadCount: threadCount)
        let choice = choice(backend: backend, threadCount: threadCount)
        output.writeAll((format == .json ? json(matrix, choice).text : text(matrix, choice)) + "\n")
        try requireComplete(matrix, choice)
    }

    /// Runs the kill matrix over a plug-in or a provider in another process, and prints that process's output.
    ///
    /// - Throws: The errors of `run(backend:)`; `CommandFailure` if the process does not end by itself.
    static func run(hosting name: String, threadCount: Int, format: OutputFormat, color: ColorOptions) throws {
        Interruption.install()
        Terminal.showProgress("verify: injected faults over \(name)")
        let captured = try attempt(name) {
            try CapturedCommand(
                [Program.path, "verify", "--mutants", "--hosted", "--backend", name, "--threads", "\(threadCount)"]
                    + ["--format", format.rawValue], isInterrupted: { Interruption.wasRequested })
        }
        Terminal.clearProgress()
        try require(!Interruption.wasRequested, .noAnswer, "stopped before the end")
        let codes = [0, CommandFailure.Code.no.rawValue].map { $0 << 8 }
        // A library may end the process, even with status 0.
        guard codes.contains(captured.status), !captured.output.isEmpty else {
            let reason = SubjectError.died(status: captured.status, log: captured.log)
            throw CommandFailure(.no, "\(name) with injected faults: \(reason): expected it to answer to the end")
        }
        let text = String(decoding: captured.output.dropLast(), as: UTF8.self)
        switch format {
        case .json: print(text)
        case .text: color.show(text)
        }
        guard captured.status == 0 else { throw ExitCode(CommandFailure.Code.no.rawValue) }
    }

    /// Runs the kill matrix, and returns its record for a result file; `nil` if the user stopped it.
    static func record(
        backend: any CipherBackend, published: [VectorGroup], threadCount: Int
    ) -> MutantsRecord? {
        let matrix = matrix(backend: backend, published: published, threadCount: threadCount)
        guard matrix.isFinished else { return nil }
        return MutantsRecord(
            backend: backend.name, outcomes: matrix.outcomes.map(\.evidence),
            controls: matrix.controls.map { .init(name: $0.subject, passed: $0.passed, failed: $0.failed) })
    }

    /// Runs the kill matrix. It ends early if the user stops it.
    static func matrix(backend: any CipherBackend, published: [VectorGroup], threadCount: Int) -> KillMatrix {
        matrix(backend: backend, groups: published + VectorSet.mutation(), threadCount: threadCount)
    }

    private static func matrix(
        _ mutants: [Mutant] = Mutant.all, backend: any CipherBackend, groups: [VectorGroup], threadCount: Int
    ) -> KillMatrix {
        let display = ProgressDisplay()
        let matrix = KillMatrix.run(
            mutants, over: backend, groups: groups, threadCount: threadCount,
            shouldStop: { Interruption.wasRequested }
        ) { done, total in
            display.show(done, of: total, "parts", name: "injected faults")
        }
        Terminal.clearProgress()
        return matrix
    }

    private static func text(_ matrix: KillMatrix, _ choice: ChoiceMatrix?) -> String {
        let rows = matrix.outcomes.map { outcome in
            let others = outcome.killedBy.filter { $0 != outcome.mutant.flag }.map(\.rawValue)
            return [
                outcome.isKilledByItsFlag ? "killed" : "SURVIVED", outcome.mutant.name, outcome.mutant.flag.rawValue,
                others.isEmpty ? "-" : others.joined(separator: " "),
            ]
        }
        var lines = [table([["", "mutant", "its flag", "other flags that noticed"]] + rows), ""]
        for outcome in matrix.survivors {
            lines.append(
                "SURVIVED \(outcome.mutant.name): \(outcome.mutant.summary) Expected \(outcome.mutant.flag.rawValue) "
                    + "to notice (\(outcome.mutant.source))")
        }
        for control in matrix.controls where control.failed > 0 || control.passed == 0 {
            let reason = control.failures.first.map { "\($0.id): \($0.reason)" } ?? "nothing passed"
            lines.append("FAILED \(control.subject), which has no fault: \(reason)")
        }
        let killed = matrix.outcomes.count - matrix.survivors.count
        lines.append("\(killed) of \(matrix.outcomes.count) injected faults were killed by their own flag")
        for outcome in choice?.survivors ?? [] {
            lines.append(
                "SURVIVED the choice \(outcome.mutant.name): \(outcome.mutant.summary) \(outcome.failedCount) vectors "
                    + "noticed: expected \(ChoiceMatrix.minCount) at least")
        }
        if let choice {
            lines.append(
                "\(choice.outcomes.count - choice.survivors.count) of \(choice.outcomes.count) that a program can have "
                    + "were noticed by \(ChoiceMatrix.minCount) vectors at least of the choice that programs get")
        }
        return lines.joined(separator: "\n")
    }

    private static func json(_ matrix: KillMatrix, _ choice: ChoiceMatrix?) -> JSONValue {
        let mutants = matrix.outcomes.map { outcome -> JSONValue in
            let failure = outcome.record.failures.first { $0.flags.contains(outcome.mutant.flag.rawValue) }
            return [
                "name": .string(outcome.mutant.name), "flag": .string(outcome.mutant.flag.rawValue),
                "killedBy": JSONValue(strings: outcome.killedBy.map(\.rawValue)),
                "summary": .string(outcome.mutant.summary), "source": .string(outcome.mutant.source),
                "vector": JSONValue(failure?.id), "reason": JSONValue(failure?.reason),
            ]
        }
        let controls = matrix.controls.map { record -> JSONValue in
            [
                "name": .string(record.subject), "passed": JSONValue(count: record.passed),
                "failed": JSONValue(count: record.failed),
            ]
        }
        return [
            "planted": JSONValue(count: matrix.outcomes.count),
            "killed": JSONValue(count: matrix.outcomes.count - matrix.survivors.count),
            "survivors": JSONValue(strings: matrix.survivors.map(\.mutant.name)),
            "choiceSurvivors": choice.map { JSONValue(strings: $0.survivors.map(\.mutant.name)) } ?? .null,
            "mutants": .array(mutants), "controls": .array(controls),
        ]
    }
}

extension MutantOutcome {
    /// The outcome for the evidence.
    var evidence: Evidence.MutantOutcome {
        Evidence.MutantOutcome(name: mutant.name, flag: mutant.flag.rawValue, killedBy: killedBy.map(\.rawValue))
    }
}

/// `chunkwise verify --tamper`: the integrity matrix.
enum TamperRunning {
    /// Tampers with ciphertexts, and prints which changes the readers detected.
    ///
    /// - Throws: `ExitCode` 1 if something failed; `CommandFailure` if nothing was executed.
    static func run(
        backends: [any CipherBackend], external: ExternalOptions, formats: FormatVerification?, only: [String],
        threadCount: Int, format: OutputFormat, color: ColorOptions
    ) throws {
        let records = try records(
            backends: backends, external: external, formats: formats, only: only, threadCount: threadCount)
        switch format {
        case .json: print(TamperRecord.json(records).text)
        case .text: color.show(TamperRecord.text(records))
        }
        try requirePass(records)
    }

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
        backends: [any CipherBackend], external: ExternalOptions, formats: FormatVerification? = nil,
        only: [String] = [], threadCount: Int
    ) throws -> [TamperRecord] {
        let targets = try targets(formats, only)
        Interruption.install()
        defer { Terminal.clearProgress() }
        let verification = TamperVerification(targets: targets, isInterrupted: { Interruption.wasRequested })
        let display = ProgressDisplay()
        guard external.isAsked else {
            return verification.run(
                Backends.subjects(backends), threadCount: threadCount
            ) { progress in
                display.show(progress.finished, of: progress.total, "rows", name: progress.subject)
            }
        }
        return try external.commands.map { command in
            do throws(ExternalVerification.Failure) {
                return try verification.run(command: command, timeout: external.answerTime) { finished, total in
                    display.show(finished, of: total, "rows", name: command)
                }
            } catch {
                throw ExternalOptions.failure(error, command)
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
    fileprivate func isCalled(_ name: String) -> Bool { label == name || label.hasPrefix(name + ":") }
}

/// `chunkwise verify --memory`: the check that readers keep their memory limits.
enum MemoryVerification {
    /// Checks backends, or the external subjects that the user names, and prints the verdicts.
    ///
    /// - Throws: `ExitCode` 1 if a check failed; `CommandFailure` if no check was made.
    static func run(backends: [any CipherBackend], external: ExternalOptions, format: OutputFormat, color: ColorOptions)
        throws
    {
        Interruption.install(endsAtOnce: true)
        let subjects =
            external.isAsked
            ? external.commands.map { MemorySubject.external(command: $0) }
            : backends.map { MemorySubject.own(program: Program.subjectCommand(), backend: $0) }
        let folder = try attempt { try RunFolder.temporary() }
        defer { folder.removeTemporary() }
        try attempt { try folder.createObjects() }
        let timeout: Duration = external.isAsked ? external.answerTime : .seconds(60)
        var outcomes: [MemoryOutcome] = []
        for subject in subjects {
            let check = MemoryCheck(subject: subject, folder: folder.objectFolder, timeout: timeout)
            do throws(SubjectError) {
                outcomes.append(try check.run { Terminal.showProgress("memory: \($0)") })
            } catch {
                throw CommandFailure(.init(error), "subject \"\(subject.name)\": \(error): expected a command")
            }
        }
        Terminal.clearProgress()
        switch format {
        case .json: print(json(outcomes).text)
        case .text: color.show(text(outcomes))
        }
        if outcomes.contains(where: { $0.count(.failed) > 0 }) { throw ExitCode(CommandFailure.Code.no.rawValue) }
        try require(
            outcomes.allSatisfy({ $0.count(.passed) > 0 }), .noAnswer,
            "no memory was measured: expected at least one check of every subject")
    }

    private static func text(_ outcomes: [MemoryOutcome]) -> String {
        var rows = [["subject", "check", "", "measured"]]
        for outcome in outcomes {
            for check in outcome.checks {
                rows.append([outcome.subject, check.name, word(check.verdict), check.reason])
            }
        }
        return table(rows)
    }

    private static func word(_ verdict: MemoryOutcome.Verdict) -> String {
        switch verdict {
        case .passed: "passed"
        case .failed: "FAILED"
        case .notRun: "not run"
        }
    }

    private static func json(_ outcomes: [MemoryOutcome]) -> JSONValue {
        func counts(_ outcomes: [MemoryOutcome]) -> [String: JSONValue] {
            Dictionary(
                uniqueKeysWithValues: [MemoryOutcome.Verdict.passed, .failed, .notRun].map { verdict in
                    (verdict.rawValue, JSONValue(count: outcomes.reduce(0) { $0 + $1.count(verdict) }))
                })
        }
        let subjects = outcomes.map { outcome -> JSONValue in
            let checks = outcome.checks.map { check -> JSONValue in
                [
                    "name": .string(check.name), "verdict": .string(check.verdict.rawValue),
                    "byteCount": JSONValue(check.byteCount), "limitByteCount": JSONValue(check.limitByteCount),
                    "reason": .string(check.reason),
                ]
            }
            return .object(
                counts([outcome]).merging(["name": .string(outcome.subject), "checks": .array(checks)]) { $1 })
        }
        return .object(counts(outcomes).merging(["subjects": .array(subjects)]) { $1 })
    }
}
