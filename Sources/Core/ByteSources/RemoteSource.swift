import Glibc
public import RandomAccess
import Synchronization

/// A source as far away as a remote store: every read waits for an answer, and bytes arrive one after the other.
///
/// The first byte of a read that is sent at t arrives at t + latency at the earliest. The reads of all threads share
/// the link in turn. The time that the wrapped source takes counts towards the wait.
public final class RemoteSource: WrappingSource {
    /// The wrapped source.
    public let base: any ByteSource
    private let link: RemoteLink
    private let clock: any RemoteClock
    private let tally: RequestTally?
    /// The time at which the link has delivered all requested bytes, in the clock's nanoseconds.
    private let freeAt = Mutex<UInt64>(0)

    /// Puts a source behind a link.
    ///
    /// - Parameters:
    ///   - base: The source.
    ///   - link: The latency and bandwidth.
    ///   - clock: The clock; the system's, unless a test has its own.
    public convenience init(_ base: any ByteSource, link: RemoteLink, clock: any RemoteClock = SystemClock()) {
        self.init(base, link: link, clock: clock, tally: nil)
    }

    init(_ base: any ByteSource, link: RemoteLink, clock: any RemoteClock, tally: RequestTally?) {
        (self.base, self.link, self.clock, self.tally) = (base, link, clock, tally)
    }

    /// A request size that makes up for the latency.
    public var requestByteCount: Int { DistantSource.requestByteCount }

    /// Reads bytes, and waits until they would have arrived; see `ByteSource.read(at:into:)`.
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

/// The latency and bandwidth of a remote store.
public struct RemoteLink: Hashable, Sendable {
    /// The time from a request to its answer's first byte, in nanoseconds; at most an hour.
    public let latencyNanoseconds: UInt64
    /// The bytes per second from the first byte on; `nil` for infinite bandwidth.
    public let bytesPerSecond: UInt64?

    /// A link without latency and with infinite bandwidth.
    package init() { (latencyNanoseconds, bytesPerSecond) = (0, nil) }

    /// A link with a latency and a bandwidth.
    ///
    /// - Returns: `nil` for a latency of more than an hour, or a bandwidth of 0.
    public init?(latencyNanoseconds: UInt64, bytesPerSecond: UInt64?) {
        guard latencyNanoseconds <= 3_600_000_000_000, bytesPerSecond != 0 else { return nil }
        self.latencyNanoseconds = latencyNanoseconds
        self.bytesPerSecond = bytesPerSecond
    }

    /// Returns the transfer time of bytes in nanoseconds, rounded up; at most a year.
    public func transferNanoseconds(byteCount: UInt64) -> UInt64 {
        guard let bytesPerSecond else { return 0 }
        let nanoseconds = (Double(byteCount) * 1e9 / Double(bytesPerSecond)).rounded(.up)
        return UInt64(min(nanoseconds, 3.2e16))
    }
}

/// The clock of a simulated remote store.
public protocol RemoteClock: Sendable {
    /// The time, in nanoseconds from an arbitrary start.
    var nanoseconds: UInt64 { get }

    /// Waits until a time; returns at once if it is past.
    func sleep(until nanoseconds: UInt64)
}

/// The monotonic clock of the system. The corresponding C functions are `clock_gettime` and `clock_nanosleep`.
public struct SystemClock: RemoteClock {
    /// The clock of this machine.
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
