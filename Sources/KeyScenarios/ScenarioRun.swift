package import JSON
package import Keys

/// Something that scenarios can be put to: the session's machine, or one with a planted fault.
package protocol ScenarioSubject {
    /// Takes in what happened; see `KeyMachine.handle(_:at:)`.
    mutating func handle(_ event: KeyEvent, at now: KeyReading) -> [KeyAction]

    /// When it must be called again at the latest.
    var nextDeadline: Duration? { get }
}

extension KeyMachine: ScenarioSubject {}

/// Puts a scenario to a session, in the scenario's own time: years pass in microseconds.
package struct ScenarioRun {
    /// What a session did, and when.
    package struct Done: Hashable, Sendable {
        /// From the start.
        package let time: Duration
        /// The action, as ``KeyAction/json`` has it.
        package let action: JSONValue
    }

    /// How often a session may be woken in a scenario.
    package static let mostWakings = 100_000

    /// What the session did, in order.
    package private(set) var done: [Done] = []
    /// Whether the session wanted to be woken without end.
    package private(set) var isEndless = false

    /// Runs a script.
    package init(_ scenario: KeyScenario, _ subject: inout some ScenarioSubject) {
        var shift = Duration.zero
        var wakings = 0
        var last = Duration.zero
        func reading(_ time: Duration) -> KeyReading {
            KeyReading(monotonic: time, wall: KeyScenario.start + time + shift)
        }
        func pass(until end: Duration, _ subject: inout some ScenarioSubject, _ done: inout [Done]) -> Bool {
            while let deadline = subject.nextDeadline, deadline <= end {
                wakings += 1
                guard wakings <= Self.mostWakings else { return false }
                last = max(last, deadline)
                for action in subject.handle(.tick, at: reading(last)) {
                    done.append(Done(time: last, action: action.json))
                }
            }
            return true
        }
        var done: [Done] = []
        for step in scenario.steps {
            let time = Duration.milliseconds(Int64(step.milliseconds))
            guard pass(until: time, &subject, &done) else {
                isEndless = true
                break
            }
            last = time
            switch step.happening {
            case .setClock(let by): shift += .milliseconds(by)
            case .event(let event):
                for action in subject.handle(event, at: reading(time)) {
                    done.append(Done(time: time, action: action.json))
                }
            }
        }
        if !isEndless {
            isEndless = !pass(until: .milliseconds(Int64(scenario.endMilliseconds)), &subject, &done)
        }
        self.done = done
    }

    /// Runs a script with the session's own machine.
    package static func run(_ scenario: KeyScenario) -> ScenarioRun {
        var machine = KeyMachine(policy: scenario.policy, device: scenario.device, seed: scenario.seed)
        return ScenarioRun(scenario, &machine)
    }

    /// Says where a session first did something else than it must.
    ///
    /// - Returns: What was expected and what happened, or `nil` if all is as it must be.
    package func difference(from scenario: KeyScenario) -> String? {
        if isEndless { return "woken \(Self.mostWakings) times: expected an end" }
        for (index, expected) in scenario.expectations.enumerated() {
            guard index < done.count else { return "action \(index + 1): nothing: expected \(Self.text(expected))" }
            let actual = done[index]
            let low = Duration.milliseconds(Int64(expected.milliseconds.lowerBound))
            let high = Duration.milliseconds(Int64(expected.milliseconds.upperBound))
            guard actual.action == expected.action, (low...high).contains(actual.time) else {
                return "action \(index + 1): \(Self.text(actual)): expected \(Self.text(expected))"
            }
        }
        guard done.count > scenario.expectations.count else { return nil }
        return "action \(scenario.expectations.count + 1): \(Self.text(done[scenario.expectations.count])): "
            + "expected nothing more"
    }

    private static func text(_ done: Done) -> String { "at \(done.time) \(oneLine(done.action))" }

    private static func text(_ expected: KeyScenario.Expectation) -> String {
        let times = expected.milliseconds
        let span = times.lowerBound == times.upperBound ? "" : " to \(times.upperBound)"
        return "at \(times.lowerBound)\(span) ms \(oneLine(expected.action))"
    }

    private static func oneLine(_ value: JSONValue) -> String {
        value.text.split(separator: "\n").map { line in String(line.drop { $0 == " " }) }.joined(separator: " ")
    }
}
