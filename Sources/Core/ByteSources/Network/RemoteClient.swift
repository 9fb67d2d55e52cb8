package import RandomAccess
import Synchronization

/// A client that asks a remote store for bytes, by the name that plans and commands call it.
package enum RemoteClient: String, CaseIterable, Hashable, Sendable {
    /// One request after the other over one connection, when a reader wants the bytes; nothing is kept.
    case serial
    /// This project's reader over HTTP: what opening an object looks at comes in one round trip, and what is read in order is
    /// asked for ahead, over several connections.
    case chunkwise

    /// The client that is meant where none is named: the one that reads URLs.
    package static let usual = RemoteClient.chunkwise

    /// What a client holds in memory beside what readers hold, at most, in bytes.
    package func heldByteCount(objectByteCount: UInt64) -> UInt64 {
        self == .serial ? 0 : min(RemoteObject.aheadByteCount, objectByteCount)
    }

    /// Puts a source behind a store that this client asks, and opens it there, which may take a round trip.
    ///
    /// - Parameters:
    ///   - base: The source.
    ///   - strategy: How the ciphertext is laid out.
    ///   - link: How far away the store is; the bandwidth is that of a connection.
    ///   - clock: What time is taken from.
    ///   - tally: Takes the requests; `nil` if nobody asks.
    /// - Returns: The source as this client has it.
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

/// The requests that a simulated store was asked, and the bytes that it sent.
package final class RequestTally: Sendable {
    private let counts = Mutex((requests: 0 as UInt64, bytes: 0 as Int64))

    /// Starts at none.
    package init() {}

    /// Takes a request for so many bytes.
    func add(_ byteCount: UInt64) {
        counts.withLock { $0 = ($0.requests + 1, $0.bytes + Int64(byteCount)) }
    }

    /// Takes back bytes that a request asked for and that never came.
    func takeBack(_ byteCount: UInt64) {
        counts.withLock { $0.bytes -= Int64(byteCount) }
    }

    /// What came since the last call. Bytes are fewer than none where more were taken back than were asked for.
    package func take() -> (requests: UInt64, bytes: Int64) {
        counts.withLock { counts in
            defer { counts = (0, 0) }
            return counts
        }
    }
}

/// A source as far away as a remote store that this project's reader over HTTP asks.
///
/// It asks as `HTTPSource` does: for both ends when it is opened, for a range when one is read out of order, and for ranges
/// ahead when reads are in order. Each range has a connection of its own, which is there already: its first byte comes
/// after the latency, the others at the bandwidth.
final class RemoteRanges: WrappingSource {
    let base: any ByteSource
    private let link: RemoteLink
    private let clock: any RemoteClock
    private let tally: RequestTally?
    /// What came when the object was opened: the bytes before `first` and those from `last` on.
    private let known: (first: UInt64, last: UInt64)
    private let ahead: Mutex<RangesAhead<SimulatedRange>>

    /// Opens the object: waits until its ends are there.
    init(
        _ base: any ByteSource, lastByteCount: Int, link: RemoteLink, clock: any RemoteClock, tally: RequestTally?
    ) {
        (self.base, self.link, self.clock, self.tally) = (base, link, clock, tally)
        let byteCount = base.byteCount
        let first = min(byteCount, UInt64(RangeReading.firstByteCount))
        // Where the first bytes are all, the last ones are not waited for.
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

/// A range that comes over a connection of its own.
private struct SimulatedRange: AskedRange, Sendable {
    let range: Range<UInt64>
    /// When it was asked for, in the clock's nanoseconds.
    let sent: UInt64
    let link: RemoteLink
    let clock: any RemoteClock
    let tally: RequestTally?

    /// Gives up what is still to come.
    func cancel() {
        tally?.takeBack(range.upperBound - arrived(at: clock.nanoseconds))
    }

    /// When the bytes before an offset are there.
    func arrival(of end: UInt64) -> UInt64 {
        sent + link.latencyNanoseconds + link.transferNanoseconds(byteCount: end - range.lowerBound)
    }

    /// Up to where the bytes are there at a time.
    func arrived(at time: UInt64) -> UInt64 {
        let start = sent + link.latencyNanoseconds
        guard time >= start else { return range.lowerBound }
        guard let bytesPerSecond = link.bytesPerSecond else { return range.upperBound }
        let count = Double(time - start) * Double(bytesPerSecond) / 1e9
        return count < Double(range.count) ? range.lowerBound + UInt64(count) : range.upperBound
    }
}
