import Support

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
