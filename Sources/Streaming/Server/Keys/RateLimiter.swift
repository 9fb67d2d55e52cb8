#if Network
import Synchronization

/// Limits the keys of each client, both per second and at once.
///
/// Each client has a bucket of tokens. It holds at most `burst` tokens and fills evenly.
final class RateLimiter: Sendable {
    private struct Bucket {
        /// The tokens; less than 0 after the client got more at once than the bucket holds.
        var tokens: Double
        var at: Duration
    }

    /// The number of clients at which the limiter forgets those with a full bucket.
    private static let maxClients = 10_000

    private let rate: Double
    private let burst: Double
    private let buckets = Mutex<[String: Bucket]>([:])

    /// - Parameters:
    ///   - rate: Keys a second, more than 0.
    ///   - burst: The max number of keys at once, at least 1.
    init(rate: Double, burst: Int) {
        self.rate = rate
        self.burst = Double(burst)
    }

    /// Takes tokens out of a client's bucket. A client gets more than the bucket holds once it is full, and pays the
    /// rest back before it gets further ones.
    ///
    /// - Parameters:
    ///   - count: The number of requested keys; 0 to learn whether one is possible.
    ///   - client: The client that asks.
    ///   - now: The time, by a monotonic clock.
    /// - Returns: `nil` if there were enough tokens; otherwise the time until there are.
    func wait(for count: Int, by client: String, at now: Duration) -> Duration? {
        let needed = min(max(Double(count), 1), burst)
        return buckets.withLock { buckets in
            if count == 0, buckets[client] == nil { return nil }
            // While all buckets are in use, no new client is served.
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

    /// Takes tokens for something that cannot be undone, whether there are enough or not.
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
