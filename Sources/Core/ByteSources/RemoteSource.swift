import Glibc
public import RandomAccess
import Synchronization

/// A source as far away as a remote store: every read waits for an answer, and bytes come one after the other.
///
/// A read that is sent at t has its first byte at t + latency at the earliest, and its bytes take the link in turn with
/// those of other threads' reads. What the wrapped source takes by itself counts towards the wait.
public final class RemoteSource: WrappingSource {
    /// The wrapped source.
    public let base: any ByteSource
    private let link: RemoteLink
    private let clock: any RemoteClock
    private let tally: RequestTally?
    /// When the link has delivered all that was asked for so far, in the clock's nanoseconds.
    private let freeAt = Mutex<UInt64>(0)

    /// Puts a source behind a link.
    ///
    /// - Parameters:
    ///   - base: The source.
    ///   - link: How far away it is.
    ///   - clock: What time is taken from; the system's, unless a test has its own.
    public convenience init(_ base: any ByteSource, link: RemoteLink, clock: any RemoteClock = SystemClock()) {
        self.init(base, link: link, clock: clock, tally: nil)
    }

    init(_ base: any ByteSource, link: RemoteLink, clock: any RemoteClock, tally: RequestTally?) {
        (self.base, self.link, self.clock, self.tally) = (base, link, clock, tally)
    }

    /// As many bytes as outweigh the wait.
    public var requestByteCount: Int { DistantSource.requestByteCount }

    /// Reads bytes, and waits until they would be there; see `ByteSource.read(at:into:)`.
    public func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        let sent = clock.nanoseconds
        let count = try base.read(at: offset, into: buffers)
        tally?.add(UInt64(count))
        let transfer = link.transferNanoseconds(byteCount: UInt64(count))
        let arrival = freeAt.withLock { freeAt in
            freeAt = max(sent + link.latencyNanoseconds, freeAt) + transfer
            return freeAt
        }
        clock.sleep(until: arrival)
        return count
    }
}

/// How far away a remote store is.
public struct RemoteLink: Hashable, Sendable {
    /// From a request to its answer's first byte, in nanoseconds; at most an hour.
    public let latencyNanoseconds: UInt64
    /// Bytes per second from the first byte on; `nil` for a link that takes no time for them.
    public let bytesPerSecond: UInt64?

    /// Creates a link over which everything is there at once.
    package init() { (latencyNanoseconds, bytesPerSecond) = (0, nil) }

    /// Creates a link.
    ///
    /// - Returns: `nil` for a latency of more than an hour, or no bytes per second.
    public init?(latencyNanoseconds: UInt64, bytesPerSecond: UInt64?) {
        guard latencyNanoseconds <= 3_600_000_000_000, bytesPerSecond != 0 else { return nil }
        self.latencyNanoseconds = latencyNanoseconds
        self.bytesPerSecond = bytesPerSecond
    }

    /// How long bytes take, in nanoseconds, rounded up; a year for what takes longer.
    public func transferNanoseconds(byteCount: UInt64) -> UInt64 {
        guard let bytesPerSecond else { return 0 }
        let nanoseconds = (Double(byteCount) * 1e9 / Double(bytesPerSecond)).rounded(.up)
        return UInt64(min(nanoseconds, 3.2e16))
    }
}

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
