/// The time that a session lives in.
public protocol KeyClock: Sendable {
    /// What the clocks show.
    func now() -> ClockSample

    /// Waits until the clock that nobody can set shows a time.
    ///
    /// - Throws: If the task is cancelled.
    func sleep(until monotonic: Duration) async throws
}

/// The machine's own clocks.
public struct SystemKeyClock: KeyClock {
    private let start = ContinuousClock.now
    private let wall: @Sendable () -> Duration

    /// Creates a clock that starts now.
    ///
    /// - Parameter wall: Tells the time since 1970-01-01 00:00 UTC, which this target has no way to ask for.
    public init(wall: @escaping @Sendable () -> Duration) {
        self.wall = wall
    }

    /// What the clocks show; see ``KeyClock/now()``.
    public func now() -> ClockSample {
        ClockSample(monotonic: start.duration(to: .now), wall: wall())
    }

    /// Waits; see ``KeyClock/sleep(until:)``.
    public func sleep(until monotonic: Duration) async throws {
        try await Task.sleep(until: start + monotonic, clock: .continuous)
    }
}
