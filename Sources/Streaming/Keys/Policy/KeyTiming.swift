/// When keys are asked for: pure functions of a policy and 64 random bits, for sessions and for simulations of millions
/// of them.
package enum KeyTiming {
    /// How long to wait before a failed request is sent again: doubled each time, then at most halved at random.
    ///
    /// - Parameters:
    ///   - attempt: How often the key was asked for, from 1.
    ///   - retryAfter: The least that the server asked for.
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

    /// A time in whole nanoseconds, from 0.
    package static func nanoseconds(_ time: Duration) -> UInt64 {
        let parts = time.components
        guard parts.seconds >= 0, parts.attoseconds >= 0 else { return 0 }
        let (whole, isOver) = UInt64(parts.seconds).multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isMore) = whole.addingReportingOverflow(UInt64(parts.attoseconds / 1_000_000_000))
        return isOver || isMore ? UInt64.max : sum
    }
}
