import ArgumentParser
import CommandOptions
import Measurement
import RandomAccess
import SubjectProtocol
import Support

/// `chunkwise verify --memory`: whether readers keep to their bounds.
enum MemoryVerification {
    /// Examines backends, or the foreign subjects that are asked for, and prints the verdicts.
    ///
    /// - Throws: `ExitCode` 1 if a check failed; `CommandFailure` if none was made.
    static func run(backends: [any CipherBackend], foreign: ExternalOptions, format: OutputFormat, color: ColorOptions)
        throws
    {
        Interruption.install(endsAtOnce: true)
        let subjects =
            foreign.isAsked
            ? foreign.subject.map { MemorySubject.foreign(command: $0) }
            : backends.map { MemorySubject.own(program: Program.subjectCommand, backend: $0) }
        let folder = try attempt { try RunFolder.temporary() }
        defer { folder.removeTemporary() }
        try attempt { try folder.create() }
        let timeout: Duration = foreign.isAsked ? .seconds(foreign.timeout) : .seconds(60)
        var outcomes: [MemoryOutcome] = []
        for subject in subjects {
            let exam = MemoryCheck(subject: subject, folder: folder.objectFolder, timeout: timeout)
            do throws(SubjectError) {
                outcomes.append(try exam.run { Terminal.showProgress("memory: \($0)") })
            } catch {
                throw CommandFailure(.missingInput, "subject \"\(subject.name)\": \(error): expected a command")
            }
        }
        Terminal.clearProgress()
        switch format {
        case .json: print(json(outcomes).text)
        case .text: color.show(text(outcomes))
        }
        if outcomes.contains(where: { $0.count(.failed) > 0 }) { throw ExitCode(CommandFailure.Code.no.rawValue) }
        guard outcomes.allSatisfy({ $0.count(.passed) > 0 }) else {
            throw CommandFailure(.noAnswer, "no memory was measured: expected at least one check of every subject")
        }
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
