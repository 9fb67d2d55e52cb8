import Glibc

/// The clocks that a session uses.
public protocol KeyClock: Sendable {
    /// Returns the time of both clocks.
    func now() -> ClockSample

    /// Waits until the monotonic clock shows a time.
    ///
    /// - Throws: An error if the task is cancelled.
    func sleep(until monotonic: Duration) async throws
}

/// The machine's own clocks.
public struct SystemKeyClock: KeyClock {
    private let start = ContinuousClock.now

    /// The monotonic clock starts at zero now.
    public init() {}

    /// Returns the time of both clocks; see ``KeyClock/now()``.
    public func now() -> ClockSample {
        ClockSample(monotonic: start.duration(to: .now), wall: WallClock.now())
    }

    /// Waits; see ``KeyClock/sleep(until:)``.
    public func sleep(until monotonic: Duration) async throws {
        try await Task.sleep(until: start + monotonic, clock: .continuous)
    }
}

/// The wall clock, which the user can set.
package enum WallClock {
    /// Returns the time since 1970-01-01 00:00 UTC. The corresponding C function is `clock_gettime`.
    package static func now() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }

    /// Returns the same in whole milliseconds, the unit of messages.
    package static func milliseconds() -> UInt64 { KeyTiming.milliseconds(now()) }
}

/// The readings of two clocks at one moment.
public struct ClockSample: Hashable, Sendable {
    /// The time since an arbitrary start, by a monotonic clock.
    public let monotonic: Duration
    /// The time since 1970-01-01 00:00 UTC, by the wall clock, which the user can set.
    public let wall: Duration

    /// Both readings are of the same moment.
    public init(monotonic: Duration, wall: Duration) {
        self.monotonic = monotonic
        self.wall = wall
    }
}

/// Compares the wall clock with the monotonic one, and never accepts that time went back.
struct RollbackGuard: Sendable {
    private(set) var latest: ClockSample?

    /// Records a reading, unless it is behind the trusted time.
    mutating func observe(_ reading: ClockSample) {
        if reading.wall >= trusted(at: reading) { latest = reading }
    }

    /// Records the latest stored time; the current time cannot be before it.
    mutating func observe(stored wall: Duration, at reading: ClockSample) {
        if wall > trusted(at: reading) { latest = ClockSample(monotonic: reading.monotonic, wall: wall) }
    }

    /// Returns the later of two times: the wall clock's reading, and the time that it must show by now.
    func trusted(at reading: ClockSample) -> Duration {
        guard let latest else { return reading.wall }
        return max(reading.wall, latest.wall + (reading.monotonic - latest.monotonic))
    }

    /// Returns the time by which the wall clock is behind the trusted time.
    func setBack(at reading: ClockSample) -> Duration {
        trusted(at: reading) - reading.wall
    }

    /// Returns the monotonic time at which the wall clock reaches a time; `nil` before the first reading.
    func monotonic(atWall wall: Duration) -> Duration? {
        latest.map { $0.monotonic + (wall - $0.wall) }
    }
}

/// The times at which a session asks for keys: pure functions of a policy and 64 random bits. Sessions use them, and so
/// do simulations of millions of sessions.
package enum KeyTiming {
    /// Returns the pause before a failed request is sent again. It doubles each time, and is then shortened at random
    /// by at most half.
    ///
    /// - Parameters:
    ///   - attempt: The number of requests for the key so far, from 1.
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

    /// Returns a part of a time, uniform from zero to just below it, in whole nanoseconds.
    package static func share(of time: Duration, _ bits: UInt64) -> Duration {
        .nanoseconds(Int64(clamping: nanoseconds(time).multipliedFullWidth(by: bits).high))
    }

    /// Returns a time in whole milliseconds, at least 0.
    package static func milliseconds(_ time: Duration) -> UInt64 { nanoseconds(time) / 1_000_000 }

    /// Returns a time in whole nanoseconds, at least 0.
    package static func nanoseconds(_ time: Duration) -> UInt64 {
        let parts = time.components
        guard parts.seconds >= 0, parts.attoseconds >= 0 else { return 0 }
        let (whole, isOver) = UInt64(parts.seconds).multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isMore) = whole.addingReportingOverflow(UInt64(parts.attoseconds / 1_000_000_000))
        return isOver || isMore ? UInt64.max : sum
    }
}
