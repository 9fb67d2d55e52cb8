public import RandomAccess
import Synchronization

/// A source as far away as a remote store: every read waits for an answer, and bytes come one after the other.
///
/// A read that is sent at t has its first byte at t + latency at the earliest, and its bytes take the link in turn with
/// those of other threads' reads. What the wrapped source takes by itself counts towards the wait.
public final class RemoteSource: ByteSource {
    private let base: any ByteSource
    private let link: RemoteLink
    private let clock: any RemoteClock
    /// When the link has delivered all that was asked for so far, in the clock's nanoseconds.
    private let freeAt = Mutex<UInt64>(0)

    /// Puts a source behind a link.
    ///
    /// - Parameters:
    ///   - base: The source.
    ///   - link: How far away it is.
    ///   - clock: What time is taken from; the system's, unless a test has its own.
    public init(_ base: any ByteSource, link: RemoteLink, clock: any RemoteClock = SystemClock()) {
        self.base = base
        self.link = link
        self.clock = clock
    }

    /// The wrapped source's length in bytes.
    public var byteCount: UInt64 { base.byteCount }

    /// Reads bytes, and waits until they would be there; see `ByteSource.read(at:into:)`.
    public func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        let sent = clock.nanoseconds
        let count = try base.read(at: offset, into: buffers)
        let transfer = link.transferNanoseconds(byteCount: UInt64(count))
        let arrival = freeAt.withLock { freeAt in
            freeAt = max(sent + link.latencyNanoseconds, freeAt) + transfer
            return freeAt
        }
        clock.sleep(until: arrival)
        return count
    }

    /// Notices a change; see `ByteSource.checkUnchanged()`.
    public func checkUnchanged() throws(DecryptionError) {
        try base.checkUnchanged()
    }
}
