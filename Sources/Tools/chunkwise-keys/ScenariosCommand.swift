import ArgumentParser
import Foundation
import KeyTesting
import Support

/// Puts scenarios to the session, or to sessions with planted faults.
struct ScenariosCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scenarios", abstract: "Run scripts against the key session, in their own time.")

    @Argument(help: "Scenario files, as data/schemas/scenarios.json has them.")
    var files: [String]

    @Flag(help: "Put them to sessions with one planted fault each, every one of which some scenario must notice.")
    var mutants = false

    @Option(help: "A command that speaks the protocol of data/scenarios/PROTOCOL.md, in place of our session.")
    var subject: String?

    @Option(help: "How many seconds an answer of the subject may take.")
    var timeout = 5.0

    @Option(help: "How the result is printed: text or json.")
    var format = OutputFormat.text

    func run() throws {
        let scenarios = try files.sorted().map(Self.load)
        switch (subject, mutants) {
        case (let subject?, true): try plant(scenarios, subject: subject)
        case (let subject?, false): try verify(scenarios, subject: subject)
        case (nil, true): try plant(scenarios)
        case (nil, false): try verify(scenarios)
        }
    }

    private static func load(_ file: String) throws -> KeyScenario {
        guard let data = FileManager.default.contents(atPath: file) else {
            throw KeysFailure(.missingInput, "scenario \(file) cannot be read: expected a file that exists")
        }
        do {
            return try KeyScenario(JSONValue.parse(Array(data)), file: file)
        } catch {
            throw KeysFailure(.badData, "\(error)")
        }
    }

    private func verify(_ scenarios: [KeyScenario]) throws {
        let differences = scenarios.compactMap { scenario in
            ScenarioRun.run(scenario).difference(from: scenario).map { (scenario.name, $0) }
        }
        switch format {
        case .text:
            for (name, difference) in differences { print("\(name): \(difference)") }
            print("\(scenarios.count - differences.count) of \(scenarios.count) scenarios passed")
        case .json:
            let failures = differences.map { JSONValue.object(["id": .string($0), "reason": .string($1)]) }
            let result: JSONValue = [
                "passed": JSONValue(count: scenarios.count - differences.count),
                "failed": JSONValue(count: differences.count), "failures": .array(failures),
            ]
            print(result.text)
        }
        if !differences.isEmpty { throw KeysFailure(.no, "\(differences.count) scenarios failed: expected none") }
    }

    private func plant(_ scenarios: [KeyScenario]) throws {
        try report(
            KeyMutant.allCases.map { mutant in
                let names = scenarios.filter { scenario in
                    var session = MutantSession(mutant, scenario: scenario)
                    return ScenarioRun(scenario, &session).difference(from: scenario) != nil
                }
                return (mutant, names.map(\.name))
            })
    }

    /// Says which faults were noticed, and by which scenarios.
    func report(_ killers: [(KeyMutant, [String])]) throws {
        let survivors = killers.filter { $0.1.isEmpty }.map { $0.0.rawValue }
        switch format {
        case .text:
            for (mutant, names) in killers {
                print("\(mutant.rawValue): " + (names.isEmpty ? "survived" : names.joined(separator: " ")))
            }
            print("\(killers.count - survivors.count) of \(killers.count) faults noticed")
        case .json:
            let list = killers.map { mutant, names in
                JSONValue.object(["name": .string(mutant.rawValue), "killedBy": JSONValue(strings: names)])
            }
            let result: JSONValue = [
                "planted": JSONValue(count: killers.count),
                "killed": JSONValue(count: killers.count - survivors.count),
                "survivors": JSONValue(strings: survivors), "mutants": .array(list),
            ]
            print(result.text)
        }
        if !survivors.isEmpty { throw KeysFailure(.no, "\(survivors.count) faults survived: expected none") }
    }
}

/// How results are printed.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable {
    /// Lines to read.
    case text
    /// One object.
    case json
}
