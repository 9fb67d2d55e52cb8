/// The timing and limits of a session's requests for keys.
public struct KeyPolicy: Hashable, Sendable {
    /// The max duration of one exchange with the provider.
    public var deadline: Duration
    /// The max time that a reader waits for a key, whatever happens meanwhile.
    public var idleTimeout: Duration
    /// The max number of requests for a key while its failures are temporary.
    public var attempts: Int
    /// The pause before the second request. It doubles with each further one.
    public var firstPause: Duration
    /// The longest such pause, unless the server asks for more.
    public var longestPause: Duration
    /// The time for which a request is held, so that others can go with it.
    public var gatherTime: Duration
    /// The max number of keys in one exchange.
    public var maxBatchCount: Int
    /// The time over which clients spread their requests before a key appears in a live playlist.
    public var dispersalWindow: Duration
    /// The time between the last of these requests and the key's appearance.
    public var leadTime: Duration
    /// The time for which a refusal is final. Until then the session does not ask for the key again.
    public var refusalMemory: Duration
    /// The max time by which the wall clock may be behind. Beyond it, stored keys are not used.
    public var clockTolerance: Duration

    /// Values out of range are clamped, so that every policy asks at least once and gives up at some time.
    public init(
        deadline: Duration = .seconds(10), idleTimeout: Duration = .seconds(60), attempts: Int = 4,
        firstPause: Duration = .milliseconds(500), longestPause: Duration = .seconds(30), gatherTime: Duration = .zero,
        maxBatchCount: Int = 32, dispersalWindow: Duration = .seconds(60), leadTime: Duration = .seconds(2),
        refusalMemory: Duration = .seconds(10), clockTolerance: Duration = .seconds(300)
    ) {
        self.deadline = max(deadline, .milliseconds(1))
        self.idleTimeout = max(idleTimeout, .milliseconds(1))
        self.attempts = max(attempts, 1)
        self.firstPause = max(firstPause, .zero)
        self.longestPause = max(longestPause, .zero)
        self.gatherTime = max(gatherTime, .zero)
        self.maxBatchCount = max(maxBatchCount, 1)
        self.dispersalWindow = max(dispersalWindow, .zero)
        self.leadTime = max(leadTime, .zero)
        self.refusalMemory = max(refusalMemory, .zero)
        self.clockTolerance = max(clockTolerance, .zero)
    }
}

/// The time for which a key may be used.
public enum KeyTerms: Hashable, Sendable {
    /// A key that is never stored. It is valid for a time from its arrival, or for as long as the session lives.
    case online(validity: Duration?)
    /// A key that may be stored. It may stay unused for `storage` from its arrival; from its first use on, `playback`
    /// counts instead.
    case persistable(storage: Duration, playback: Duration)

    /// The kind of key that the terms are for.
    package var kind: KeyKind {
        switch self {
        case .online: .online
        case .persistable: .persistable
        }
    }
}

/// The two kinds of keys: those that live with the session, and those that may be stored.
public enum KeyKind: String, CaseIterable, Hashable, Sendable {
    /// A key for this session and its route only.
    case online
    /// A key that may be stored and is bound to a device.
    case persistable
}

/// The time at which a client asks for a key before it appears in a live playlist, spread evenly over a window.
///
/// The window ends `leadTime` before the key appears. If there is less time, the window is cut at both ends. All times
/// are whole nanoseconds from the moment at which the client learns of the key.
package struct KeyDispersal: Hashable, Sendable {
    /// The window's start.
    package let startNanoseconds: UInt64
    /// The window's length; 0 if there is no time for one.
    package let windowNanoseconds: UInt64

    /// - Parameters:
    ///   - appearsIn: The time until the key appears.
    ///   - policy: The window and the lead time.
    package init(appearsIn: Duration, policy: KeyPolicy) {
        let left = KeyTiming.nanoseconds(appearsIn)
        let lead = min(KeyTiming.nanoseconds(policy.leadTime), left)
        windowNanoseconds = min(KeyTiming.nanoseconds(policy.dispersalWindow), left - lead)
        startNanoseconds = left - lead - windowNanoseconds
    }

    /// Returns the time at which a client asks.
    ///
    /// - Parameter bits: Uniform random bits.
    /// - Returns: A time from the window's start to just before its end.
    package func nanoseconds(bits: UInt64) -> UInt64 {
        startNanoseconds + windowNanoseconds.multipliedFullWidth(by: bits).high
    }
}

/// The output that plaintext goes to: this device's own, or another device's that needs keys of its own.
public struct KeyRoute: Hashable, Sendable {
    /// The route's name in messages and requests to servers.
    public let name: String
    /// True if keys that are bound to this device may be used on the route.
    public let acceptsPersistable: Bool

    /// A route that servers know by `name`.
    public init(_ name: String, acceptsPersistable: Bool) {
        self.name = name
        self.acceptsPersistable = acceptsPersistable
    }

    /// The device's own output.
    public static let local = KeyRoute("local", acceptsPersistable: true)
}
