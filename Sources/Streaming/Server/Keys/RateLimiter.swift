#if Network
import Synchronization

/// Lets each client have so many keys a second, and a number of them at once.
///
/// A bucket of tokens for each client: it holds at most `burst` and fills evenly.
final class RateLimiter: Sendable {
    private struct Bucket {
        var tokens: Double
        var at: Duration
    }

    /// How many clients are remembered before those are forgotten whose buckets are full.
    private static let maxClients = 10_000

    private let rate: Double
    private let burst: Double
    private let buckets = Mutex<[String: Bucket]>([:])

    /// Creates a limiter.
    ///
    /// - Parameters:
    ///   - rate: Keys a second, more than 0.
    ///   - burst: The most keys at once, at least 1.
    init(rate: Double, burst: Int) {
        self.rate = rate
        self.burst = Double(burst)
    }

    /// Takes tokens out of a client's bucket; more than it ever holds cost what it holds.
    ///
    /// - Parameters:
    ///   - count: How many keys are asked for.
    ///   - client: Who asks.
    ///   - now: The time, by a clock that nobody can set.
    /// - Returns: `nil` if there were enough, or how long it takes until there are.
    func wait(for count: Int, by client: String, at now: Duration) -> Duration? {
        let cost = min(Double(count), burst)
        return buckets.withLock { buckets in
            if buckets.count >= Self.maxClients, buckets[client] == nil {
                buckets = buckets.filter { filled($0.value, now).tokens < burst }
            }
            // Where all of so many are busy, nobody new is served.
            guard buckets.count < Self.maxClients || buckets[client] != nil else { return .seconds(burst / rate) }
            var bucket = filled(buckets[client] ?? Bucket(tokens: burst, at: now), now)
            defer { buckets[client] = bucket }
            guard bucket.tokens < cost else {
                bucket.tokens -= cost
                return nil
            }
            return .seconds((cost - bucket.tokens) / rate)
        }
    }

    private func filled(_ bucket: Bucket, _ now: Duration) -> Bucket {
        let (seconds, attoseconds) = max(now - bucket.at, .zero).components
        let gained = (Double(seconds) + Double(attoseconds) * 1e-18) * rate
        return Bucket(tokens: min(burst, bucket.tokens + gained), at: max(now, bucket.at))
    }
}
#endif
