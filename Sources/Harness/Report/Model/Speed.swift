package import Statistics

/// Throughput of a cell: plaintext bytes delivered in an iteration ÷ the iteration's time.
package struct Speed: Hashable, Sendable {
    /// The median time of an iteration in nanoseconds, with its 95 % interval.
    package var nanoseconds: MedianInterval
    /// Plaintext bytes per second at the median time.
    package var bytesPerSecond: UInt64
    /// Plaintext bytes per second at the upper end of the time's interval.
    package var bytesPerSecondLow: UInt64
    /// Plaintext bytes per second at the lower end of the time's interval.
    package var bytesPerSecondHigh: UInt64
    /// How many processes were timed: one alone says nothing about the spread between processes.
    package var processCount: Int

    /// Whether the interval means something.
    package var hasInterval: Bool { processCount > 1 }

    /// The interval in words, or why there is none.
    var rangeText: String {
        hasInterval ? ByteCountText.rateRange(bytesPerSecondLow, bytesPerSecondHigh) : "one process, no interval"
    }

    /// Creates a throughput, or returns `nil` if nothing was timed, delivered, or long enough for the clock.
    init?(rounds: [[UInt64]], deliveredByteCount: UInt64, seed: UInt64) {
        guard deliveredByteCount > 0, let interval = MedianInterval(rounds: rounds, seed: seed), interval.low >= 1
        else { return nil }
        func rate(_ nanoseconds: Double) -> UInt64 {
            UInt64((Double(deliveredByteCount) / nanoseconds * 1e9).rounded())
        }
        // Beyond this a rate does not fit 64 bits; such a time is a broken clock and not a speed.
        guard Double(deliveredByteCount) / interval.low < 1e10 else { return nil }
        nanoseconds = interval
        bytesPerSecond = rate(interval.median)
        bytesPerSecondLow = rate(interval.high)
        bytesPerSecondHigh = rate(interval.low)
        processCount = rounds.filter { !$0.isEmpty }.count
    }

    /// Says whether the data do not tell which of two is faster: their intervals of throughput have a point in common.
    ///
    /// Without an interval nothing can be called a tie; the medians differ as far as they differ.
    package func ties(with other: Speed) -> Bool {
        if self == other { return true }
        guard hasInterval, other.hasInterval else { return false }
        return bytesPerSecondLow <= other.bytesPerSecondHigh && other.bytesPerSecondLow <= bytesPerSecondHigh
    }
}
