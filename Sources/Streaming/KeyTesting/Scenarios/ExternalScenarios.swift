package import Keys
package import SubjectProtocol
package import Support

/// Runs scenarios with a session in another process, whatever that process does. The runner starts it again when it
/// dies, does not answer or breaks the protocol, and gives up after several such failures in a row.
package struct ExternalScenarios {
    /// The result of a scenario.
    package enum Verdict: Hashable, Sendable {
        /// The session did all that it must.
        case passed
        /// The session did something else, or did not answer; with an explanation.
        case failed(String)
        /// The session does not support the scenario; with an explanation.
        case unsupported(String)
        /// The scenario was not run, because the session had failed to answer too often.
        case notRun
    }

    /// The number of scenarios in a row without a proper answer after which the runner gives up.
    package static let maxBreakdowns = 3

    private let command: String
    private let deadline: Duration
    private let isInterrupted: () -> Bool
    private var process: SubjectProcess?
    private var lastID: UInt64 = 0

    /// - Parameters:
    ///   - command: The subject's command line, for `/bin/sh -c`.
    ///   - deadline: The max time for each answer; a scenario may take four times that.
    ///   - isInterrupted: Returns whether the user interrupted the run.
    package init(command: String, deadline: Duration, isInterrupted: @escaping () -> Bool = { false }) {
        self.command = command
        self.deadline = deadline
        self.isInterrupted = isInterrupted
    }

    /// Runs scenarios, in order.
    ///
    /// - Returns: A verdict for each scenario, with its name.
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
                    // The process still has the session that refused.
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

    /// The time at which the session wants to be woken.
    package private(set) var nextDeadline: Duration?

    /// Makes the process open a session.
    ///
    /// - Parameters:
    ///   - process: A process that was greeted.
    ///   - id: The session's number in that process.
    ///   - scenario: The source of the session's policy, device and seed.
    ///   - deadline: The max time for all answers of the session together.
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

    /// Sends an event to the session; see ``ScenarioSubject/actions(after:at:)``.
    ///
    /// - Throws: `SubjectError` if there is no proper answer, or if all answers together take too long.
    package mutating func actions(
        after event: KeyEvent, at now: ClockSample
    ) throws(SubjectError) -> [JSONValue] {
        guard ContinuousClock.now < end else { throw .timeout(seconds: deadline / .seconds(1)) }
        let members = try process.request([
            "op": "event", "id": .integer(id), "monotonic": .integer(ProtocolTime.microseconds(now.monotonic)),
            "wall": .integer(ProtocolTime.microseconds(now.wall)), "event": event.message,
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

    /// Closes the session.
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
