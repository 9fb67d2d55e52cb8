package import Keys
package import SubjectProtocol
package import Support

/// A session in another process, for one scenario. Source: data/scenarios/PROTOCOL.md.
package struct ExternalKeySession: ScenarioSubject {
    /// The most actions that one answer may have.
    package static let maxActions = 10_000

    private let process: SubjectProcess
    private let id: UInt64
    private let end: ContinuousClock.Instant
    private let deadline: Duration

    /// When the session wants to be woken.
    package private(set) var nextDeadline: Duration?

    /// Has the process make a session.
    ///
    /// - Parameters:
    ///   - process: A process that was greeted.
    ///   - id: The session's number there.
    ///   - scenario: What the session starts from.
    ///   - deadline: How long all of its answers together may take.
    /// - Throws: `SubjectError`.
    init(
        _ process: SubjectProcess, id: UInt64, scenario: KeyScenario, deadline: Duration
    ) throws(SubjectError) {
        self.process = process
        self.id = id
        self.deadline = deadline
        self.end = .now + deadline
        let answer = try process.request([
            "op": "session", "id": .integer(id), "policy": scenario.policy.message,
            "device": .string(scenario.device), "seed": .integer(scenario.seed),
        ])
        nextDeadline = try Self.deadline(answer.members)
    }

    /// Tells the session; see ``ScenarioSubject/actions(after:at:)``.
    ///
    /// - Throws: `SubjectError` if there is no proper answer, or all of them take too long.
    package mutating func actions(
        after event: KeyEvent, at now: ClockSample
    ) throws(SubjectError) -> [JSONValue] {
        guard ContinuousClock.now < end else { throw .timeout(seconds: deadline / .seconds(1)) }
        let members = try process.request([
            "op": "event", "id": .integer(id), "monotonic": ProtocolTime.json(now.monotonic),
            "wall": ProtocolTime.json(now.wall), "event": event.message,
        ]).members
        guard let actions = members["actions"]?.array, actions.count <= Self.maxActions else {
            throw .framing("an answer without \"actions\", or with more than \(Self.maxActions)")
        }
        guard actions.allSatisfy({ $0["action"]?.string != nil }) else {
            throw .framing("an action is no object with a text \"action\"")
        }
        nextDeadline = try Self.deadline(members)
        return actions
    }

    /// Lets the session go.
    ///
    /// - Throws: `SubjectError`.
    func close() throws(SubjectError) {
        _ = try process.request(["op": "close", "id": .integer(id)])
    }

    private static func deadline(_ members: JSONValue) throws(SubjectError) -> Duration? {
        switch members["deadline"] {
        case nil, .null?: return nil
        case .integer(let time)? where time <= 1 << 53: return .microseconds(Int64(time))
        default: throw .framing("a deadline is no number of microseconds up to 2^53")
        }
    }
}
