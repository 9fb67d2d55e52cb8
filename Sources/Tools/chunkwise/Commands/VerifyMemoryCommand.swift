import ArgumentParser
import Conformance
import Measurement
import Report
import SubjectProtocol
import Support

extension VerifyCommand {
    /// `chunkwise verify memory`
    struct Memory: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "memory",
            abstract: "Checks that readers keep to their memory limits.",
            discussion: helpText(
                """
                A reader must keep to the limit that it declares, for objects of any size and for many files in a row.

                EXAMPLES
                  chunkwise verify memory --backend openssl
                  chunkwise verify memory --subject 'python3 Examples/subjects/python_cryptography.py'

                EXIT CODES
                  0 within the limits; 1 more memory than declared; 2 no memory was measured
                """))

        @OptionGroup var tested: TestedSubjects
        @OptionGroup var output: VerifyOutputOptions

        func run() throws {
            try tested.check()
            let backends = try tested.own.backends()
            Interruption.install(endsAtOnce: true)
            let subjects =
                tested.isAsked
                ? tested.commands.map { MemorySubject.external(command: $0) }
                : backends.map { MemorySubject.own(program: Program.subjectCommand(), backend: $0) }
            let folder = try attempt { try RunFolder.temporary() }
            defer { folder.removeTemporary() }
            try attempt { try folder.createObjects() }
            let timeout: Duration = tested.isAsked ? tested.answerTime : .seconds(60)
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
            output.show(Self.text(outcomes), json: Self.json(outcomes))
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
            func counts(_ outcomes: [MemoryOutcome]) -> [String: Int] {
                Dictionary(
                    uniqueKeysWithValues: [MemoryOutcome.Verdict.passed, .failed, .notRun].map { verdict in
                        (verdict.rawValue, outcomes.reduce(0) { $0 + $1.count(verdict) })
                    })
            }
            let subjects = outcomes.map { outcome in
                let checks = JSONValue(encoding: outcome.checks, nullable: .all)
                return JSONValue(encoding: counts([outcome]), adding: ["name": outcome.subject, "checks": checks])
            }
            return JSONValue(encoding: counts(outcomes), adding: ["subjects": subjects])
        }
    }
}
