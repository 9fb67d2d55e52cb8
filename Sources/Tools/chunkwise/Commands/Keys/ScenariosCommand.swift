import ArgumentParser
import ByteSources
import KeyTesting
import SubjectProtocol
import Support
import SystemPackage

/// Runs scenarios on the session, or on sessions with injected faults.
struct ScenariosCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scenarios", abstract: "Runs scripted events against the key session, in simulated time.",
        discussion: helpText(
            """
            EXAMPLES
              chunkwise keys scenarios data/scenarios/*.json
              chunkwise keys scenarios --mutants data/scenarios/*.json
              chunkwise keys scenarios --subject 'chunkwise keys subject' data/scenarios/*.json

            EXIT CODES
              0 all passed; 1 a scenario failed, or an injected fault survived; 2 no scenario was run, or the subject
              broke down; 64 usage; 65 a file is not a scenario; 66 a file is missing, or the subject does not start
            """))

    @Argument(help: "Scenario files, with the schema data/schemas/scenarios.json.")
    var files: [String]

    @Flag(help: "Test the scenarios: every session with an injected fault must fail one.")
    var mutants = false

    @Option(help: "Test this command, which speaks the protocol of data/scenarios/PROTOCOL.md, instead of our session.")
    var subject: String?

    @Option(
        help: .taking(
            "time", "The timeout for each reply of the subject: seconds, or a time such as 500ms. (default: 5s)"),
        transform: Duration.argument(.seconds, 0.001...3600))
    var timeout = Duration.seconds(5)

    @OptionGroup var output: FormatOptions

    func run() throws {
        let scenarios = try files.sorted().map(Self.load)
        switch (subject, mutants) {
        case (let subject?, true): try injectFaults(scenarios, subject: subject)
        case (let subject?, false): try verify(scenarios, subject: subject)
        case (nil, true): try injectFaults(scenarios)
        case (nil, false): try verify(scenarios)
        }
    }

    private static func load(_ file: String) throws -> KeyScenario {
        let bytes = try attemptInput { try FileDescriptor.contents(of: FilePath(file)) }
        return try attempt { try KeyScenario(JSONValue.parse(bytes), file: file) }
    }

    private func verify(_ scenarios: [KeyScenario]) throws {
        let differences = scenarios.compactMap { scenario in
            ScenarioRun.run(scenario).difference(from: scenario).map { (scenario.name, $0) }
        }
        let lines = differences.map { PlainText.line("\($0): \($1)") }
        let passed = scenarios.count - differences.count
        output.show(
            (lines + ["\(passed) of \(scenarios.count) scenarios passed"]).joined(separator: "\n"),
            json: JSONValue(members: [
                "passed": passed, "failed": differences.count,
                "failures": differences.map { ["id": $0, "reason": $1] },
            ]))
        if !differences.isEmpty { throw CommandFailure(.no, "\(differences.count) scenarios failed: expected none") }
    }

    private func injectFaults(_ scenarios: [KeyScenario]) throws {
        try report(
            KeyMutant.allCases.map { mutant in
                let names = scenarios.filter { scenario in
                    var session = MutantSession(mutant, scenario: scenario)
                    return ScenarioRun(scenario, &session).difference(from: scenario) != nil
                }
                return (mutant, names.map(\.name))
            })
    }

    /// Prints the scenarios that noticed each fault.
    ///
    /// - Throws: `CommandFailure` if a fault survived.
    func report(_ killers: [(KeyMutant, [String])]) throws {
        let survivors = killers.filter { $0.1.isEmpty }.map { $0.0.rawValue }
        let killed = killers.count - survivors.count
        let lines = killers.map { mutant, names in
            "\(mutant.rawValue): " + (names.isEmpty ? "survived" : names.joined(separator: " "))
        }
        output.show(
            (lines + ["\(killed) of \(killers.count) faults noticed"]).joined(separator: "\n"),
            json: JSONValue(members: [
                "injected": killers.count, "killed": killed, "survivors": survivors,
                "mutants": killers.map { JSONValue(members: ["name": $0.rawValue, "killedBy": $1]) },
            ]))
        if !survivors.isEmpty { throw CommandFailure(.no, "\(survivors.count) faults survived: expected none") }
    }
}

extension ScenariosCommand {
    /// Runs scenarios on a session in another process.
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
        let lines =
            failures.map { PlainText.line("\($0): \($1)") }
            + unsupported.map { PlainText.line("\($0): unsupported: \($1)") }
        let counts =
            "\(passed) of \(scenarios.count) scenarios passed, \(failures.count) failures, \(unsupported.count) "
            + "unsupported, \(notRun) not run"
        output.show(
            (lines + [counts]).joined(separator: "\n"),
            json: JSONValue(members: [
                "passed": passed, "failed": failures.count, "unsupported": unsupported.count, "notRun": notRun,
                "failures": failures.map { ["id": $0, "reason": $1] },
            ]))
        try require(failures.isEmpty, .no, "\(failures.count) failures: expected none")
        try require(passed > 0, .noAnswer, "no scenario was run: expected at least one")
    }

    /// Runs scenarios on a subject with each of our faults, which its option `--fault NAME` injects.
    func injectFaults(_ scenarios: [KeyScenario], subject: String) throws {
        try report(
            try KeyMutant.allCases.map { mutant in
                let verdicts = try verdicts(scenarios, "\(subject) --fault \(mutant.rawValue)")
                try require(
                    !verdicts.contains(where: { $0.name == "bye" || $0.verdict == .notRun }), .noAnswer,
                    "\(mutant.rawValue): the subject broke down: expected answers")
                return (mutant, verdicts.filter { $0.verdict != .passed }.map(\.name))
            })
    }

    private func verdicts(
        _ scenarios: [KeyScenario], _ subject: String
    ) throws -> [(name: String, verdict: ExternalScenarios.Verdict)] {
        try attempt("subject \"\(subject)\"") {
            var external = ExternalScenarios(command: subject, deadline: timeout)
            return try external.run(scenarios)
        }
    }
}

/// `chunkwise keys subject`
struct KeySubjectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "subject", abstract: "Speaks the protocol of data/scenarios/PROTOCOL.md over the key session.",
        discussion: helpText(
            """
            EXAMPLES
              chunkwise keys scenarios --subject 'chunkwise keys subject' data/scenarios/*.json
              chunkwise keys scenarios --mutants --subject 'chunkwise keys subject' data/scenarios/*.json

            EXIT CODES
              0 the harness said goodbye, or closed the pipe; 64 usage
            """))

    @Option(help: "The fault to inject; chunkwise keys scenarios --mutants lists them.")
    var fault: KeyMutant?

    func run() {
        var subject = KeySubject(fault: fault)
        subject.run(PipeEnd(input: 0, output: 1))
    }
}

extension KeyMutant: ExpressibleByArgument {}
