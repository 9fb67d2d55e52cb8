#if Network
import ByteSources
import Synchronization

/// Guesses the next reads, and asks for their bytes in advance; see `RangesAhead`. ``ExpectedReads`` is for reads that
/// are known and need no guess.
final class ReadAhead: Sendable {
    private let requests: RangeRequests
    private let state: Mutex<RangesAhead<PendingRange>>

    init(_ requests: RangeRequests) {
        self.requests = requests
        state = Mutex(RangesAhead(maxDepth: requests.depth, maxByteCount: requests.maxByteCount))
    }

    /// Returns the running range that has a byte, and asks for the ranges after it; `nil` if reads are not in order.
    ///
    /// - Parameters:
    ///   - offset: The byte, within the object.
    ///   - count: The number of bytes in the read.
    /// - Returns: The range to wait for.
    func block(at offset: UInt64, count: UInt64) -> PendingRange? {
        state.withLock { state in
            state.block(at: offset, count: count, before: requests.version.byteCount, ask: requests.start)
        }
    }

    /// Ends all running requests.
    func stop() {
        state.withLock { $0.drop() }
    }
}

/// Requests for ranges of one version of an object, several at a time.
struct RangeRequests: Sendable {
    /// The version.
    let version: ObjectVersion
    /// The number of concurrent ranges; 0 for none.
    let depth: Int
    /// The max number of bytes in a range.
    let maxByteCount: Int

    private let transport: HTTPTransport
    /// The memory for ranges that are fetched ahead.
    private let pool: RangeMemoryPool

    init(_ transport: HTTPTransport, version: ObjectVersion, options: HTTPSource.Options) {
        self.transport = transport
        self.version = version
        depth = options.readAheadDepth
        maxByteCount = options.largestBlockByteCount
        pool = RangeMemoryPool(byteCount: maxByteCount, maxCount: depth + 2)
    }

    /// The lengths of consecutive ranges.
    var lengths: GrowingRanges { GrowingRanges(maxByteCount: maxByteCount) }

    /// Starts a request for a range.
    func start(_ range: Range<UInt64>) -> PendingRange {
        transport.start(.range(range), opened: version, limits: transport.limits, pool: pool)
    }
}

/// A range that will be read whole and about in order, by any number of threads. It is fetched ahead, each of its bytes
/// once, and no byte beyond it.
///
/// A thread that is ahead of the running ranges asks for its bytes itself, and the ranges behind it go on from there.
/// Bytes that were skipped in this way are fetched when they are read.
final class ExpectedReads: Sendable {
    /// The supplier of the bytes of a read.
    enum Supplier {
        /// This running range has them.
        case underWay(PendingRange)
        /// The reader asks for them, up to this offset; a running range follows.
        case asked(upTo: UInt64)
    }

    private struct State {
        /// The ranges that are running, or that arrived and are not read completely, in order.
        var blocks: [PendingRange] = []
        /// The offset of the first byte that was not asked for yet.
        var front: UInt64
        /// The lengths of the next ranges.
        var lengths: GrowingRanges
        /// The bytes that were read.
        var delivered = RangeSet<UInt64>()
    }

    /// The distance in bytes from which on a range behind the current read is not expected to be read again.
    private static let farthest: UInt64 = 256 << 20

    /// The bytes that will be read, within the object.
    let range: Range<UInt64>

    private let requests: RangeRequests
    private let state: Mutex<State>

    /// Asks for the first ranges.
    ///
    /// - Parameters:
    ///   - range: The bytes that will be read, within the object; not empty.
    ///   - requests: The sender of the requests.
    init(_ range: Range<UInt64>, _ requests: RangeRequests) {
        self.range = range
        self.requests = requests
        state = Mutex(State(front: range.lowerBound, lengths: requests.lengths))
        state.withLock { fill(&$0) }
    }

    /// Returns the supplier of the bytes of a read, at least the first of them.
    ///
    /// - Parameter bytes: The bytes of the read, which starts in ``range``.
    /// - Returns: The supplier.
    func supplier(of bytes: Range<UInt64>) -> Supplier {
        state.withLock { state in
            if let block = state.blocks.first(where: { $0.range.contains(bytes.lowerBound) }) {
                return .underWay(block)
            }
            let next = state.blocks.first { $0.range.lowerBound > bytes.lowerBound }
            let end = min(bytes.upperBound, next?.range.lowerBound ?? .max)
            state.front = max(state.front, end)
            return .asked(upTo: end)
        }
    }

    /// Notes that bytes were read, and asks for more once a range is done.
    func deliver(_ bytes: Range<UInt64>) {
        state.withLock { state in
            state.delivered.insert(contentsOf: bytes)
            let done = state.blocks.filter { isDone($0.range, state.delivered, at: bytes.lowerBound) }
            guard !done.isEmpty else { return }
            done.forEach { $0.cancel() }
            state.blocks.removeAll { block in done.contains { $0 === block } }
            fill(&state)
        }
    }

    /// Gives up a range whose bytes do not arrive. Readers ask for the bytes that they still need.
    func drop(_ block: PendingRange) {
        block.cancel()
        state.withLock { state in
            state.blocks.removeAll { $0 === block }
            fill(&state)
        }
    }

    /// Ends all running requests.
    func stop() {
        state.withLock { state in
            state.blocks.forEach { $0.cancel() }
            state.blocks = []
            state.front = range.upperBound
        }
    }

    /// Returns whether a range is no longer needed. Normally, it was read, and so was the byte after it. The read of
    /// that byte also needed the block before it, which may be its IV.
    private func isDone(_ block: Range<UInt64>, _ delivered: RangeSet<UInt64>, at offset: UInt64) -> Bool {
        if offset > block.upperBound, offset - block.upperBound > Self.farthest { return true }
        let end = min(block.upperBound + 1, range.upperBound)
        return delivered.ranges.contains { $0.lowerBound <= block.lowerBound && $0.upperBound >= end }
    }

    private func fill(_ state: inout State) {
        while state.blocks.count <= requests.depth, state.front < range.upperBound {
            let next = state.lengths.next(from: state.front, before: range.upperBound)
            state.blocks.append(requests.start(next))
            state.front = next.upperBound
        }
    }
}
#endif
