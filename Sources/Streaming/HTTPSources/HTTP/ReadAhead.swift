#if Network
import ByteSources
import Synchronization

/// Guesses what is read next, and asks for it before it is read; see `RangesAhead`. What is known and need not be guessed
/// is for ``ExpectedReads``.
final class ReadAhead: Sendable {
    private let requests: RangeRequests
    private let state: Mutex<RangesAhead<PendingRange>>

    /// Prepares.
    init(_ requests: RangeRequests) {
        self.requests = requests
        state = Mutex(RangesAhead(maxDepth: requests.depth, maxByteCount: requests.maxByteCount))
    }

    /// The range under way that has a byte, and asks for those after it; `nil` if reads are not in order.
    ///
    /// - Parameters:
    ///   - offset: The byte, within the object.
    ///   - count: How many bytes are read.
    /// - Returns: What to wait on.
    func block(at offset: UInt64, count: UInt64) -> PendingRange? {
        state.withLock { state in
            state.block(at: offset, count: count, before: requests.version.byteCount, ask: requests.start)
        }
    }

    /// Ends what is under way.
    func stop() {
        state.withLock { $0.drop() }
    }
}

/// Requests for ranges of one version of an object, several at a time.
struct RangeRequests: Sendable {
    /// The version.
    let version: ObjectVersion
    /// How many ranges are under way at once; 0 for none.
    let depth: Int
    /// The max number of bytes of one.
    let maxByteCount: Int

    private let transport: HTTPTransport
    /// Memory for what is asked for ahead.
    private let pool: RangeMemoryPool

    /// Prepares; nothing is asked yet.
    init(_ transport: HTTPTransport, version: ObjectVersion, options: HTTPSource.Options) {
        self.transport = transport
        self.version = version
        depth = options.readAheadDepth
        maxByteCount = options.largestBlockByteCount
        pool = RangeMemoryPool(byteCount: maxByteCount, maxCount: depth + 2)
    }

    /// How long ranges are.
    var lengths: GrowingRanges { GrowingRanges(maxByteCount: maxByteCount) }

    /// Asks for a range.
    func start(_ range: Range<UInt64>) -> PendingRange {
        transport.start(.range(range), opened: version, limits: transport.limits, pool: pool)
    }
}

/// A range that is going to be read whole and about in order, by any number of threads: asks for it ahead, for each of its
/// bytes once, and for none beyond it.
///
/// A thread that is further ahead than the ranges under way asks for its bytes itself, and those behind it go on from
/// there; bytes that were passed over so are asked for when they are read.
final class ExpectedReads: Sendable {
    /// How the bytes of a read come.
    enum Way {
        /// With this range, which is under way.
        case underWay(PendingRange)
        /// By asking for them, up to here: what follows is under way.
        case asked(upTo: UInt64)
    }

    private struct State {
        /// Ranges under way, or here and not all read, in order.
        var blocks: [PendingRange] = []
        /// Where those start that were not asked for yet.
        var front: UInt64
        /// How long the next range is.
        var lengths: GrowingRanges
        /// What was read.
        var delivered = RangeSet<UInt64>()
    }

    /// When reading is so far past a range, it is not read again.
    private static let farthest: UInt64 = 256 << 20

    /// What is going to be read, within the object.
    let range: Range<UInt64>

    private let requests: RangeRequests
    private let state: Mutex<State>

    /// Asks for the first ranges.
    ///
    /// - Parameters:
    ///   - range: What is going to be read, within the object; not empty.
    ///   - requests: What asks.
    init(_ range: Range<UInt64>, _ requests: RangeRequests) {
        self.range = range
        self.requests = requests
        state = Mutex(State(front: range.lowerBound, lengths: requests.lengths))
        state.withLock { fill(&$0) }
    }

    /// How the bytes of a read come, the first of them at least.
    ///
    /// - Parameter bytes: What is read, which starts in ``range``.
    /// - Returns: The way.
    func way(to bytes: Range<UInt64>) -> Way {
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

    /// Notes that bytes were read, and asks for more where a range is done with.
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

    /// Gives up a range whose bytes do not come; those that are still wanted are asked for again, one by one.
    func drop(_ block: PendingRange) {
        block.cancel()
        state.withLock { state in
            state.blocks.removeAll { $0 === block }
            fill(&state)
        }
    }

    /// Ends what is under way.
    func stop() {
        state.withLock { state in
            state.blocks.forEach { $0.cancel() }
            state.blocks = []
            state.front = range.upperBound
        }
    }

    /// Whether a range is no longer needed: it was read, and so was the byte after it, by then with the block before it,
    /// which may be its IV.
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
