import Statistics

/// The decisions of a session, without keys, clocks or waiting. Events go in and actions come out; the same events at
/// the same times lead to the same actions.
///
/// Its driver carries out the actions in order. It calls the machine again when something happens, and at
/// ``nextDeadline``.
package struct KeyMachine: Sendable {
    /// The max duration in a key's terms; longer ones are cut to it.
    package static let longestTerm = Duration.seconds(100 * 366 * 86_400)

    /// The timing and limits of requests.
    package let policy: KeyPolicy
    /// The device that stored keys are bound to.
    package let device: String

    var random: SplitMix64
    var watch = RollbackGuard()
    var route: KeyRoute
    var isOnline = true
    var isClosed = false
    var hasNoticedClock = false
    var lastExchange = 0
    var entries: [String: KeyEntry] = [:]
    var flights: [Int: InFlightRequest] = [:]
    var uses: [Int: KeyUse] = [:]
    var actions: [KeyAction] = []

    /// - Parameters:
    ///   - policy: The timing and limits of requests.
    ///   - device: The device that stored keys are bound to.
    ///   - seed: The seed of all jitter.
    ///   - route: The output that plaintext goes to first.
    package init(policy: KeyPolicy, device: String, seed: UInt64, route: KeyRoute = .local) {
        self.policy = policy
        self.device = device
        self.random = SplitMix64(seed: seed)
        self.route = route
    }

    /// Handles an event.
    ///
    /// The machine first does everything that fell due before the event: an answer at its deadline is late.
    /// - Parameters:
    ///   - event: The event.
    ///   - now: Its time; the monotonic clock must not go back between calls.
    /// - Returns: The actions to carry out, in order.
    package mutating func handle(_ event: KeyEvent, at now: ClockSample) -> [KeyAction] {
        actions = []
        defer { actions = [] }
        if !isClosed {
            watch.observe(now)
            noticeClock(now)
            passTime(now)
        }
        take(event, now)
        if !isClosed { flush(now.monotonic) }
        return actions
    }

    private mutating func take(_ event: KeyEvent, _ now: ClockSample) {
        if isClosed { return refuseAfterClose(event) }
        switch event {
        case .want(let reader, let identifiers): want(reader, identifiers, now)
        case .abandon(let reader): abandon(reader)
        case .preload(let identifiers): ask(ahead: identifiers, persistable: false, now)
        case .persist(let identifiers): ask(ahead: identifiers, persistable: true, now)
        case .rotation(let identifier, let appearsIn): rotate(identifier, appearsIn, now)
        case .retire(let identifiers): retire(identifiers)
        case .answered(let exchange, let answers): take(answers, of: exchange, now)
        case .exchangeFailed(let exchange, let failure): fail(exchange: exchange, failure, now)
        case .routeChanged(let route): change(to: route, now)
        case .networkLost: loseNetwork(now)
        case .networkFound: findNetwork(now)
        case .found(let stored): find(stored, now)
        case .foundUnusable(let identifier, let failure): findUnusable(identifier, failure)
        case .readBegan(let read, let identifier): begin(read, identifier, now)
        case .readEnded(let read): end(read)
        case .tick: break
        case .close: close(now)
        }
    }

    /// Calls a function with the entry of a key, and creates the entry if there is none.
    mutating func update<Value>(_ identifier: String, _ body: (inout KeyEntry) -> Value) -> Value {
        body(&entries[identifier, default: KeyEntry()])
    }

    /// Ends the wait of all readers of a key, in the order in which they came.
    ///
    /// - Parameters:
    ///   - identifier: The key.
    ///   - action: Returns the action for a reader.
    /// - Returns: True if there were any.
    @discardableResult
    mutating func release(_ identifier: String, _ action: (_ reader: Int) -> KeyAction) -> Bool {
        guard let waiting = entries[identifier]?.waiting, !waiting.isEmpty else { return false }
        actions += waiting.map { action($0.reader) }
        entries[identifier]?.waiting = []
        return true
    }

    /// All identifiers, sorted, so that the order depends on nothing else.
    var identifiers: [String] { entries.keys.sorted() }
}

/// A session's knowledge of one key.
struct KeyEntry: Sendable {
    /// The state of the request for the key.
    enum Phase: Hashable, Sendable {
        /// The session does not ask for the key.
        case idle
        /// The session will ask at this time of the monotonic clock.
        case due(Duration)
        /// An exchange with this number asks for the key.
        case inFlight(Int)
    }

    /// A reader that waits.
    struct Waiting: Hashable, Sendable {
        let reader: Int
        let since: Duration
    }

    /// A key for the session and its route.
    struct OnlineKey: Hashable, Sendable {
        /// The expiry by the monotonic clock; `nil` if the key does not expire.
        let expiry: Duration?
    }

    var phase = Phase.idle
    /// The number of requests since ``startOver()``.
    var attempts = 0
    var waiting: [Waiting] = []
    var online: OnlineKey?
    var stored: StoredKey?
    var wantsPersistable = false
    /// The reason why a stored key cannot be used. Readers without a network get it.
    var spent: KeyFailure?
    /// The failure of the last exchange, if the session asks again.
    var lastFailure: KeyFailure?
    /// A refusal, and the time until which it is final.
    var refusal: (failure: KeyFailure, until: Duration)?

    var dueTime: Duration? {
        if case .due(let time) = phase { time } else { nil }
    }

    var exchange: Int? {
        if case .inFlight(let exchange) = phase { exchange } else { nil }
    }

    /// Resets the results of all requests so far.
    mutating func startOver() {
        attempts = 0
        lastFailure = nil
        refusal = nil
    }
}

/// An exchange without an answer so far.
struct InFlightRequest: Sendable {
    let identifiers: [String]
    let deadline: Duration
}

/// A read that delivers plaintext.
struct KeyUse: Sendable {
    let identifier: String
    let kind: KeyKind
}

extension KeyMachine {
    /// The latest time, by the monotonic clock, for the next call of ``handle(_:at:)``.
    package var nextDeadline: Duration? {
        guard !isClosed else { return nil }
        var times = flights.values.map(\.deadline)
        for entry in entries.values {
            if isOnline, let due = entry.dueTime { times.append(due) }
            times += entry.waiting.map { $0.since + policy.idleTimeout }
            if let expiry = entry.online?.expiry { times.append(expiry) }
            if let stored = entry.stored, let expiry = watch.monotonic(atWall: stored.expiry) { times.append(expiry) }
        }
        for use in uses.values where use.kind == .persistable {
            guard let stored = entries[use.identifier]?.stored, let paid = watch.monotonic(atWall: stored.lastSeen)
            else { continue }
            times.append(paid)
        }
        return times.min()
    }

    /// Handles all that fell due: missing answers, readers that waited for too long, and expired keys.
    mutating func passTime(_ now: ClockSample) {
        for exchange in flights.keys.sorted() {
            guard let flight = flights[exchange], flight.deadline <= now.monotonic else { continue }
            flights[exchange] = nil
            actions.append(.cancel(exchange: exchange))
            for identifier in flight.identifiers { fail(identifier, .timedOut(after: policy.deadline), now) }
        }
        for identifier in identifiers {
            tellImpatient(identifier, now)
            expireOnline(identifier, now)
            expireStored(identifier, now)
        }
    }

    /// Reports that the wall clock was set back: once, and again only if the clock was right in between.
    mutating func noticeClock(_ now: ClockSample) {
        let behind = watch.setBack(at: now)
        let isBehind = behind > policy.clockTolerance
        if isBehind, !hasNoticedClock { actions.append(.notice(.clockSetBack(by: behind))) }
        hasNoticedClock = isBehind
    }

    private mutating func tellImpatient(_ identifier: String, _ now: ClockSample) {
        guard let waiting = entries[identifier]?.waiting, !waiting.isEmpty else { return }
        let idleTimeout = policy.idleTimeout
        for reader in waiting where reader.since + idleTimeout <= now.monotonic {
            actions.append(.refuse(reader: reader.reader, identifier: identifier, .waitedTooLong(idleTimeout)))
        }
        update(identifier) { $0.waiting.removeAll { $0.since + idleTimeout <= now.monotonic } }
    }

    private mutating func expireOnline(_ identifier: String, _ now: ClockSample) {
        guard let expiry = entries[identifier]?.online?.expiry, expiry <= now.monotonic else { return }
        update(identifier) { $0.online = nil }
        endReads(of: identifier, .online, .validityExpired)
        actions.append(.forget(identifier: identifier, .online))
    }

    private mutating func expireStored(_ identifier: String, _ now: ClockSample) {
        guard let stored = entries[identifier]?.stored else { return }
        if watch.trusted(at: now) >= stored.expiry {
            update(identifier) {
                $0.stored = nil
                $0.spent = stored.expiryFailure
            }
            endReads(of: identifier, .persistable, stored.expiryFailure)
            actions.append(.forget(identifier: identifier, .persistable))
            actions.append(.erase(identifier: identifier, generation: stored.generation))
        } else if let failure = self.failure(of: stored, now) {
            endReads(of: identifier, .persistable, failure)
        } else if usesStored(identifier) {
            payAhead(identifier, now)
        }
    }
}
