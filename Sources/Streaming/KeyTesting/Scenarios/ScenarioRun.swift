package import Keys
package import Support

/// Something that scenarios can be put to: the session's machine, one with a planted fault, or an external session.
package protocol ScenarioSubject<Failure> {
    /// Why there may be no answer.
    associatedtype Failure: Error

    /// Takes in what happened; see `KeyMachine.handle(_:at:)`.
    ///
    /// - Returns: What to do, as ``KeyAction/json`` has it.
    /// - Throws: If there is no answer.
    mutating func actions(after event: KeyEvent, at now: ClockSample) throws(Failure) -> [JSONValue]

    /// When it must be called again at the latest.
    var nextDeadline: Duration? { get }
}

extension KeyMachine: ScenarioSubject {
    /// What the machine does, as scenarios have it; see ``ScenarioSubject/actions(after:at:)``.
    package mutating func actions(after event: KeyEvent, at now: ClockSample) -> [JSONValue] {
        handle(event, at: now).map(\.json)
    }
}

/// Puts a scenario to a session, in the scenario's own time: years pass in microseconds.
package struct ScenarioRun {
    /// What a session did, and when.
    package struct Done: Hashable, Sendable {
        /// From the start.
        package let time: Duration
        /// The action, as ``KeyAction/json`` has it.
        package let action: JSONValue
        /// Which answer of the session it stood in, from 1.
        package let answer: Int
    }

    /// How often a session may be woken in a scenario.
    package static let maxWakings = 100_000

    /// What the session did, in order.
    package private(set) var done: [Done] = []
    /// Whether the session wanted to be woken without end.
    package private(set) var isEndless = false

    /// How far the script's clock on the wall was set.
    private var shift = Duration.zero
    private var last = Duration.zero
    private var wakings = 0
    private var answers = 0

    /// Runs a script.
    ///
    /// - Throws: What the session throws.
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

    /// Wakes the session when it wants to be.
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
            done.append(Done(time: last, action: action, answer: answers))
        }
    }

    /// Runs a script with the session's own machine.
    package static func run(_ scenario: KeyScenario) -> ScenarioRun {
        var machine = KeyMachine(policy: scenario.policy, device: scenario.device, seed: scenario.seed)
        return ScenarioRun(scenario, &machine)
    }

    /// The first difference between what a session did and what it must do, action by action.
    ///
    /// - Returns: What was expected and what happened, or `nil` if all is as it must be.
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

    static func text(_ done: Done) -> String { "at \(done.time) \(oneLine(done.action))" }

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
    /// Says where a session first did something else than it must, where the order of what one answer holds is free but
    /// for what depends on it: a key is there before it is delivered, and stored before the old one is erased.
    ///
    /// - Returns: What was expected and what happened, or `nil` if all is as it must be.
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

    private static func isMatch(_ done: Done, _ expected: KeyScenario.Expectation) -> Bool {
        let times = expected.milliseconds
        return done.action == expected.action && done.time >= .milliseconds(times.lowerBound)
            && done.time <= .milliseconds(times.upperBound)
    }

    /// What is in the wrong order within one answer.
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
