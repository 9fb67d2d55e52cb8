import Foundation
import KeyTesting
import Keys
import Support
import Testing

/// The scenarios of data/scenarios.
private func loadScenarios() throws -> [KeyScenario] {
    let folder = URL(filePath: #filePath).appending(path: "../../../data/scenarios").standardized
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".json") }
    return try files.sorted().map { file in
        try KeyScenario(JSONValue.parse(Array(Data(contentsOf: folder.appending(path: file)))), file: file)
    }
}

@Suite("scenarios")
struct KeyScenarioTests {
    @Test("our session does what each scenario says, and nothing else")
    func all() throws {
        let scenarios = try loadScenarios()
        #expect(scenarios.count >= 28)
        for scenario in scenarios {
            let difference = ScenarioRun.run(scenario).difference(from: scenario)
            #expect(difference == nil, "\(scenario.name)")
        }
    }

    @Test("each fault is noticed by some scenario", arguments: KeyMutant.allCases)
    func mutants(_ mutant: KeyMutant) throws {
        let killers = try loadScenarios().filter { scenario in
            var session = MutantSession(mutant, scenario: scenario)
            return ScenarioRun(scenario, &session).difference(from: scenario) != nil
        }
        #expect(!killers.isEmpty)
    }

    @Test("each scenario notices some fault")
    func useful() throws {
        for scenario in try loadScenarios() {
            let isUseful = KeyMutant.allCases.contains { mutant in
                var session = MutantSession(mutant, scenario: scenario)
                return ScenarioRun(scenario, &session).difference(from: scenario) != nil
            }
            #expect(isUseful, "\(scenario.name)")
        }
    }

    @Test(
        "files that are none are errors that say where",
        arguments: [
            ("[]", "x: expected a JSON object"), (#"{"more":1}"#, "member \"more\""), (#"{"schema":2}"#, "schema"),
            (#"{"schema":1,"name":"n","title":"t","policy":{},"device":"d","seed":1,"end":1}"#, "steps"),
            (
                #"{"schema":1,"name":"n","title":"t","policy":{},"device":"d","seed":1,"end":1,"steps":[{"at":2,"event":"close"}]}"#,
                "step 1"
            ),
            (
                #"{"schema":1,"name":"n","title":"t","policy":{"patience":-1},"device":"d","seed":1,"end":1}"#,
                "policy: patience"
            ),
        ])
    func errors(_ text: String, _ expected: String) {
        expectError(text, expected)
    }

    @Test(
        "times that no script has are refused",
        arguments: [
            (18_446_744_073_709_551_615, "0", 1), (1, "18446744073709551615", 1),
            (1, "[0,18446744073709551615]", 1), (1, "63244800001", 1), (1, "0", 10_001),
        ] as [(UInt64, String, Int)])
    func times(_ time: UInt64, _ expected: String, _ count: Int) {
        let step = #"{"at":0,"event":"setClock","by":1099511627776}"#
        let steps = [String](repeating: step, count: count - 1) + [#"{"at":\#(time),"event":"close"}"#]
        let text = #"""
            {"schema":1,"name":"n","title":"t","policy":{},"device":"d","seed":1,"end":1,
            "steps":[\#(steps.joined(separator: ","))],"expect":[{"at":\#(expected),"action":"notice"}]}
            """#
        expectError(text, "expected")
    }

    private func expectError(_ text: String, _ expected: String) {
        let json = JSONValue.parse(Array(text.utf8))
        let error = #expect(throws: KeyScenarioError.self) { try KeyScenario(json, file: "x") }
        #expect(error?.description.contains(expected) == true)
    }
}
