import Foundation
import KeyTesting
import Keys
import SubjectProtocol
import Support
import TestSupport
import Testing

/// The scenarios of data/scenarios.
enum ScenarioFiles {
    static let folder = Project.folder.appending(path: "data/scenarios")

    /// Reads all of them, after something was done to each file's value.
    static func load(_ change: (JSONValue) -> JSONValue = { $0 }) throws -> [KeyScenario] {
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".json") }
        return try files.sorted().map { file in
            let data = try Data(contentsOf: folder.appending(path: file))
            let scenario = try KeyScenario(JSONValue.parse(Array(data)).map(change), file: file)
            #expect(file == scenario.name + ".json")
            return scenario
        }
    }
}

@Suite("scenarios and sessions in other processes", .serialized)
struct ExternalScenarioTests {
    private static let subject = "'\(Programs.chunkwise)' keys subject"

    private func run(
        _ command: String, _ scenarios: [KeyScenario], seconds: Double = 60
    ) throws -> [ExternalScenarios.Verdict] {
        var foreign = ExternalScenarios(command: command, deadline: .seconds(seconds))
        return try foreign.run(scenarios).map(\.verdict)
    }

    @Test("our own session passes over the protocol as well")
    func own() throws {
        let scenarios = try ScenarioFiles.load()
        let verdicts = try run(Self.subject, scenarios)
        #expect(verdicts == scenarios.map { _ in .passed })
    }

    @Test(
        "each fault is noticed over the protocol as well, where the order of actions that come at once is free",
        arguments: KeyMutant.allCases)
    func mutants(_ mutant: KeyMutant) throws {
        let scenarios = try ScenarioFiles.load()
        let verdicts = try run(Self.subject + " --fault \(mutant.rawValue)", scenarios)
        let noticed = zip(scenarios, verdicts).filter { $1 != .passed }.map(\.0.name)
        let expected = scenarios.filter { scenario in
            var session = MutantSession(mutant, scenario: scenario)
            return ScenarioRun(scenario, &session).difference(from: scenario) != nil
        }
        #expect(!noticed.isEmpty)
        #expect(Set(noticed).isSubset(of: expected.map(\.name)))
        #expect(!verdicts.contains(.notRun))
    }

    @Test("a session in Python that was written from the document passes")
    func python() throws {
        guard let python = Programs.installed("python3") else {
            withKnownIssue("python3 is not installed") { Issue.record("python3 is not installed") }
            return
        }
        let script = Project.path("Examples/subjects/key_session.py")
        for seed in [1, 2, 77] as [UInt64] {
            let scenarios = try ScenarioFiles.load { $0.with("seed", .integer(seed)) }
            let verdicts = try run("'\(python)' '\(script)'", scenarios)
            #expect(verdicts == scenarios.map { _ in .passed }, "seed \(seed)")
        }
    }

    @Test("no scenario depends on the numbers that jitter is drawn from")
    func seeds() throws {
        for seed in 2...40 as ClosedRange<UInt64> {
            for scenario in try ScenarioFiles.load({ $0.with("seed", .integer(seed)) }) {
                let difference = ScenarioRun.run(scenario).difference(from: scenario)
                #expect(difference == nil, "\(scenario.name), seed \(seed)")
            }
        }
    }

    private static let hello = #"read line; echo '{"ok":true,"protocol":1,"keySessions":2}'; "#

    @Test(
        "whatever a subject does, it is a named failure, and soon no more is asked of it",
        arguments: [
            ("exit 3", "exited with status 3"), ("exec /nowhere/subject", "exited with status 127"),
            ("kill -9 $$", "signal 9"), ("sleep 1000", "no answer within"), ("cat", "no member \"ok\""),
            ("echo garbage; sleep 1000", "broke the protocol"),
            ("yes", "broke the protocol"), ("read line; echo []; sleep 1000", "no JSON object"),
            ("exec >&-; sleep 1000", "the output is closed"),
            (#"read line; echo '{"ok":true,"payload":1000000000000}'; sleep 1000"#, "payload"),
            (hello + "exit 0", "exited with status 0"), (hello + "sleep 1000", "no answer within"),
            (hello + #"while read line; do echo '{"ok":true}'; done"#, "without \"actions\""),
            (hello + #"while read line; do echo '{"ok":true,"actions":{}}'; done"#, "without \"actions\""),
            (hello + #"while read line; do echo '{"ok":true,"actions":[1]}'; done"#, "an action is no object"),
            (hello + #"while read line; do echo '{"ok":true,"actions":[],"deadline":-1}'; done"#, "deadline"),
            (hello + #"while read line; do echo '{"ok":true,"actions":[],"deadline":"now"}'; done"#, "deadline"),
            (hello + #"while read line; do echo '{"ok":true,"actions":[]} {}'; done"#, "no JSON object"),
        ])
    func hostile(_ script: String, _ words: String) throws {
        let scenarios = Array(try ScenarioFiles.load().prefix(5))
        // A busy machine may take long to start a shell: only what waits for the time limit has a short one.
        let seconds = words.hasPrefix("no answer") ? 0.5 : words.hasSuffix("closed") ? 5 : 60
        let verdicts = try run(script, scenarios, seconds: seconds)
        for verdict in verdicts.prefix(3) {
            guard case .failed(let reason) = verdict else {
                Issue.record("\(verdict)")
                continue
            }
            #expect(reason.contains(words), "\(reason)")
        }
        #expect(Array(verdicts.dropFirst(3)) == [.notRun, .notRun])
    }

    @Test("a session that wants to be woken without end fails, and the next scenario has a new one")
    func endless() throws {
        let script = Self.hello + #"while read line; do echo '{"ok":true,"actions":[],"deadline":0}'; done"#
        let verdicts = try run(script, Array(try ScenarioFiles.load().prefix(2)), seconds: 0.25)
        for verdict in verdicts {
            guard case .failed = verdict else {
                Issue.record("\(verdict)")
                continue
            }
        }
        #expect(verdicts.count >= 2)
    }

    @Test("errors that a session answers are verdicts of their own")
    func refusals() throws {
        let scenarios = Array(try ScenarioFiles.load().prefix(2))
        func answering(_ name: String) -> String {
            Self.hello + #"while read line; do echo '{"ok":false,"error":"\#(name)","message":"why"}'; done"#
        }
        let unsupported = try run(answering("unsupported"), scenarios)
        #expect(unsupported == [.unsupported("why"), .unsupported("why")])
        #expect(try run(answering("internal"), scenarios) == [.failed("internal: why"), .failed("internal: why")])
    }

    @Test("a subject without key sessions is no answer")
    func withoutSessions() throws {
        let script = #"read line; echo '{"ok":true,"protocol":1,"name":"x"}'; read line"#
        #expect(throws: SubjectError.self) { try run(script, try ScenarioFiles.load()) }
    }

    @Test(
        "our subject refuses requests that are none, and goes on",
        arguments: [
            "[]", "x", "{}", #"{"op":"session","id":1}"#, #"{"op":"event","id":9}"#, #"{"op":"close","id":9}"#,
            #"{"op":"session","id":7,"policy":{},"device":"d","seed":1}"#,
            #"{"op":"event","id":7,"monotonic":0,"wall":0,"event":{"event":"dance"}}"#,
            #"{"op":"event","id":7,"monotonic":0,"wall":0,"event":{"event":"want","reader":1,"keys":[]}}"#,
            #"{"op":"event","id":7,"monotonic":0,"wall":-1,"event":{"event":"tick"}}"#,
            #"{"op":"event","id":7,"monotonic":0,"wall":9007199254740993,"event":{"event":"tick"}}"#,
        ])
    func wrongRequests(_ line: String) throws {
        let process = try SubjectProcess(command: ["/bin/sh", "-c", Self.subject], timeout: .seconds(60))
        _ = try process.request(["op": "hello", "protocol": 1])
        _ = try process.request(["op": "session", "id": 7, "policy": [:], "device": "d", "seed": 1])
        let answer = try process.exchange(Array((line + "\n").utf8))
        #expect(!answer.isGood)
        #expect(answer.members["error"]?.string == "invalidRequest")
        #expect(answer.members["message"]?.string?.contains("expected") == true)
        let tick = try process.request([
            "op": "event", "id": 7, "monotonic": 5, "wall": 5, "event": ["event": "tick"],
        ])
        #expect(tick.members["actions"] == .array([]))
        try process.end()
    }
}

extension JSONValue {
    /// The object with another member.
    fileprivate func with(_ name: String, _ value: JSONValue) -> JSONValue {
        guard case .object(var members) = self else { return self }
        members[name] = value
        return .object(members)
    }
}
