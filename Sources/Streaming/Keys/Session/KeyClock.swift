import Glibc

/// The time that a session lives in.
public protocol KeyClock: Sendable {
    /// What the clocks show.
    func now() -> ClockSample

    /// Waits until the monotonic clock shows a time.
    ///
    /// - Throws: If the task is cancelled.
    func sleep(until monotonic: Duration) async throws
}

/// The machine's own clocks.
public struct SystemKeyClock: KeyClock {
    private let start = ContinuousClock.now

    /// Creates a clock that starts now.
    public init() {}

    /// What the clocks show; see ``KeyClock/now()``.
    public func now() -> ClockSample {
        ClockSample(monotonic: start.duration(to: .now), wall: WallClock.now())
    }

    /// Waits; see ``KeyClock/sleep(until:)``.
    public func sleep(until monotonic: Duration) async throws {
        try await Task.sleep(until: start + monotonic, clock: .continuous)
    }
}

/// The clock on the wall, which can be set.
package enum WallClock {
    /// The time since 1970-01-01 00:00 UTC. The corresponding C function is `clock_gettime`.
    package static func now() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }

    /// The same in whole milliseconds, as messages have it.
    package static func milliseconds() -> UInt64 { KeyTiming.milliseconds(now()) }
}

/// What two clocks show at one moment.
public struct ClockSample: Hashable, Sendable {
    /// Time since any start, by a monotonic clock.
    public let monotonic: Duration
    /// Time since 1970-01-01 00:00 UTC, by the clock on the wall, which can be set.
    public let wall: Duration

    /// Creates a reading.
    public init(monotonic: Duration, wall: Duration) {
        self.monotonic = monotonic
        self.wall = wall
    }
}

/// Compares the wall clock with the monotonic one, and never accepts that time went back.
struct RollbackGuard: Sendable {
    private(set) var latest: ClockSample?

    /// Notes a reading; one that is behind what is known changes nothing.
    mutating func observe(_ reading: ClockSample) {
        if reading.wall >= trusted(at: reading) { latest = reading }
    }

    /// Notes the latest time that was stored, before which it cannot be now.
    mutating func observe(stored wall: Duration, at reading: ClockSample) {
        if wall > trusted(at: reading) { latest = ClockSample(monotonic: reading.monotonic, wall: wall) }
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

/// When keys are asked for: pure functions of a policy and 64 random bits, for sessions and for simulations of millions
/// of them.
package enum KeyTiming {
    /// How long to wait before a failed request is sent again: doubled each time, then at most halved at random.
    ///
    /// - Parameters:
    ///   - attempt: How often the key was asked for, from 1.
    ///   - retryAfter: The minimum that the server asked for.
    ///   - policy: The first and the longest pause.
    ///   - bits: Uniform random bits.
    /// - Returns: The pause.
    package static func pause(attempt: Int, retryAfter: Duration?, policy: KeyPolicy, bits: UInt64) -> Duration {
        var full = policy.firstPause
        for _ in 1..<max(attempt, 1) where full < policy.longestPause { full *= 2 }
        full = min(full, policy.longestPause)
        let half = full / 2
        return max(half + share(of: half, bits), retryAfter ?? .zero)
    }

    /// A part of a time, uniform from zero to just below it, in whole nanoseconds.
    package static func share(of time: Duration, _ bits: UInt64) -> Duration {
        .nanoseconds(Int64(clamping: nanoseconds(time).multipliedFullWidth(by: bits).high))
    }

    /// A time in whole milliseconds, from 0.
    package static func milliseconds(_ time: Duration) -> UInt64 { nanoseconds(time) / 1_000_000 }

    /// A time in whole nanoseconds, from 0.
    package static func nanoseconds(_ time: Duration) -> UInt64 {
        let parts = time.components
        guard parts.seconds >= 0, parts.attoseconds >= 0 else { return 0 }
        let (whole, isOver) = UInt64(parts.seconds).multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isMore) = whole.addingReportingOverflow(UInt64(parts.attoseconds / 1_000_000_000))
        return isOver || isMore ? UInt64.max : sum
    }
}
