import Glibc

/// What a simulated remote store takes time from.
public protocol RemoteClock: Sendable {
    /// The time, in nanoseconds from wherever the clock starts.
    var nanoseconds: UInt64 { get }

    /// Waits until a time; not at all if it is over.
    func sleep(until nanoseconds: UInt64)
}

/// The monotonic clock of the system. The corresponding C functions are `clock_gettime` and `clock_nanosleep`.
public struct SystemClock: RemoteClock {
    /// Creates a clock.
    public init() {}

    /// Nanoseconds since some moment in the past.
    public var nanoseconds: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// Waits until a time; the kernel adds some ten microseconds.
    public func sleep(until nanoseconds: UInt64) {
        var time = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) == EINTR {}
    }
}
