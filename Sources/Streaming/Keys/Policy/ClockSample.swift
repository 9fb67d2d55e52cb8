/// What two clocks show at one moment.
public struct ClockSample: Hashable, Sendable {
    /// Time since any start, by a clock that nobody can set.
    public let monotonic: Duration
    /// Time since 1970-01-01 00:00 UTC, by the clock on the wall, which can be set.
    public let wall: Duration

    /// Creates a reading.
    public init(monotonic: Duration, wall: Duration) {
        self.monotonic = monotonic
        self.wall = wall
    }
}

/// Watches the clock on the wall with one that nobody can set, and never believes that time went back.
struct RollbackGuard: Sendable {
    private(set) var latest: ClockSample?

    /// Notes a reading; one that is behind what is known changes nothing.
    mutating func observe(_ reading: ClockSample) {
        if reading.wall >= trusted(at: reading) { latest = reading }
    }

    /// The later of what the clock shows and what it must show by now.
    func trusted(at reading: ClockSample) -> Duration {
        guard let latest else { return reading.wall }
        return max(reading.wall, latest.wall + (reading.monotonic - latest.monotonic))
    }

    /// How far the clock is behind what it must show.
    func setBack(at reading: ClockSample) -> Duration {
        trusted(at: reading) - reading.wall
    }

    /// When the other clock shows what this one will have reached by then.
    func monotonic(atWall wall: Duration) -> Duration? {
        latest.map { $0.monotonic + (wall - $0.wall) }
    }
}
