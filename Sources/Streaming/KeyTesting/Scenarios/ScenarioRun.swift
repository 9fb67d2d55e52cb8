package import Keys
package import Support

/// A subject of scenarios: the session's machine, one with an injected fault, or an external session.
package protocol ScenarioSubject<Failure> {
    /// The error if there is no answer.
    associatedtype Failure: Error

    /// Handles an event; see `KeyMachine.handle(_:at:)`.
    ///
    /// - Returns: The actions, in the form of ``KeyAction/json``.
    /// - Throws: `Failure` if there is no answer.
    mutating func actions(after event: KeyEvent, at now: ClockSample) throws(Failure) -> [JSONValue]

    /// The latest time for the next call.
    var nextDeadline: Duration? { get }
}

extension KeyMachine: ScenarioSubject {
    /// Returns the machine's actions in the form of scenarios; see ``ScenarioSubject/actions(after:at:)``.
    package mutating func actions(after event: KeyEvent, at now: ClockSample) -> [JSONValue] {
        handle(event, at: now).map(\.json)
    }
}

/// A run of a scenario with a session, in the scenario's own time: years pass in microseconds.
package struct ScenarioRun {
    /// An action of a session, with its time.
    package struct TimedAction: Hashable, Sendable {
        /// The time from the start.
        package let time: Duration
        /// The action in the form of ``KeyAction/json``.
        package let action: JSONValue
        /// The number of the session's answer that contains the action, from 1.
        package let answer: Int
    }

    /// The max number of times that a scenario wakes a session.
    package static let maxWakings = 100_000

    /// The session's actions, in order.
    package private(set) var done: [TimedAction] = []
    /// True if the session wanted to be woken without end.
    package private(set) var isEndless = false

    /// The sum of all changes of the script's wall clock.
    private var shift = Duration.zero
    private var last = Duration.zero
    private var wakings = 0
    private var answers = 0

    /// Runs a script.
    ///
    /// - Throws: The errors of the session.
    package init<Subject: ScenarioSubject>(
        _ scenario: KeyScenario, _ subject: inout Subject
    ) throws(Subject.Failure) {
        for step in scenario.steps {
            let time = Duration.milliseconds(step.milliseconds)
            try pass(until: time, &subject)
            guard !isEndless else { return }
            last = time
            switch step.happening {
            case .setClock(let by): shift += .milliseconds(by)
            case .event(let event): try tell(event, &subject)
            }
        }
        try pass(until: .milliseconds(scenario.endMilliseconds), &subject)
    }

    /// Wakes the session at the times that it asks for.
    private mutating func pass<Subject: ScenarioSubject>(
        until end: Duration, _ subject: inout Subject
    ) throws(Subject.Failure) {
        while let deadline = subject.nextDeadline, deadline <= end {
            wakings += 1
            isEndless = wakings > Self.maxWakings
            guard !isEndless else { return }
            last = max(last, deadline)
            try tell(.tick, &subject)
        }
    }

    private mutating func tell<Subject: ScenarioSubject>(
        _ event: KeyEvent, _ subject: inout Subject
    ) throws(Subject.Failure) {
        answers += 1
        let now = ClockSample(monotonic: last, wall: KeyScenario.start + last + shift)
        for action in try subject.actions(after: event, at: now) {
            done.append(TimedAction(time: last, action: action, answer: answers))
        }
    }

    /// Runs a script with the session's own machine.
    package static func run(_ scenario: KeyScenario) -> ScenarioRun {
        var machine = KeyMachine(policy: scenario.policy, device: scenario.device, seed: scenario.seed)
        return ScenarioRun(scenario, &machine)
    }

    /// Returns the first difference between the session's actions and the expected ones, action by action.
    ///
    /// - Returns: The expectation and the actual action; `nil` if there is no difference.
    package func difference(from scenario: KeyScenario) -> String? {
        if isEndless { return "woken \(Self.maxWakings) times: expected an end" }
        for (index, expected) in scenario.expectations.enumerated() {
            guard index < done.count else { return "action \(index + 1): nothing: expected \(Self.text(expected))" }
            let actual = done[index]
            guard Self.isMatch(actual, expected) else {
                return "action \(index + 1): \(Self.text(actual)): expected \(Self.text(expected))"
            }
        }
        guard done.count > scenario.expectations.count else { return nil }
        return "action \(scenario.expectations.count + 1): \(Self.text(done[scenario.expectations.count])): "
            + "expected nothing more"
    }

    static func text(_ done: TimedAction) -> String { "at \(done.time) \(oneLine(done.action))" }

    static func text(_ expected: KeyScenario.Expectation) -> String {
        let times = expected.milliseconds
        let span = times.lowerBound == times.upperBound ? "" : " to \(times.upperBound)"
        return "at \(times.lowerBound)\(span) ms \(oneLine(expected.action))"
    }

    private static func oneLine(_ value: JSONValue) -> String {
        value.text.split(separator: "\n").map { line in String(line.drop { $0 == " " }) }.joined(separator: " ")
    }
}

extension ScenarioRun {
    /// Returns the first difference between the session's actions and the expected ones, if the order within one answer
    /// is free. Only two things stay in order: a key is there before it is delivered, and it is stored before the old
    /// one is erased.
    ///
    /// - Returns: The expectation and the actual action; `nil` if there is no difference.
    package func differenceInAnyOrder(from scenario: KeyScenario) -> String? {
        if isEndless { return "woken \(Self.maxWakings) times: expected an end" }
        var rest = scenario.expectations[...]
        var index = 0
        while index < done.count {
            let answer = done[index...].prefix { $0.answer == done[index].answer }
            var expected = Array(rest.prefix(answer.count))
            for (number, done) in answer.enumerated() {
                guard let match = expected.firstIndex(where: { Self.isMatch(done, $0) }) else {
                    let wanted = expected.first.map(Self.text) ?? "nothing more"
                    return "action \(index + number + 1): \(Self.text(done)): expected \(wanted)"
                }
                expected.remove(at: match)
            }
            if let mismatch = Self.disorder(answer.map(\.action)) {
                return "action \(index + 1) and what comes with it: \(mismatch)"
            }
            rest = rest.dropFirst(answer.count)
            index += answer.count
        }
        return rest.first.map { "action \(done.count + 1): nothing: expected \(Self.text($0))" }
    }

    private static func isMatch(_ done: TimedAction, _ expected: KeyScenario.Expectation) -> Bool {
        let times = expected.milliseconds
        return done.action == expected.action && done.time >= .milliseconds(times.lowerBound)
            && done.time <= .milliseconds(times.upperBound)
    }

    /// Returns a description of a wrong order within one answer; `nil` if there is none.
    private static func disorder(_ actions: [JSONValue]) -> String? {
        for (earlier, later) in [("store", "erase"), ("keep", "deliver"), ("adopt", "deliver"), ("cancel", "ask")] {
            for (index, action) in actions.enumerated() where action["action"]?.string == earlier {
                let key = action["key"]
                let isLate = actions[..<index].contains { $0["action"]?.string == later && $0["key"] == key }
                if isLate { return "\(later) before \(earlier): expected it after" }
            }
        }
        return nil
    }
}
