import KeyTesting
import SubjectProtocol
import Support

extension ScenariosCommand {
    /// Puts scenarios to a session in another process.
    func verify(_ scenarios: [KeyScenario], subject: String) throws {
        let verdicts = try verdicts(scenarios, subject)
        let passed = verdicts.count { $0.verdict == .passed }
        let notRun = verdicts.count { $0.verdict == .notRun }
        var failures: [(String, String)] = []
        var unsupported: [(String, String)] = []
        for (name, verdict) in verdicts {
            if case .failed(let reason) = verdict { failures.append((name, reason)) }
            if case .unsupported(let reason) = verdict { unsupported.append((name, reason)) }
        }
        switch format {
        case .text:
            for (name, reason) in failures { print("\(name): \(reason)") }
            for (name, reason) in unsupported { print("\(name): unsupported: \(reason)") }
            print(
                "\(passed) of \(scenarios.count) scenarios passed, \(failures.count) failures, "
                    + "\(unsupported.count) unsupported, \(notRun) not run")
        case .json:
            let list = failures.map { JSONValue.object(["id": .string($0), "reason": .string($1)]) }
            let result: JSONValue = [
                "passed": .init(count: passed), "failed": .init(count: failures.count),
                "unsupported": .init(count: unsupported.count), "notRun": .init(count: notRun),
                "failures": .array(list),
            ]
            print(result.text)
        }
        guard failures.isEmpty else { throw KeysFailure(.no, "\(failures.count) failures: expected none") }
        guard passed > 0 else { throw KeysFailure(.noAnswer, "no scenario was run: expected at least one") }
    }

    /// Puts scenarios to a subject with each of our faults, by its option `--fault NAME`.
    func plant(_ scenarios: [KeyScenario], subject: String) throws {
        try report(
            try KeyMutant.allCases.map { mutant in
                let verdicts = try verdicts(scenarios, "\(subject) --fault \(mutant.rawValue)")
                guard !verdicts.contains(where: { $0.name == "bye" || $0.verdict == .notRun }) else {
                    throw KeysFailure(.noAnswer, "\(mutant.rawValue): the subject broke down: expected answers")
                }
                return (mutant, verdicts.filter { $0.verdict != .passed }.map(\.name))
            })
    }

    private func verdicts(
        _ scenarios: [KeyScenario], _ subject: String
    ) throws -> [(name: String, verdict: ExternalScenarios.Verdict)] {
        guard timeout > 0, timeout <= 3600 else {
            throw KeysFailure(.usage, "--timeout \(timeout): expected more than 0 and up to 3600 seconds")
        }
        do throws(SubjectError) {
            var foreign = ExternalScenarios(command: subject, deadline: .seconds(timeout))
            return try foreign.run(scenarios)
        } catch {
            switch error {
            case .notStarted: throw KeysFailure(.missingInput, "subject \"\(subject)\" \(error)")
            default: throw KeysFailure(.noAnswer, "subject \"\(subject)\": \(error)")
            }
        }
    }
}
