#if Network
import Synchronization

/// Lets each client have so many keys a second, and a number of them at once.
///
/// A bucket of tokens for each client: it holds at most `burst` and fills evenly.
final class RateLimiter: Sendable {
    private struct Bucket {
        /// Less than 0 where more was given at once than the bucket holds.
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
    ///   - burst: The max number of keys at once, at least 1.
    init(rate: Double, burst: Int) {
        self.rate = rate
        self.burst = Double(burst)
    }

    /// Takes tokens out of a client's bucket. More than it ever holds are taken when it is full, and paid back before the
    /// next ones.
    ///
    /// - Parameters:
    ///   - count: How many keys are asked for; 0 to learn whether one could be.
    ///   - client: The client that asks.
    ///   - now: The time, by a monotonic clock.
    /// - Returns: `nil` if there were enough, or how long it takes until there are.
    func wait(for count: Int, by client: String, at now: Duration) -> Duration? {
        let needed = min(max(Double(count), 1), burst)
        return buckets.withLock { buckets in
            if count == 0, buckets[client] == nil { return nil }
            // While all of them are in use, no new client is served.
            guard makeSpace(for: client, in: &buckets, now) else { return .seconds(burst / rate) }
            var bucket = filled(buckets[client] ?? Bucket(tokens: burst, at: now), now)
            defer { buckets[client] = bucket }
            guard bucket.tokens < needed else {
                bucket.tokens -= Double(count)
                return nil
            }
            return .seconds((needed - bucket.tokens) / rate)
        }
    }

    /// Takes tokens for what cannot be undone, whether there are any or not.
    func charge(_ count: Int, to client: String, at now: Duration) {
        buckets.withLock { buckets in
            guard makeSpace(for: client, in: &buckets, now) else { return }
            var bucket = filled(buckets[client] ?? Bucket(tokens: burst, at: now), now)
            bucket.tokens -= Double(count)
            buckets[client] = bucket
        }
    }

    private func makeSpace(for client: String, in buckets: inout [String: Bucket], _ now: Duration) -> Bool {
        guard buckets[client] == nil else { return true }
        if buckets.count >= Self.maxClients { buckets = buckets.filter { filled($0.value, now).tokens < burst } }
        return buckets.count < Self.maxClients
    }

    private func filled(_ bucket: Bucket, _ now: Duration) -> Bucket {
        let gained = max(now - bucket.at, .zero) / .seconds(1) * rate
        return Bucket(tokens: min(burst, bucket.tokens + gained), at: max(now, bucket.at))
    }
}
#endif
