import Statistics

/// A session's decisions, without keys, clocks or waiting: events go in, actions come out, and the same events at the
/// same times lead to the same actions.
///
/// Its driver carries the actions out in order and calls it again when something happens, and at ``nextDeadline``.
package struct KeyMachine: Sendable {
    /// The longest time that a key's terms may name; what is longer means this.
    package static let longestTerm = Duration.seconds(100 * 366 * 86_400)

    /// How keys are asked for.
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

    /// Creates a session that knows no key.
    ///
    /// - Parameters:
    ///   - policy: How keys are asked for.
    ///   - device: The device that stored keys are bound to.
    ///   - seed: What all jitter follows from.
    ///   - route: Where plaintext goes first.
    package init(policy: KeyPolicy, device: String, seed: UInt64, route: KeyRoute = .local) {
        self.policy = policy
        self.device = device
        self.random = SplitMix64(seed: seed)
        self.route = route
    }

    /// Takes in what happened.
    ///
    /// What fell due before it happened is done first: an answer at its deadline is late.
    /// - Parameters:
    ///   - event: What happened.
    ///   - now: When; the monotonic clock must not go back between calls.
    /// - Returns: What to do, in order.
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

    /// Calls a function with what is known about a key, which then is known.
    mutating func update<Value>(_ identifier: String, _ body: (inout KeyEntry) -> Value) -> Value {
        body(&entries[identifier, default: KeyEntry()])
    }

    /// Lets all readers of a key go, in the order in which they came.
    ///
    /// - Parameters:
    ///   - identifier: The key.
    ///   - action: What is done for a reader.
    /// - Returns: Whether there were any.
    @discardableResult
    mutating func release(_ identifier: String, _ action: (_ reader: Int) -> KeyAction) -> Bool {
        guard let waiting = entries[identifier]?.waiting, !waiting.isEmpty else { return false }
        actions += waiting.map { action($0.reader) }
        entries[identifier]?.waiting = []
        return true
    }

    /// All identifiers, in an order that depends on nothing else.
    var identifiers: [String] { entries.keys.sorted() }
}

/// What a session knows about one key.
struct KeyEntry: Sendable {
    /// Whether the key is asked for.
    enum Phase: Hashable, Sendable {
        /// It is not.
        case idle
        /// It will be, at a time of the monotonic clock.
        case due(Duration)
        /// It is, in an exchange.
        case inFlight(Int)
    }

    /// A reader that waits.
    struct Waiting: Hashable, Sendable {
        let reader: Int
        let since: Duration
    }

    /// A key for the session and its route.
    struct OnlineKey: Hashable, Sendable {
        /// By the monotonic clock; `nil` for one that does not expire.
        let expiry: Duration?
    }

    var phase = Phase.idle
    /// How often the key was asked for since the last end of all asking.
    var attempts = 0
    var waiting: [Waiting] = []
    var online: OnlineKey?
    var stored: StoredKey?
    var wantsPersistable = false
    /// Why a key that was stored is of no use, which is what a reader without a network is told.
    var spent: KeyFailure?
    /// What the last exchange failed with, if the key is asked for again.
    var lastFailure: KeyFailure?
    /// A refusal, and until when it is final.
    var refusal: (failure: KeyFailure, until: Duration)?

    var dueTime: Duration? {
        if case .due(let time) = phase { time } else { nil }
    }

    var exchange: Int? {
        if case .inFlight(let exchange) = phase { exchange } else { nil }
    }

    /// Forgets what asking led to so far.
    mutating func startOver() {
        attempts = 0
        lastFailure = nil
        refusal = nil
    }
}

/// An exchange that is not answered yet.
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
    /// When ``handle(_:at:)`` must be called again at the latest, by the monotonic clock.
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

    /// Does what fell due: answers that did not come, readers that waited for too long, keys that expired.
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

    /// Says once that the clock on the wall was set back, and again after it had been right.
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
