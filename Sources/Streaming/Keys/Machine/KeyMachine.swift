import Statistics

/// A session's decisions, without keys, clocks or waiting: events go in, actions come out, and the same events at the
/// same times lead to the same actions.
///
/// Whoever drives it carries the actions out in order and calls it again when something happens, and at ``nextDeadline``.
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
        case .readEnded(let read): end(read, now)
        case .tick: break
        case .close: close()
        }
    }

    /// Calls a function with what is known about a key, which then is known.
    mutating func update<Value>(_ identifier: String, _ body: (inout KeyEntry) -> Value) -> Value {
        body(&entries[identifier, default: KeyEntry()])
    }

    /// All identifiers, in an order that depends on nothing else.
    var identifiers: [String] { entries.keys.sorted() }
}
