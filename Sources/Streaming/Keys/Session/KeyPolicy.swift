/// How a session asks for keys.
public struct KeyPolicy: Hashable, Sendable {
    /// How long one exchange with the provider may take.
    public var deadline: Duration
    /// How long a reader waits for a key, whatever happens meanwhile.
    public var idleTimeout: Duration
    /// How often a key is asked for, at most, if what fails can pass.
    public var attempts: Int
    /// The pause before it is asked for again; doubled each time.
    public var firstPause: Duration
    /// The longest such pause, unless the server asks for more.
    public var longestPause: Duration
    /// How long a request is held, so that others go with it.
    public var gatherTime: Duration
    /// The max number of keys in one exchange.
    public var maxBatchCount: Int
    /// Over how long requests are dispersed before a key appears in a live playlist.
    public var dispersalWindow: Duration
    /// How long before that the last of them is sent.
    public var leadTime: Duration
    /// For how long a refusal is final, and the key is not asked for again.
    public var refusalMemory: Duration
    /// How far the clock on the wall may be behind before stored keys are not to be used.
    public var clockTolerance: Duration

    /// Creates a policy; what is out of range is brought into it, so that no policy asks never or without end.
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

/// How long a key may be used.
public enum KeyTerms: Hashable, Sendable {
    /// A key that is never stored, for a time from its arrival, or for as long as the session lives.
    case online(validity: Duration?)
    /// A key that may be stored: for a time from its arrival while it is unused, and for another one from its first
    /// use on, which takes the first one's place.
    case persistable(storage: Duration, playback: Duration)

    /// Which kind of key the terms are for.
    package var kind: KeyKind {
        switch self {
        case .online: .online
        case .persistable: .persistable
        }
    }
}

/// Whether a key lives with the session or may be stored.
public enum KeyKind: String, CaseIterable, Hashable, Sendable {
    /// For this session and its route only.
    case online
    /// Stored and bound to a device.
    case persistable
}

/// When, in the time before a key appears in a live playlist, its clients ask for it: evenly over a window.
///
/// The window ends `leadTime` before the key appears, or is cut at both ends by the time that is left. All times are whole
/// nanoseconds from the moment on when the client knows.
package struct KeyDispersal: Hashable, Sendable {
    /// When the window begins.
    package let startNanoseconds: UInt64
    /// How long it is; 0 if there is no time for one.
    package let windowNanoseconds: UInt64

    /// Places the window.
    ///
    /// - Parameters:
    ///   - appearsIn: How long it is until the key appears.
    ///   - policy: The window and the lead time.
    package init(appearsIn: Duration, policy: KeyPolicy) {
        let left = KeyTiming.nanoseconds(appearsIn)
        let lead = min(KeyTiming.nanoseconds(policy.leadTime), left)
        windowNanoseconds = min(KeyTiming.nanoseconds(policy.dispersalWindow), left - lead)
        startNanoseconds = left - lead - windowNanoseconds
    }

    /// When a client asks.
    ///
    /// - Parameter bits: Uniform random bits.
    /// - Returns: From the window's start to just before its end.
    package func nanoseconds(bits: UInt64) -> UInt64 {
        startNanoseconds + windowNanoseconds.multipliedFullWidth(by: bits).high
    }
}

/// Where plaintext goes: this device's own output, or another one's that needs keys of its own.
public struct KeyRoute: Hashable, Sendable {
    /// The name that servers and messages know the route by.
    public let name: String
    /// Whether keys that are bound to this device may be used on it.
    public let acceptsPersistable: Bool

    /// Creates a route.
    public init(_ name: String, acceptsPersistable: Bool) {
        self.name = name
        self.acceptsPersistable = acceptsPersistable
    }

    /// The device's own output.
    public static let local = KeyRoute("local", acceptsPersistable: true)
}
