/// What became of a plan.
package struct KeyLoadResult: Hashable, Sendable {
    /// The most requests that reached the server within any second, retries included.
    package let peakPerSecond: Int
    /// All requests.
    package let requestCount: Int
    /// Those that were sent again, since the server had too much to do.
    package let retryCount: Int
    /// Clients that got the key.
    package let answeredCount: Int
    /// Clients that asked as often as they may, and got none.
    package let gaveUpCount: Int
    /// Clients that had to wait for the key with a picture to show.
    package let lateCount: Int
    /// How late keys were, as clients got them, in bins of ``KeyLoadSimulation/binNanoseconds``; index 0 is in time.
    package let lateness: [Int]
    /// Requests that reached the server in each second from the key's announcement on.
    package let requestsPerSecond: [Int]

    /// Sums up what was counted.
    ///
    /// - Parameters:
    ///   - arrivals: Requests that reached the server, by bin.
    ///   - retryCount: How many of them were sent again.
    ///   - gaveUpCount: Clients that got no key.
    ///   - lateness: Clients that got it, by the bins that it was late.
    package init(arrivals: [Int], retryCount: Int, gaveUpCount: Int, lateness: [Int]) {
        let binsPerSecond = Int(1_000_000_000 / KeyLoadSimulation.binNanoseconds)
        var (peak, sum) = (0, 0)
        for (bin, count) in arrivals.enumerated() {
            sum += count
            if bin >= binsPerSecond { sum -= arrivals[bin - binsPerSecond] }
            peak = max(peak, sum)
        }
        let answered = lateness.reduce(0, +)
        self.peakPerSecond = peak
        self.requestCount = arrivals.reduce(0, +)
        self.retryCount = retryCount
        self.answeredCount = answered
        self.gaveUpCount = gaveUpCount
        self.lateCount = answered - (lateness.first ?? 0)
        self.lateness = lateness
        self.requestsPerSecond = stride(from: 0, to: arrivals.count, by: binsPerSecond).map { start in
            arrivals[start..<min(start + binsPerSecond, arrivals.count)].reduce(0, +)
        }
    }

    /// How late the key was for the client that is that far down in the order, in nanoseconds, rounded up to a bin.
    ///
    /// Clients that gave up are behind all others. By nearest rank, as `percentile` in `Statistics`.
    /// - Parameter percent: In tenths of a percent, from 1 to 1000.
    /// - Returns: The lateness, or `nil` if that client got no key.
    package func lateness(tenthsOfPercent percent: Int) -> UInt64? {
        precondition((1...1000).contains(percent), "a percentile lies between 1 and 1000 tenths of a percent")
        let rank = ((answeredCount + gaveUpCount) * percent + 999) / 1000
        var seen = 0
        for (bin, count) in lateness.enumerated() {
            seen += count
            if seen >= rank { return UInt64(bin) * KeyLoadSimulation.binNanoseconds }
        }
        return nil
    }
}
