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
    /// The most keys in one exchange.
    public var maxBatchCount: Int
    /// Over how long requests are dispersed before a key appears in a live playlist.
    public var dispersalWindow: Duration
    /// How long before that the last of them is sent.
    public var leadTime: Duration
    /// For how long a refusal is final, and nobody asked again.
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
