package import Keys
package import Support

/// The session's machine with a fault around it: in its policy, in the events that it is told, or in the actions that
/// it returns.
package struct MutantSession: ScenarioSubject {
    private let mutant: KeyMutant
    private var machine: KeyMachine
    /// The identifiers of requests without an answer, by exchange.
    private var asked: [Int: [String]] = [:]
    /// The number of the last question that the fault asks in addition to the machine's.
    private var extra = 1000
    /// The identifiers of cancelled exchanges, whose answers may still come.
    private var cancelled: [Int: [String]] = [:]

    package init(_ mutant: KeyMutant, scenario: KeyScenario) {
        self.init(mutant, policy: scenario.policy, device: scenario.device, seed: scenario.seed)
    }

    init(_ mutant: KeyMutant, policy: KeyPolicy, device: String, seed: UInt64) {
        self.mutant = mutant
        self.machine = KeyMachine(policy: mutant.policy(policy), device: device, seed: seed)
    }

    /// The time at which the machine must be called again.
    package var nextDeadline: Duration? { machine.nextDeadline }

    /// Passes an event to the machine as the fault changes it. Returns the actions that the fault leaves of the
    /// machine's.
    package mutating func actions(after event: KeyEvent, at now: ClockSample) -> [JSONValue] {
        var actions: [KeyAction] = []
        for told in mutant.told(event, asked: asked, cancelled: cancelled) {
            let seen = mutant == .believesClock ? ClockSample(monotonic: now.monotonic, wall: Self.steady(now)) : now
            actions += machine.handle(told, at: seen)
        }
        if mutant == .noCoalescing { actions += askedAgain(event, actions) }
        for action in actions { remember(action) }
        return mutant.done(actions.map(\.json))
    }

    /// Returns the questions of a session that ignores running exchanges.
    private mutating func askedAgain(_ event: KeyEvent, _ actions: [KeyAction]) -> [KeyAction] {
        guard case .want(_, let identifiers) = event else { return [] }
        let inFlight = identifiers.filter { identifier in asked.values.contains { $0.contains(identifier) } }
        guard !inFlight.isEmpty else { return [] }
        extra += 1
        return [
            .ask(KeyQuery(exchange: extra, identifiers: inFlight, route: .local, wantsPersistable: false))
        ]
    }

    private static func steady(_ now: ClockSample) -> Duration { KeyScenario.start + now.monotonic }

    private mutating func remember(_ action: KeyAction) {
        switch action {
        case .ask(let query): asked[query.exchange] = query.identifiers
        case .cancel(let exchange): cancelled[exchange] = asked.removeValue(forKey: exchange)
        case .keep(let exchange, _, _): asked[exchange] = nil
        default: break
        }
    }
}

extension KeyMutant {
    /// Returns the policy of a session with the fault.
    fileprivate func policy(_ policy: KeyPolicy) -> KeyPolicy {
        var policy = policy
        switch self {
        case .neverRetries: policy.attempts = 1
        case .noBackOff: (policy.firstPause, policy.longestPause) = (.zero, .zero)
        case .constantBackOff: policy.longestPause = policy.firstPause
        case .noTimeLimit: policy.deadline = .seconds(1_000_000_000)
        case .endlessIdleTimeout: policy.idleTimeout = .seconds(1_000_000_000)
        case .noBatching: policy.maxBatchCount = 1
        case .neverGathers: policy.gatherTime = .zero
        case .dispersesPastWindow:
            policy.dispersalWindow = .seconds(1_000_000_000)
            policy.leadTime = .zero
        case .forgetsRefusals: policy.refusalMemory = .zero
        default: break
        }
        return policy
    }

    /// Returns the events that a session with the fault is told for an event.
    fileprivate func told(_ event: KeyEvent, asked: [Int: [String]], cancelled: [Int: [String]]) -> [KeyEvent] {
        switch (self, event) {
        case (.ignoresPreloading, .preload), (.ignoresPreloading, .persist), (.ignoresRotation, .rotation),
            (.ignoresRoute, .routeChanged), (.ignoresNetworkLoss, .networkLost), (.staysOffline, .networkFound),
            (.ignoresClose, .close):
            return []
        case (.noDispersal, .rotation(let identifier, _)): return [.preload([identifier])]
        case (.persistableEverywhere, .routeChanged(let route)):
            return [.routeChanged(KeyRoute(route.name, acceptsPersistable: true))]
        case (.ignoresDevice, .found(let stored)): return [.found(stored.changed(device: "device-1"))]
        case (.ignoresStorageExpiry, .found(let stored)) where stored.firstUse == nil:
            return [.found(stored.changed(storage: KeyMachine.longestTerm))]
        case (.ignoresPlaybackExpiry, .found(let stored)):
            return [.found(stored.changed(playback: KeyMachine.longestTerm))]
        case (.believesClock, .found(let stored)):
            return [.found(stored.changed(lastSeen: stored.receivedAt))]
        case (_, .answered(let exchange, let answers)):
            return [told(exchange, answers, asked: asked, cancelled: cancelled)]
        case (.retriesFatal, .exchangeFailed(let exchange, let failure)):
            return [.exchangeFailed(exchange: exchange, failure.isPassing ? failure : .unreachable(reason: "mutant"))]
        case (.ignoresRetryAfter, .exchangeFailed(let exchange, .busy)):
            return [.exchangeFailed(exchange: exchange, .busy(retryAfter: nil))]
        default: return [event]
        }
    }

    private func told(
        _ exchange: Int, _ answers: [KeyAnswer], asked: [Int: [String]], cancelled: [Int: [String]]
    ) -> KeyEvent {
        var exchange = exchange
        var answers = answers
        if self == .takesLateAnswers, let late = cancelled[exchange],
            let current = asked.keys.sorted().first(where: { asked[$0] == late })
        {
            exchange = current
        }
        if self == .takesForeignKeys, let names = asked[exchange] {
            answers = zip(names, answers).map { KeyAnswer($0, $1.outcome) }
        }
        answers = answers.map { KeyAnswer($0.identifier, outcome($0.outcome)) }
        return .answered(exchange: exchange, answers)
    }

    private func outcome(_ outcome: KeyAnswer.Outcome) -> KeyAnswer.Outcome {
        switch (self, outcome) {
        case (.retriesFatal, .failure(let failure)) where !failure.isPassing:
            .failure(.unreachable(reason: "mutant"))
        case (.ignoresRetryAfter, .failure(.busy)): .failure(.busy(retryAfter: nil))
        case (.takesAnyLength, .key(let terms, _)): .key(terms, byteCount: 16)
        case (.playbackFromArrival, .key(.persistable(let storage, let playback), let count)):
            .key(.persistable(storage: min(storage, playback), playback: playback), byteCount: count)
        case (.ignoresPlaybackExpiry, .key(.persistable(let storage, _), let count)):
            .key(.persistable(storage: storage, playback: KeyMachine.longestTerm), byteCount: count)
        case (.ignoresStorageExpiry, .key(.persistable(_, let playback), let count)):
            .key(.persistable(storage: KeyMachine.longestTerm, playback: playback), byteCount: count)
        default: outcome
        }
    }

    /// Returns the actions of a session with the fault.
    fileprivate func done(_ actions: [JSONValue]) -> [JSONValue] {
        switch self {
        case .silentAboutDelays: actions.filter { $0["action"] != "report" }
        case .reportsFatalAsPassing:
            actions.map { action in
                guard case .object(var members) = action, members["action"] == "refuse" else { return action }
                members["action"] = "report"
                return .object(members)
            }
        case .keepsReplacedKey: actions.filter { $0["action"] != "erase" }
        case .erasesBeforeStoring:
            actions.filter { $0["action"] == "erase" } + actions.filter { $0["action"] != "erase" }
        case .readsPastExpiry: actions.filter { $0["action"] != "endRead" }
        case .keepsExpiredInMemory: actions.filter { $0["action"] != "forget" }
        default: actions
        }
    }
}

extension StoredKey {
    fileprivate func changed(
        device: String? = nil, storage: Duration? = nil, playback: Duration? = nil, lastSeen: Duration? = nil
    ) -> StoredKey {
        StoredKey(
            identifier: identifier, device: device ?? self.device, generation: generation,
            storage: storage ?? self.storage, playback: playback ?? self.playback, receivedAt: receivedAt,
            firstUse: firstUse, lastSeen: lastSeen ?? self.lastSeen)
    }
}

/// A session with one injected fault, which proves that the scenarios would notice it.
package enum KeyMutant: String, CaseIterable, Hashable, Sendable {
    /// Gives up after a temporary failure.
    case neverRetries
    /// Asks again after a final refusal.
    case retriesFatal
    /// Asks again without a pause.
    case noBackOff
    /// Does not double the pause.
    case constantBackOff
    /// Asks again before the server wants it to.
    case ignoresRetryAfter
    /// Waits for an answer without a limit.
    case noTimeLimit
    /// Lets a reader wait without a limit.
    case endlessIdleTimeout
    /// Does not report temporary failures.
    case silentAboutDelays
    /// Reports a fatal error to readers as if it were temporary.
    case reportsFatalAsPassing
    /// Takes an answer that came too late.
    case takesLateAnswers
    /// Takes the key of another identifier.
    case takesForeignKeys
    /// Takes a key of any length.
    case takesAnyLength
    /// Asks for one identifier twice at the same time.
    case noCoalescing
    /// Asks for each key of a batch by itself.
    case noBatching
    /// Sends requests without waiting for others to go with them.
    case neverGathers
    /// Does not ask ahead of time.
    case ignoresPreloading
    /// Asks for the next key as soon as it learns of it.
    case noDispersal
    /// Spreads requests for the next key over all the time until it is needed, up to the last moment.
    case dispersesPastWindow
    /// Does not ask for the next key before it is needed.
    case ignoresRotation
    /// Keeps its keys when the route changes.
    case ignoresRoute
    /// Uses stored keys on every route.
    case persistableEverywhere
    /// Asks while there is no network.
    case ignoresNetworkLoss
    /// Does not ask again when there is a network.
    case staysOffline
    /// Starts the playback time when a key arrives.
    case playbackFromArrival
    /// Uses a stored key for longer than it may.
    case ignoresPlaybackExpiry
    /// Keeps a stored key unused for longer than it may.
    case ignoresStorageExpiry
    /// Leaves the old key beside the updated one.
    case keepsReplacedKey
    /// Erases the old key before the updated one is stored.
    case erasesBeforeStoring
    /// Lets a read go on with an expired key.
    case readsPastExpiry
    /// Uses another device's key.
    case ignoresDevice
    /// Believes a clock that was set back.
    case believesClock
    /// Leaves expired keys in memory.
    case keepsExpiredInMemory
    /// Asks again at once after a final refusal.
    case forgetsRefusals
    /// Answers readers after the session was closed.
    case ignoresClose
}
