#if Network
package import Keys

/// A clock that runs faster than the machine's: what is written as a minute passes in seconds.
package struct ScaledKeyClock: KeyClock {
    /// How many seconds of this clock pass in one of the machine's.
    package let speed: Int

    private let start = ContinuousClock.now

    /// Creates a clock that shows zero now.
    ///
    /// - Parameter speed: How many seconds of it pass in one of the machine's, at least 1.
    package init(speed: Int) {
        precondition(speed >= 1, "a clock of speed \(speed)")
        self.speed = speed
    }

    /// What the clock shows; the one on the wall starts at 2023-11-14 22:13:20 UTC. See `KeyClock.now()`.
    package func now() -> ClockSample {
        let time = start.duration(to: .now) * speed
        return ClockSample(monotonic: time, wall: .seconds(1_700_000_000) + time)
    }

    /// Waits; see `KeyClock.sleep(until:)`.
    package func sleep(until monotonic: Duration) async throws {
        try await Task.sleep(until: start + monotonic / speed, tolerance: .zero, clock: .continuous)
    }
}
#endif
