package import Keys
package import SubjectProtocol
package import Support

/// Puts scenarios to a session in another process, whatever that does: it is started again when it dies, says nothing or
/// breaks the protocol, and given up when that is all it does.
package struct ExternalScenarios {
    /// What became of a scenario.
    package enum Verdict: Hashable, Sendable {
        /// The session did what it must.
        case passed
        /// It did not, or did not answer; in words.
        case failed(String)
        /// It says that it cannot do this; in words.
        case unsupported(String)
        /// It was not asked, since it had failed to answer too often.
        case notRun
    }

    /// After so many scenarios in a row without a proper answer, a subject is asked no more.
    package static let maxBreakdowns = 3

    private let command: String
    private let deadline: Duration
    private let isInterrupted: () -> Bool
    private var process: SubjectProcess?
    private var lastID: UInt64 = 0

    /// Creates a runner.
    ///
    /// - Parameters:
    ///   - command: The subject's command line, for `/bin/sh -c`.
    ///   - deadline: How long each answer may take; a scenario may take four times that.
    ///   - isInterrupted: Whether the user wants no more.
    package init(command: String, deadline: Duration, isInterrupted: @escaping () -> Bool = { false }) {
        self.command = command
        self.deadline = deadline
        self.isInterrupted = isInterrupted
    }

    /// Runs scenarios, in order.
    ///
    /// - Returns: A verdict for each, by its name.
    /// - Throws: `SubjectError.notStarted`, `.interrupted`, and `.refused` by "unsupported" if the subject has no key
    ///   sessions at all.
    package mutating func run(
        _ scenarios: [KeyScenario]
    ) throws(SubjectError) -> [(name: String, verdict: Verdict)] {
        var verdicts: [(name: String, verdict: Verdict)] = []
        var breakdowns = 0
        for scenario in scenarios {
            guard breakdowns < Self.maxBreakdowns else {
                verdicts.append((scenario.name, .notRun))
                continue
            }
            do throws(SubjectError) {
                verdicts.append((scenario.name, try verdict(scenario)))
                breakdowns = 0
            } catch {
                switch error {
                case .notStarted, .interrupted: throw error
                case .refused("noKeySessions", let message): throw .refused(name: "unsupported", message: message)
                case .refused("unsupported", let message):
                    verdicts.append((scenario.name, .unsupported(message)))
                    // The session that refused is still there.
                    process = nil
                case .refused:
                    verdicts.append((scenario.name, .failed("\(error)")))
                    process = nil
                default:
                    verdicts.append((scenario.name, .failed("\(error)")))
                    breakdowns += 1
                    process = nil
                }
            }
        }
        do throws(SubjectError) {
            try process?.end()
        } catch {
            verdicts.append(("bye", .failed("\(error)")))
        }
        process = nil
        return verdicts
    }

    private mutating func verdict(_ scenario: KeyScenario) throws(SubjectError) -> Verdict {
        let process = try started()
        lastID += 1
        var session = try ExternalKeySession(process, id: lastID, scenario: scenario, deadline: deadline * 4)
        let run = try ScenarioRun(scenario, &session)
        try session.close()
        return run.differenceInAnyOrder(from: scenario).map { .failed($0) } ?? .passed
    }

    private mutating func started() throws(SubjectError) -> SubjectProcess {
        if let process { return process }
        let process = try SubjectProcess(
            command: ["/bin/sh", "-c", command], timeout: deadline, longestLine: 16 << 20,
            isInterrupted: isInterrupted)
        let hello = try process.request(["op": "hello", "protocol": 1]).members
        guard hello["protocol"]?.integer == 1, hello["keySessions"]?.integer == 2 else {
            throw .refused(
                name: "noKeySessions",
                message: "its answer to hello has no \"keySessions\": expected \"protocol\":1 and \"keySessions\":2")
        }
        self.process = process
        return process
    }
}

/// A session in another process, for one scenario. Source: data/scenarios/PROTOCOL.md.
package struct ExternalKeySession: ScenarioSubject {
    /// The max number of actions that one answer may have.
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
