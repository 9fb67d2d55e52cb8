package import Keys
package import Support

/// Something that scenarios can be put to: the session's machine, one with a planted fault, or an external session.
package protocol ScenarioSubject {
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

    /// Runs a script.
    ///
    /// - Throws: What the session throws.
    package init<Subject: ScenarioSubject>(
        _ scenario: KeyScenario, _ subject: inout Subject
    ) throws(Subject.Failure) {
        var shift = Duration.zero
        var wakings = 0
        var last = Duration.zero
        var answer = 0
        func reading(_ time: Duration) -> ClockSample {
            ClockSample(monotonic: time, wall: KeyScenario.start + time + shift)
        }
        func tell(_ event: KeyEvent, at time: Duration, _ subject: inout Subject) throws(Subject.Failure) -> [Done] {
            answer += 1
            return try subject.actions(after: event, at: reading(time)).map {
                Done(time: time, action: $0, answer: answer)
            }
        }
        func pass(
            until end: Duration, _ subject: inout Subject, _ done: inout [Done]
        ) throws(Subject.Failure) -> Bool {
            while let deadline = subject.nextDeadline, deadline <= end {
                wakings += 1
                guard wakings <= Self.maxWakings else { return false }
                last = max(last, deadline)
                done += try tell(.tick, at: last, &subject)
            }
            return true
        }
        var done: [Done] = []
        for step in scenario.steps {
            let time = Duration.milliseconds(Int64(step.milliseconds))
            guard try pass(until: time, &subject, &done) else {
                isEndless = true
                break
            }
            last = time
            switch step.happening {
            case .setClock(let by): shift += .milliseconds(by)
            case .event(let event): done += try tell(event, at: time, &subject)
            }
        }
        if !isEndless {
            isEndless = try !pass(until: .milliseconds(Int64(scenario.endMilliseconds)), &subject, &done)
        }
        self.done = done
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
        let low = Duration.milliseconds(Int64(expected.milliseconds.lowerBound))
        let high = Duration.milliseconds(Int64(expected.milliseconds.upperBound))
        return done.action == expected.action && (low...high).contains(done.time)
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

/// An object of a scenario, whose members are read with errors that say where they are.
struct ScenarioObject {
    private let json: JSONValue
    private let place: String
    private let unit: Unit

    /// What times are whole numbers of.
    enum Unit {
        case milliseconds
        case microseconds
    }

    /// Begins with an object.
    ///
    /// - Parameters:
    ///   - json: The object.
    ///   - place: What errors call it.
    ///   - known: The names that members may have; any, if there is no such list.
    ///   - unit: What times are whole numbers of.
    /// - Throws: `KeyScenarioError`.
    init(
        _ json: JSONValue?, _ place: String, members known: [String]? = nil, unit: Unit = .milliseconds
    ) throws(KeyScenarioError) {
        guard let json, case .object(let members) = json else {
            throw KeyScenarioError(place, "expected a JSON object")
        }
        if let known, let name = members.keys.sorted().first(where: { !known.contains($0) }) {
            throw KeyScenarioError(place, "member \"\(name)\": expected one of \(known.joined(separator: ", "))")
        }
        self.json = json
        self.place = place
        self.unit = unit
    }

    func text(_ name: String) throws(KeyScenarioError) -> String {
        guard let text = json[name]?.string, !text.isEmpty else {
            throw KeyScenarioError(place, "\(name): expected a text")
        }
        return text
    }

    func number(_ name: String, maximum: UInt64 = 1 << 53) throws(KeyScenarioError) -> UInt64 {
        guard let number = json[name]?.integer, number <= maximum else {
            throw KeyScenarioError(place, "\(name): expected a whole number up to \(maximum)")
        }
        return number
    }

    func bool(_ name: String) throws(KeyScenarioError) -> Bool {
        guard let bool = json[name]?.bool else { throw KeyScenarioError(place, "\(name): expected true or false") }
        return bool
    }

    /// A time, if the member is there.
    func time(_ name: String) throws(KeyScenarioError) -> Duration? {
        guard json[name] != nil else { return nil }
        return switch unit {
        case .milliseconds: .milliseconds(Int64(try number(name, maximum: 1 << 42)))
        case .microseconds: .microseconds(Int64(try number(name, maximum: 1 << 53)))
        }
    }

    /// A time.
    func requiredTime(_ name: String) throws(KeyScenarioError) -> Duration {
        guard let time = try time(name) else { throw KeyScenarioError(place, "\(name): expected \(unit)") }
        return time
    }

    func texts(_ name: String) throws(KeyScenarioError) -> [String] {
        guard let list = json[name]?.array, !list.isEmpty else {
            throw KeyScenarioError(place, "\(name): expected a list of texts")
        }
        var texts: [String] = []
        for element in list {
            guard let text = element.string else { throw KeyScenarioError(place, "\(name): expected texts") }
            texts.append(text)
        }
        return texts
    }
}
