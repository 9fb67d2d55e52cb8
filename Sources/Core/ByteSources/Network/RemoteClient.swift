package import RandomAccess
import Synchronization

/// A client of a remote store, by its name in plans and commands.
package enum RemoteClient: String, CaseIterable, Hashable, Sendable {
    /// One request after the other over one connection, when the reader needs the bytes; nothing is cached.
    case serial
    /// This project's reader over HTTP. It fetches what opening an object needs in one round trip, and requests ranges
    /// ahead over several connections while reads are in order.
    case chunkwise

    /// The default client: the one that reads URLs.
    package static let usual = RemoteClient.chunkwise

    /// Returns the max number of bytes that a client holds in memory in addition to its readers.
    package func heldByteCount(objectByteCount: UInt64) -> UInt64 {
        self == .serial ? 0 : min(RemoteObject.aheadByteCount, objectByteCount)
    }

    /// Puts a source behind a simulated store and opens it there, which may take a round trip.
    ///
    /// - Parameters:
    ///   - base: The source.
    ///   - strategy: The strategy of the ciphertext.
    ///   - link: The distance of the store; the bandwidth is that of one connection.
    ///   - clock: The clock that simulates the wait.
    ///   - tally: Counts the requests; `nil` to count nothing.
    /// - Returns: The source as this client reads it.
    package func open(
        _ base: any ByteSource, strategy: Strategy, link: RemoteLink, clock: any RemoteClock = SystemClock(),
        tally: RequestTally? = nil
    ) -> any ByteSource {
        switch self {
        case .serial: RemoteSource(base, link: link, clock: clock, tally: tally)
        case .chunkwise:
            RemoteRanges(
                base, lastByteCount: RangeReading.lastByteCount(strategy), link: link, clock: clock, tally: tally)
        }
    }
}

/// The requests to a simulated store, and the bytes that it sent.
package final class RequestTally: Sendable {
    private let counts = Mutex((requests: 0 as UInt64, bytes: 0 as Int64))

    /// A tally of nothing.
    package init() {}

    /// Counts a request for a number of bytes.
    func add(_ byteCount: UInt64) {
        counts.withLock { $0 = ($0.requests + 1, $0.bytes + Int64(byteCount)) }
    }

    /// Subtracts requested bytes that never arrived.
    func takeBack(_ byteCount: UInt64) {
        counts.withLock { $0.bytes -= Int64(byteCount) }
    }

    /// Returns the counts since the last call. The bytes are negative if more were subtracted than requested.
    package func take() -> (requests: UInt64, bytes: Int64) {
        counts.withLock { counts in
            defer { counts = (0, 0) }
            return counts
        }
    }
}

/// A source as far away as a remote store, read as this project's reader over HTTP does.
///
/// It sends the requests of `HTTPSource`: for both ends when it is opened, for a range at a read out of order, and for
/// ranges ahead while reads are in order. Each range has an open connection of its own: its first byte arrives after
/// the latency, the others at the bandwidth.
final class RemoteRanges: WrappingSource {
    let base: any ByteSource
    private let link: RemoteLink
    private let clock: any RemoteClock
    private let tally: RequestTally?
    /// The bytes that arrived when the object was opened: those before `first` and those from `last` on.
    private let known: (first: UInt64, last: UInt64)
    private let ahead: Mutex<RangesAhead<SimulatedRange>>

    /// Opens the object: waits until both ends have arrived.
    init(
        _ base: any ByteSource, lastByteCount: Int, link: RemoteLink, clock: any RemoteClock, tally: RequestTally?
    ) {
        (self.base, self.link, self.clock, self.tally) = (base, link, clock, tally)
        let byteCount = base.byteCount
        let first = min(byteCount, UInt64(RangeReading.firstByteCount))
        // If the first bytes are the whole object, there are no last ones to wait for.
        let last = first == byteCount ? 0 : min(byteCount, UInt64(lastByteCount))
        known = (first, byteCount - last)
        ahead = Mutex(RangesAhead())
        let sent = clock.nanoseconds
        tally?.add(first)
        if lastByteCount > 0 { tally?.add(last) }
        clock.sleep(
            until: sent + link.latencyNanoseconds + link.transferNanoseconds(byteCount: max(first, last)))
    }

    var requestByteCount: Int { DistantSource.requestByteCount }

    func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        guard buffers.byteCount > 0, offset < byteCount else { return 0 }
        if offset < known.first {
            return try base.read(at: offset, into: buffers.prefix(Int(known.first - offset)))
        }
        if offset >= known.last { return try base.read(at: offset, into: buffers) }
        let sent = clock.nanoseconds
        let wanted = min(UInt64(buffers.byteCount), known.last - offset)
        let end = offset + min(wanted, UInt64(requestByteCount))
        let block = ahead.withLock { ahead in
            ahead.block(at: offset, count: wanted, before: byteCount) { ask($0, at: sent) }
        }
        guard let block else {
            let count = try base.read(at: offset, into: buffers.prefix(Int(end - offset)))
            clock.sleep(until: ask(offset..<end, at: sent).arrival(of: end))
            return count
        }
        let stop = min(end, block.range.upperBound)
        clock.sleep(until: block.arrival(of: min(stop, offset + UInt64(RangeReading.wakingByteCount))))
        let count = max(1, min(stop, block.arrived(at: clock.nanoseconds)) - offset)
        return try base.read(at: offset, into: buffers.prefix(Int(count)))
    }

    private func ask(_ range: Range<UInt64>, at sent: UInt64) -> SimulatedRange {
        tally?.add(UInt64(range.count))
        return SimulatedRange(range: range, sent: sent, link: link, clock: clock, tally: tally)
    }
}

/// A range that arrives over a connection of its own.
private struct SimulatedRange: AskedRange, Sendable {
    let range: Range<UInt64>
    /// The time of the request, in the clock's nanoseconds.
    let sent: UInt64
    let link: RemoteLink
    let clock: any RemoteClock
    let tally: RequestTally?

    /// Drops the bytes that have not arrived.
    func cancel() {
        tally?.takeBack(range.upperBound - arrived(at: clock.nanoseconds))
    }

    /// Returns the time at which the bytes before an offset have arrived.
    func arrival(of end: UInt64) -> UInt64 {
        sent + link.latencyNanoseconds + link.transferNanoseconds(byteCount: end - range.lowerBound)
    }

    /// Returns the offset before which the bytes have arrived at a time.
    func arrived(at time: UInt64) -> UInt64 {
        let start = sent + link.latencyNanoseconds
        guard time >= start else { return range.lowerBound }
        guard let bytesPerSecond = link.bytesPerSecond else { return range.upperBound }
        let count = Double(time - start) * Double(bytesPerSecond) / 1e9
        return count < Double(range.count) ? range.lowerBound + UInt64(count) : range.upperBound
    }
}
